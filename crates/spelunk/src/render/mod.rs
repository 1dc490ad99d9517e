//! What people and programs see: errors, answers, trees, passages, progress. Text from documents, models and providers
//! never reaches a terminal with its control characters.

pub(crate) mod answer;
pub(crate) mod contexts;
pub(crate) mod found;
pub(crate) mod markdown;
pub(crate) mod passages;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod tree;
pub(crate) mod viewer;
