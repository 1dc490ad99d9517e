//! Finding passages of a view. `rank` reads the text each time and stores nothing; an `Index` is kept on disk and finds
//! by words and by meaning. Synchronous; knows no language model and no strategy.

mod catalogue;
mod choose;
mod cut;
mod embed;
mod error;
mod files;
mod fold;
mod fuse;
mod index;
mod known;
mod lean;
mod lookup;
mod mark;
mod notice;
mod passage;
mod prepare;
mod present;
mod query;
mod question;
mod rank;
mod reading;
mod refine;
mod rows;
mod score;
mod search;
mod stem;
mod tally;
mod terms;
#[cfg(test)]
mod testing;
mod texts;
mod update;
mod words;
mod words_index;

pub use choose::Passage;
pub use embed::{EmbedError, Embedder, StaticEmbedder};
pub use error::IndexError;
pub use index::{Index, IndexOptions, IndexProgress, Rebuilt, UpdateOptions, UpdateReport};
pub use mark::{Mark, mark};
pub use notice::Notice;
pub use query::{Mode, Query};
pub use rank::{RankOptions, RankProgress, Ranking, rank};
pub use reading::search_by_reading;
pub use search::{Found, Hit};
pub use texts::Texts;
