//! Finds passages of a view. `rank` reads the text each time and stores nothing; an `Index` is stored on disk and
//! searches by words and by meaning. Synchronous; knows nothing about language models or strategies.

mod background;
mod catalogue;
mod choose;
mod cut;
mod embed;
mod error;
mod files;
mod fuse;
mod highlight;
mod index;
mod lookup;
mod near_duplicates;
mod passage;
mod query;
mod question;
mod rank;
mod rerank;
mod scan_search;
mod score;
mod stem;
mod tally;
mod terms;
#[cfg(test)]
mod testing;
mod texts;
mod vector_store;
mod words;
mod words_index;

pub use background::{Build, INDEXED_FIRST_BYTES_MAX};
pub use choose::RankOptions;
pub use embed::{EmbedError, Embedder, StaticEmbedder};
pub use error::IndexError;
pub use highlight::{Mark, mark};
pub use index::notice::Notice;
pub use index::search::{Hit, SearchResults};
pub use index::{Index, IndexOptions, IndexProgress, Rebuilt, UpdateOptions, UpdateReport};
pub use query::{Mode, Query};
pub use rank::{RankProgress, Ranking, rank};
pub use scan_search::search_by_reading;
pub use texts::Texts;
