//! The two formats: one task per line, one trial per line. Lines are parsed defensively: they may come from another
//! engine, another version or an editor.

mod failure;
mod outcome;
mod task;
mod trial;

pub use failure::Failure;
pub use outcome::Outcome;
pub use task::{TaskFileError, read_tasks, write_task};
pub use trial::{
    Note, RunFacts, Status, Trial, TrialFileError, Trials, read_trials, write_note, write_trial,
};

fn line_of(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The longest file of tasks or trials that is read.
pub const FILE_BYTES_MAX: u64 = 512 << 20;
