//! The two formats: one task per line, one trial per line. Lines are parsed defensively: they may come from another
//! engine, another version or an editor.

mod outcome;
mod task;
mod trial;

pub use outcome::{Failure, Outcome};
pub use task::{read_tasks, write_task};
pub use trial::{Note, RunFacts, Status, Trial, Trials, read_trials, write_note, write_trial};

fn line_of(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Why a file of tasks or results cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the {file} is not valid: {problem}")]
#[expect(missing_docs, reason = "the message says it")]
pub struct LineError {
    pub file: &'static str,
    /// From 1.
    pub line: usize,
    pub problem: String,
}

/// The longest file of tasks or trials that is read.
pub const FILE_BYTES_MAX: u64 = 512 << 20;
