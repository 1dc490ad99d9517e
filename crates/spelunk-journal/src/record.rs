//! Events as they are read back from a journal.

use serde_json::Value;
use spelunk_types::Event;

/// What a reader finds in one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An event of this engine.
    Known(Box<Event>),
    /// An event of a newer one, kept as it is for display; a run with one cannot be resumed here.
    Unknown {
        /// Its place.
        seq: u64,
        /// Its name.
        name: String,
        /// All of it.
        raw: Value,
    },
}

impl Record {
    /// The place in the order of truth.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Known(event) => event.seq,
            Self::Unknown { seq, .. } => *seq,
        }
    }
}
