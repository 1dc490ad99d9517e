//! Finding by words: passages of a view, ranked for a question. Nothing is stored; the text is read each time.
//! Synchronous; knows no model and no strategy.

mod choose;
mod mark;
mod passage;
mod question;
mod rank;
mod score;
mod stem;
mod tally;
#[cfg(test)]
mod testing;
mod words;

pub use choose::Passage;
pub use mark::{Mark, mark};
pub use rank::{RankOptions, RankProgress, Ranking, rank};
