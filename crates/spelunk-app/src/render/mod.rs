//! What people and programs see: errors, answers, trees, passages, progress. Text from documents, models and providers
//! never reaches a terminal with its control characters.

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
