//! Durable state: the disk, the journal of a run, blobs, the reply cache and locks. Synchronous. Knows nothing about
//! events beyond their durability and the blobs they reference.

mod archive;
mod blobs;
mod derived;
mod disk;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod gc;
mod journal;
mod layout;
mod line;
mod lock;
mod prompt_pack;
mod repair;
mod reply_cache;
mod shared;
mod sync;
mod tail;
mod workspace;

pub use archive::{ArchiveReport, archive, archive_summary, archives, unarchive};
pub use blobs::{Blobs, digest};
pub use derived::DerivedFiles;
pub use disk::{Disk, FileDisk};
pub use error::JournalError;
pub use gc::{
    archive_bytes, blob_names_in, blobs_of, collect_garbage, remove_archive, remove_run, run_bytes,
};
pub use journal::{Journal, OpenedJournal};
pub use line::Record;
pub use lock::{RunLock, WorkspaceHold};
pub use repair::{RepairReport, repair};
pub use reply_cache::ReplyCache;
pub use shared::{GcReport, Lease, SharedRuns};
pub use sync::{JournalSync, SyncMode};
pub use tail::JournalTail;
pub use workspace::Workspace;
