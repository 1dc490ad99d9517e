//! The messages between a script in a worker and the host's desk, as JSON. File contents follow as separate messages.

use serde::{Deserialize, Serialize};

use crate::{DeskLimits, ShellLimits};

/// The script and its limits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) script: String,
    pub(super) stdin: Option<String>,
    pub(super) limits: ShellLimits,
    pub(super) file_limits: FileLimits,
}

/// A request of the script, named after a method of the interpreter's file system.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    Read(String),
    /// Followed by the content.
    Write(String),
    /// Followed by the content.
    Append(String),
    Mkdir(String, bool),
    Remove(String, bool),
    Stat(String),
    List(String),
    Exists(String),
    Rename(String, String),
    Copy(String, String),
    Usage,
    /// The script has ended; nothing follows.
    Ended(Ended),
}

/// The desk's reply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Done,
    /// Followed by the content.
    Content,
    Found(Meta),
    Entries(Vec<(String, Meta)>),
    Exists(bool),
    Usage(u64, u64),
    /// An index into the table of error kinds, and the message.
    Refused(usize, String),
}

/// The metadata of a file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Meta {
    pub(super) is_directory: bool,
    pub(super) bytes: u64,
    pub(super) mode: u32,
}

/// How a script ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit_code: i32,
    /// What stopped it, if it did not end normally.
    pub(super) stopped: Option<String>,
}

/// The limits of a desk, as far as they affect a script.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct FileLimits {
    pub(super) files_max: u64,
    pub(super) bytes_max: u64,
    pub(super) file_bytes_max: u64,
}

impl FileLimits {
    pub(super) fn of(desk: &DeskLimits) -> Self {
        let file_bytes_max = desk.document_bytes_max.max(desk.file_bytes_max);
        Self { files_max: desk.files_max, bytes_max: desk.bytes_max, file_bytes_max }
    }
}
