//! Output for people and programs: errors, answers, trees, passages, progress. Control characters in text from
//! documents, models and providers never reach a terminal.

pub mod answer;
pub mod contexts;
pub mod found;
pub(crate) mod markdown;
pub mod passages;
pub mod plan;
pub mod progress;
pub mod report;
pub mod tree;
pub mod viewer;
