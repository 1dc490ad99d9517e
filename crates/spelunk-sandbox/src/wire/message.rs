//! The messages. They borrow when sent, so that a large variable is not copied into a message first.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{HostReply, Setup, Step, Value};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request<'a> {
    /// Confine yourself and become another interpreter. Answered only if that is impossible.
    Confine(Confine),
    /// Start a session, replacing the previous one.
    Open {
        parent: u32,
        setup: Cow<'a, Setup>,
    },
    /// Start a cell with this limit on CPU time.
    Feed {
        code: Cow<'a, str>,
        cell_ms_max: u64,
    },
    Resume {
        replies: Vec<HostReply>,
    },
    Variable {
        name: Cow<'a, str>,
    },
    /// Discard the session, and wait for the next.
    Close,
    /// Perform one task and exit. Messages after this are plain bytes.
    Work(Work),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Response<'a> {
    Opened,
    Step(Cow<'a, Step>),
    Variable(Cow<'a, Value>),
    NoVariable,
    Closed,
    Broken { what: String },
    Unconfined { why: String },
}

/// A task that is not a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The parent process; the worker ends with it.
    pub(crate) parent: u32,
    pub(crate) task: String,
    pub(crate) memory_bytes_max: u64,
    pub(crate) cpu_ms_max: u64,
}

/// What a worker becomes, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confine {
    /// The parent process; the worker ends with it.
    pub(crate) parent: u32,
    /// The interpreter's executable, not a script.
    pub(crate) program: PathBuf,
    /// Its arguments, starting with its own name.
    pub(crate) arguments: Vec<String>,
    /// Its whole environment, as `NAME=value`.
    pub(crate) environment: Vec<String>,
    /// Directories and files it may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Its address space.
    pub(crate) memory_bytes_max: u64,
}

/// What a `CPython` reports about itself.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Survey {
    /// Its executable, not a script.
    pub(crate) program: PathBuf,
    /// Where it looks for modules.
    pub(crate) path: Vec<String>,
    /// Directories and files it needs to read.
    pub(crate) readable: Vec<PathBuf>,
}
