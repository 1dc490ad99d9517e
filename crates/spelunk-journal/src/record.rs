//! Events as they are read back from a journal.

use serde_json::Value;
use spelunk_types::Event;

/// What a reader finds in one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An event that this engine knows.
    Known(Box<Event>),
    /// An event from a newer engine, kept unchanged for display; a run that contains one cannot be resumed here.
    Unknown {
        /// Its sequence number.
        seq: u64,
        /// Its name.
        name: String,
        /// The whole event.
        raw: Value,
    },
}

impl Record {
    /// The sequence number.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Known(event) => event.seq,
            Self::Unknown { seq, .. } => *seq,
        }
    }
}
