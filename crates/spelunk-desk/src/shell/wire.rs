//! The messages between a script in a worker and the host's desk, as JSON. File contents follow as separate messages.

use serde::{Deserialize, Serialize};

use crate::DeskLimits;

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

/// The limits of one script. Counters apply before the clock: a script that is too long stops at the same place each time,
/// and the timeout only catches what no counter sees. Those on script, commands and variables may only be lowered: they bound nesting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ShellLimits {
    /// The longest script, including scripts that a script writes and runs.
    pub script_bytes_max: u64,
    pub commands_max: u64,
    /// Iterations of all its loops together, including those of awk.
    pub loop_rounds_max: u64,
    /// How deep functions, sourced files and traps may nest; the interpreter caps it at 16.
    pub recursion_max: u64,
    /// How deep its syntax may nest.
    pub nesting_max: u64,
    /// Parser steps, about one per word. This also bounds nesting that no counter sees.
    pub syntax_steps_max: u64,
    /// Units of work, each about a kilobyte or a step.
    pub work_max: u64,
    /// Bytes that its commands may read in total.
    pub input_bytes_max: u64,
    /// Bytes held between its commands.
    pub held_bytes_max: u64,
    pub output_bytes_max: u64,
    pub variable_bytes_max: u64,
    pub timeout_ms: u64,
    /// The date it sees, in seconds since 1970.
    pub date_s: i64,
}

impl Default for ShellLimits {
    fn default() -> Self {
        Self {
            script_bytes_max: 64 * 1024,
            commands_max: 10_000,
            loop_rounds_max: 2_000_000,
            recursion_max: 16,
            nesting_max: 60,
            syntax_steps_max: 10_000,
            work_max: 200_000_000,
            input_bytes_max: 512 * 1024 * 1024,
            held_bytes_max: 192 * 1024 * 1024,
            output_bytes_max: 1024 * 1024,
            variable_bytes_max: 256 * 1024,
            timeout_ms: 20_000,
            date_s: 1_767_225_600,
        }
    }
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
