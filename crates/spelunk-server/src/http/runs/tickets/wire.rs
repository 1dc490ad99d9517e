//! A ticket as it is written to disk.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spelunk_types::{BlobId, RunId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) run: RunId,
    pub(crate) client: String,
    pub(crate) at_ms: u64,
    #[serde(flatten)]
    pub(crate) progress: Progress,
    pub(crate) key: Option<Key>,
    /// The request as it was sent; for a resumed run, its limits.
    pub(crate) request: Value,
    pub(crate) uploads: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) snapshots: Vec<SnapshotSource>,
    /// The URLs of buckets, which every node of the fleet reads itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) buckets: Vec<String>,
}

/// A source that was uploaded to a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotSource {
    /// The list of its files.
    pub manifest: BlobId,
    /// The one file of the source that was named, if any.
    pub file: Option<String>,
    /// The source as the user typed it, shown in citations.
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "progress", rename_all = "lowercase")]
pub(crate) enum Progress {
    /// Queued; there is no journal.
    Waiting,
    /// Started: it has a journal and must be finished.
    Begun,
    /// It has an answer and a follow-up question that its journal does not contain after this event yet.
    More { after_seq: u64 },
    /// To be resumed under the limits of its request, which its journal does not record after this event yet.
    Again { after_seq: u64 },
    /// Only its idempotency key is remembered.
    Ended,
    /// It could not start or continue.
    Refused { refusal: Box<Refusal> },
    /// Cancelled before it started.
    Withdrawn,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// Whether only a follow-up question failed: the run is as it was, and its journal does not contain the question.
    #[serde(skip)]
    pub(crate) is_of_question: bool,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) key: String,
    pub(crate) digest: String,
}
