//! Evaluation: tasks with known answers, scores, a simulated reader, statistics and reports. The
//! caller decides what runs and on which engine; nothing here touches a disk, a clock or a network.

mod classify;
mod compare;
mod generate;
mod report;
mod rng;
mod score;
mod sim;
mod sink;
mod stats;
mod summary;
mod task;
mod wire;
mod words;

pub use compare::{Difference, Pairing, compare};
pub use generate::{BYTES_PER_TOKEN, GenerateError, Order, TOKENS_MAX, TOKENS_MIN, Tree, generate};
pub use report::{Report, differences_markdown};
pub use score::{Form, Scored, score};
pub use sim::{SimModel, SimSettings};
pub use sink::Sink;
pub use stats::{Interval, bootstrap, mean, quantile, wilson};
pub use summary::{Figures, Row, Summary, Way};
pub use task::{Kind, Scoring, Task, size_name};
pub use wire::{
    FILE_BYTES_MAX, Failure, LineError, Note, Outcome, RunFacts, Status, Trial, Trials, read_tasks,
    read_trials, write_note, write_task, write_trial,
};

/// Compiles a pattern that is part of this crate.
fn pattern(text: &str) -> regex::Regex {
    regex::Regex::new(text).expect("the patterns are tested")
}
