//! Answers computed over rows: of tables, logs and JSON. Each returns `None` if the text has no rows or the question is
//! not about them, and leaves the question to the strategy that called it.

mod labels;
mod sql;

pub(crate) use self::labels::solve as label_rows;
pub(crate) use self::sql::{BYTES_MAX, solve as query_rows};

/// The prompts, in the order in which their digest has them.
pub(crate) const PROMPTS: [&[&str]; 2] = [&sql::PROMPTS, &labels::PROMPTS];
