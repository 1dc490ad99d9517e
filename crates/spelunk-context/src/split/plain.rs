//! The plain mode: chunks of a fixed number of tokens with an overlap, cut at the boundaries of prose.

use super::{prose, slice};
use crate::lines::count_newlines;
use crate::pack::{Cut, Mark, SpanSizes, group};

pub(super) fn cuts(text: &str, bytes_max: usize) -> Vec<Cut> {
    let marks = prose::marks(text).map(|mark| Mark { units: mark.at as u64, ..mark });
    let mut cuts = group(text, marks, &SpanSizes::of_bytes(bytes_max));
    // The cuts were made by bytes; report lines instead.
    let mut start = 0;
    for cut in &mut cuts {
        let own = slice(text, start..cut.at);
        let is_open_end = cut.at == text.len() && !own.ends_with('\n');
        cut.units = count_newlines(own.as_bytes()) + u64::from(is_open_end);
        start = cut.at;
    }
    cuts
}

/// The start of the overlap before `at`: after whitespace if there is some nearby, never before `earliest`.
pub(super) fn overlap_start(text: &str, at: usize, earliest: usize, bytes_max: usize) -> usize {
    let reach = text.ceil_char_boundary(at.saturating_sub(bytes_max).max(earliest).min(at));
    let half = reach + (at - reach) / 2;
    let blank = memchr::memchr2(b' ', b'\n', text.as_bytes().get(reach..half).unwrap_or_default());
    blank.map_or(reach, |offset| reach + offset + 1)
}
