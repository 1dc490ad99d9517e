//! The messages. They borrow when sent, so that a large variable is not copied into a message first.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{CellEnd, HostCall, HostReply, Output, Raised, Setup, Step, Value};

/// From the host to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request<'a> {
    /// Confine yourself and become another interpreter. Answered only if that is impossible.
    Confine(Confine),
    /// Start a session, replacing the previous one.
    Open { parent: u32, setup: Cow<'a, Setup> },
    /// Start a cell with this limit on CPU time.
    Feed { code: Cow<'a, str>, cell_ms_max: u64 },
    /// Continue it.
    Resume { replies: Vec<HostReply> },
    /// Return the value of a variable.
    Variable { name: Cow<'a, str> },
    /// Discard the session, and wait for the next.
    Close,
    /// Perform one task and exit. Messages after this are plain bytes.
    Work(Work),
}

/// From a worker to the host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Response<'a> {
    /// The session is open.
    Opened,
    /// What the cell did next.
    Step(WireStep<'a>),
    /// The value of a variable.
    Variable(Cow<'a, Value>),
    /// There is no variable of that name.
    NoVariable,
    /// The session is discarded.
    Closed,
    /// The interpreter failed.
    Broken { what: String },
    /// This machine cannot confine it.
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
    /// Address space.
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

/// A [`Step`], whose ends are variants of their own here.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireStep<'a> {
    Calls(Cow<'a, [HostCall]>),
    Done { output: Cow<'a, Output> },
    Raised { output: Cow<'a, Output>, raised: Cow<'a, Raised> },
    Finished { output: Cow<'a, Output> },
}

impl<'a> From<&'a Step> for WireStep<'a> {
    fn from(step: &'a Step) -> Self {
        match step {
            Step::Calls(calls) => Self::Calls(Cow::Borrowed(calls)),
            Step::Finished(CellEnd::Done { output }) => Self::Done { output: Cow::Borrowed(output) },
            Step::Finished(CellEnd::Raised { output, raised }) => {
                Self::Raised { output: Cow::Borrowed(output), raised: Cow::Borrowed(raised) }
            }
            Step::Finished(CellEnd::Finished { output }) => Self::Finished { output: Cow::Borrowed(output) },
        }
    }
}

impl From<WireStep<'_>> for Step {
    fn from(wire: WireStep<'_>) -> Self {
        let end = match wire {
            WireStep::Calls(calls) => return Self::Calls(calls.into_owned()),
            WireStep::Done { output } => CellEnd::Done { output: output.into_owned() },
            WireStep::Raised { output, raised } => {
                CellEnd::Raised { output: output.into_owned(), raised: raised.into_owned() }
            }
            WireStep::Finished { output } => CellEnd::Finished { output: output.into_owned() },
        };
        Self::Finished(end)
    }
}
