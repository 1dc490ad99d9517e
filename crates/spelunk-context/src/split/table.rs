//! Tables: CSV, TSV and similar formats, cut between rows.

use crate::kind::delimited::{Rows, Shape, is_line_end};
use crate::pack::{Mark, Strength};

/// A mark after each row; units are rows without the header.
pub(super) fn marks<'t>(text: &'t str, shape: &Shape) -> impl Iterator<Item = Mark> + 't {
    let mut start = shape.header.end;
    let mut n_rows = 0;
    Rows::from(text, shape.delimiter, start).map(move |end| {
        let is_row = text.as_bytes().get(start..end).is_some_and(|row| !is_line_end(row));
        n_rows += u64::from(is_row);
        start = end;
        Mark { at: end, strength: Strength::Item, units: n_rows }
    })
}
