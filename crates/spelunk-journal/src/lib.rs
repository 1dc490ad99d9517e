//! Never losing work: the disk, the journal of a run, blobs, the reply cache, locks. Synchronous, and knows nothing of
//! what events mean beyond their durability and the blobs they name.

mod blobs;
mod disk;
mod error;
mod gc;
mod journal;
mod line;
mod lock;
mod repair;
mod replies;
mod tail;
mod workspace;

pub use blobs::{Blobs, digest};
pub use disk::{Disk, FileDisk};
pub use error::JournalError;
pub use gc::{GcReport, collect_garbage};
pub use journal::{Journal, Opened, Record};
pub use lock::RunLock;
pub use repair::{RepairReport, repair};
pub use replies::Replies;
pub use tail::JournalTail;
pub use workspace::Workspace;
