//! The types that cross a process or disk boundary: ids, events, usage, limits, citations, error codes. No logic beyond
//! parsing, printing and shortening text; no I/O, no async. These are formats and stay compatible.

#[macro_use]
mod names;

mod citation;
mod edit_distance;
mod error_code;
mod event;
mod file_change;
mod finding;
mod id;
mod limits;
mod moment;
mod outcome;
mod percent;
mod request;
mod truncate;
mod usage;
mod work;

pub use citation::{Citation, Found, Grounding};
pub use edit_distance::edit_distance;
pub use error_code::{Blame, ErrorCode, Explain};
pub use event::{Durability, Event, EventHead, EventKind, JOURNAL_FORMAT};
pub use file_change::FileChange;
pub use finding::{AnalystReport, Confidence, Finding, Focus, Location, PartMetadata, Severity, Unit, sum};
pub use id::{BlobId, CallId, EffectId, FrameId, IdError, RunId, hex};
pub use limits::{Limit, Limits};
pub use moment::{civil_date, days_since_1970, iso_time};
pub use outcome::{
    CallOutcome, CellOutcome, EffectClass, EffectOutcome, FrameOutcome, RunOutcome, Served, StopReason,
};
pub use percent::{percent_decoded, percent_encoded};
pub use request::{CorpusRecord, FileOrder, ModelRef, OtherModels, ScanOptions, SourceSpec, Strategy, Text};
pub use truncate::{shorten, truncate};
pub use usage::Usage;
pub use work::{WorkBounds, WorkError, WorkLine, Workers, employ, workers};

/// For `skip_serializing_if`: default values are left out of the JSON.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
