//! Formats whose units are lines or rows: tables, JSON lines, custom kinds, and everything without rules of its own.

use regex::Regex;

use crate::kind::delimited::{Rows, Shape, is_line_end};
use crate::lines::{is_blank, line_marks};
use crate::pack::{Mark, Strength};

pub(super) fn row_marks<'t>(text: &'t str, shape: &Shape) -> impl Iterator<Item = Mark> + 't {
    let mut start = shape.header.end;
    let mut n_rows = 0;
    Rows::from(text, shape.delimiter, start).map(move |end| {
        let is_row = text.as_bytes().get(start..end).is_some_and(|row| !is_line_end(row));
        n_rows += u64::from(is_row);
        start = end;
        Mark { at: end, strength: Strength::Item, units: n_rows }
    })
}

/// Custom kinds: a line that matches their pattern begins a unit that should stay whole.
pub(super) fn custom_marks<'t>(text: &'t str, boundary: &'t Regex) -> impl Iterator<Item = Mark> + 't {
    let mut after_blank = false;
    line_marks(text, move |rest, bytes| {
        let line = rest.get(..bytes).unwrap_or_default();
        let is_after_blank = std::mem::replace(&mut after_blank, is_blank(line));
        let line = std::str::from_utf8(line).unwrap_or_default().trim_end_matches(['\n', '\r']);
        if boundary.is_match(line) {
            Strength::Section
        } else if is_after_blank {
            Strength::Paragraph
        } else {
            Strength::Sentence
        }
    })
}
