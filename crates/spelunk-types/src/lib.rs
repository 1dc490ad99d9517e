//! The types that cross a process or disk boundary: ids, events, usage, limits, citations, error codes. No logic beyond
//! parsing and printing, no I/O, no async. These are formats and stay compatible.

mod citation;
mod error_code;
mod event;
mod file_change;
mod finding;
mod id;
mod limits;
mod moment;
mod outcome;
mod request;
mod usage;
mod work;

pub use citation::{Citation, Found, Grounding};
pub use error_code::{Blame, ErrorCode, Explain};
pub use event::{Durability, Event, EventHead, EventKind, JOURNAL_FORMAT};
pub use file_change::FileChange;
pub use finding::{AnalystReport, Finding, Focus, Location, Severity, Unit};
pub use id::{BlobId, CallId, FrameId, IdError, RunId, civil_date};
pub use limits::{Limit, Limits};
pub use moment::iso_time;
pub use outcome::{CallOutcome, CellOutcome, FrameOutcome, RunOutcome, Served, StopReason};
pub use request::{CorpusRecord, FileOrder, ModelRef, OtherModels, ScanOptions, SourceSpec, Strategy, Text};
pub use usage::Usage;
pub use work::{WorkBounds, WorkError, WorkLine, Workers, employ, workers};
