//! Tables: CSV, TSV and similar formats, cut between rows.

use super::{Splitter, to_boundaries};
use crate::kind::delimited::{Rows, Shape, is_line_end};
use crate::pack::{Boundary, Mark, Strength};

/// Cuts between rows.
#[derive(Debug, Clone, Copy)]
pub struct Table;

impl Splitter for Table {
    fn boundaries(&self, text: &str) -> Vec<Boundary> {
        let shape = Shape::of(text);
        to_boundaries(text, marks(text, &shape))
    }
}

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
