//! JSON lines: one value per line, cut between lines. A line that is not JSON is still a line. The more fields the
//! records have, the fewer go into a chunk.

use spelunk_types::Limits;

use crate::lines::line_marks;
use crate::pack::{Mark, Strength};
use crate::records::n_fields_of_head;

/// Records with fewer fields than this are narrow.
const NARROW_FIELDS_BELOW: usize = 10;
/// Records with more fields than this are wide.
const WIDE_FIELDS_ABOVE: usize = 15;

/// The target lines of a chunk, by the number of fields of the first records.
pub(super) fn target_lines(limits: &Limits, text: &str) -> u64 {
    match n_fields_of_head(text) {
        Some(n_fields) if n_fields < NARROW_FIELDS_BELOW => limits.chunk_jsonl_narrow_lines,
        Some(n_fields) if n_fields > WIDE_FIELDS_ABOVE => limits.chunk_jsonl_wide_lines,
        Some(_) | None => limits.chunk_jsonl_lines,
    }
}

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    line_marks(text, |_, _| Strength::Item)
}
