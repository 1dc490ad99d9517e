//! Custom kinds: a line that matches their pattern begins a unit that should stay whole.

use regex::Regex;

use crate::lines::{is_blank, line_marks};
use crate::pack::{Mark, Strength};

pub(super) fn marks<'t>(text: &'t str, boundary: &'t Regex) -> impl Iterator<Item = Mark> + 't {
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
