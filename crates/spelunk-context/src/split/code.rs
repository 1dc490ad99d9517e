//! Source code: definitions are kept whole. They are found by how lines begin, and so are imports.

use crate::lines::{is_blank, line_marks};
use crate::name::shortened;
use crate::pack::{Mark, Strength};

mod line_rule;
mod prelude;

pub(super) use line_rule::places;
pub(super) use prelude::prelude_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutPoint {
    pub(super) at: usize,
    pub(super) strength: Strength,
}

/// A mark before every line; marks before definitions are strong.
pub(super) fn marks<'t>(text: &'t str, places: &'t [CutPoint]) -> impl Iterator<Item = Mark> + 't {
    let mut after_blank = false;
    let mut ahead = places.iter().peekable();
    line_marks(text, move |rest, bytes| {
        let at = text.len() - rest.len();
        let line = rest.get(..bytes).unwrap_or_default();
        let is_after_blank = std::mem::replace(&mut after_blank, is_blank(line));
        while ahead.next_if(|place| place.at < at).is_some() {}
        match ahead.peek() {
            Some(place) if place.at == at => place.strength,
            Some(_) | None if is_after_blank => Strength::Sentence,
            Some(_) | None => Strength::Word,
        }
    })
}

/// The first line of the innermost definition that contains an offset, by indentation.
pub(super) fn scope_of(text: &str, at: usize) -> Option<String> {
    const SCOPE_CHARS_MAX: usize = 100;
    const LOOK_BACK_BYTES: usize = 256 * 1024;
    let here = text.get(at..)?.lines().find(|line| !line.trim().is_empty())?;
    let indent = indent_of(here);
    if indent == 0 {
        return None;
    }
    let from = text.ceil_char_boundary(at.saturating_sub(LOOK_BACK_BYTES));
    let outer = text.get(from..at)?.lines().rev().find(|line| {
        let is_closing = line.trim_start().starts_with(['}', ')', ']', '#', '/', '*', '@']);
        // A line with only a bracket is not informative.
        line.contains(char::is_alphabetic) && indent_of(line) < indent && !is_closing
    })?;
    Some(shortened(outer.trim().trim_end_matches(['{', ':']).trim_end(), SCOPE_CHARS_MAX))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
