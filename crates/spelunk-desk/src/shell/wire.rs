//! The messages between a script in a worker and the host's desk, as JSON. File contents follow as separate messages.

use serde::{Deserialize, Serialize};

use crate::{DeskLimits, ShellLimits};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ScriptStart {
    pub(super) script: String,
    pub(super) stdin: Option<String>,
    pub(super) limits: ScriptLimits,
}

/// A request of the script, named after a method of the interpreter's file system.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileRequest {
    Read(String),
    /// Followed by the content.
    Write(String),
    /// Followed by the content.
    Append(String),
    Mkdir(String, bool),
    Remove(String, bool),
    Stat(String),
    List(String),
    Rename(String, String),
    Copy(String, String),
    Usage,
    /// The script has ended; nothing follows.
    Ended(ScriptEnd),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileReply {
    Done,
    /// Followed by the content.
    Content,
    Found(FileMeta),
    Entries(Vec<(String, FileMeta)>),
    Usage(u64, u64),
    /// An index into the table of error kinds, and the message.
    Refused(usize, String),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct FileMeta {
    pub(super) is_directory: bool,
    pub(super) bytes: u64,
    pub(super) mode: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ScriptEnd {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit_code: i32,
    /// What stopped it, if it did not end normally.
    pub(super) stopped: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ScriptLimits {
    pub(super) shell: ShellLimits,
    pub(super) files_max: u64,
    pub(super) bytes_max: u64,
    pub(super) file_bytes_max: u64,
}

impl ScriptLimits {
    pub(super) fn of(desk: &DeskLimits) -> Self {
        Self {
            shell: desk.shell.clone(),
            files_max: desk.files_max,
            bytes_max: desk.bytes_max,
            file_bytes_max: desk.document_bytes_max.max(desk.file_bytes_max),
        }
    }
}
