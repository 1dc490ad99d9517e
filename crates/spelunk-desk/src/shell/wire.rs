//! The messages between a script in a worker and the host's desk, as JSON. File contents follow as separate messages.

use serde::{Deserialize, Serialize};

use crate::{DeskLimits, ShellLimits};

/// The script and its limits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) script: String,
    pub(super) stdin: Option<String>,
    pub(super) limits: Limits,
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
    Ended(End),
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
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit_code: i32,
    pub(super) stopped: Option<String>,
}

/// The limits of a desk and its scripts, as far as they affect a script.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Limits {
    pub(super) desk_files_max: u64,
    pub(super) desk_bytes_max: u64,
    pub(super) desk_file_bytes_max: u64,
    script_bytes_max: u64,
    commands_max: u64,
    loop_rounds_max: u64,
    recursion_max: u64,
    nesting_max: u64,
    syntax_steps_max: u64,
    work_max: u64,
    input_bytes_max: u64,
    held_bytes_max: u64,
    output_bytes_max: u64,
    variable_bytes_max: u64,
    timeout_ms: u64,
    date_s: i64,
}

impl Limits {
    pub(super) fn of(desk: &DeskLimits) -> Self {
        let ShellLimits {
            script_bytes_max,
            commands_max,
            loop_rounds_max,
            recursion_max,
            nesting_max,
            syntax_steps_max,
            work_max,
            input_bytes_max,
            held_bytes_max,
            output_bytes_max,
            variable_bytes_max,
            timeout_ms,
            date_s,
        } = desk.shell;
        Self {
            desk_files_max: desk.files_max,
            desk_bytes_max: desk.bytes_max,
            desk_file_bytes_max: desk.document_bytes_max.max(desk.file_bytes_max),
            script_bytes_max,
            commands_max,
            loop_rounds_max,
            recursion_max,
            nesting_max,
            syntax_steps_max,
            work_max,
            input_bytes_max,
            held_bytes_max,
            output_bytes_max,
            variable_bytes_max,
            timeout_ms,
            date_s,
        }
    }

    pub(super) fn of_script(self) -> ShellLimits {
        ShellLimits {
            script_bytes_max: self.script_bytes_max,
            commands_max: self.commands_max,
            loop_rounds_max: self.loop_rounds_max,
            recursion_max: self.recursion_max,
            nesting_max: self.nesting_max,
            syntax_steps_max: self.syntax_steps_max,
            work_max: self.work_max,
            input_bytes_max: self.input_bytes_max,
            held_bytes_max: self.held_bytes_max,
            output_bytes_max: self.output_bytes_max,
            variable_bytes_max: self.variable_bytes_max,
            timeout_ms: self.timeout_ms,
            date_s: self.date_s,
        }
    }
}
