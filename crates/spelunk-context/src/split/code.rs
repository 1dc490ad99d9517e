//! Source code: definitions are kept whole. They are found by parsing if there is a grammar for the language, otherwise
//! by how lines begin. Imports are found by lines in every language.

use crate::kind::Language;
use crate::lines::{count_lines, is_blank, line_marks};
use crate::pack::{Mark, Strength};

mod line_rule;
mod prelude;
#[cfg(feature = "grammars")]
mod syntax;

pub(super) use prelude::prelude_of;
#[cfg(feature = "grammars")]
pub(crate) use syntax::has_grammar;
#[cfg(feature = "grammars")]
pub use syntax::{PARSE_TASK, serve_parse};

/// A line before which code can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutPoint {
    /// The start of the line.
    pub(super) at: usize,
    pub(super) strength: Strength,
}

/// Where definitions begin, ascending.
pub(super) fn places(text: &str, language: Option<Language>) -> Vec<CutPoint> {
    const LINES_PER_PLACE_MAX: u64 = 1000;
    let by_lines = line_rule::places(text);
    // If hardly any line looks like a definition, parsing would only repair text that is not code.
    let is_code = by_lines.len() as u64 * LINES_PER_PLACE_MAX >= count_lines(text);
    let mut places = if is_code { parsed(text, language).unwrap_or(by_lines) } else { by_lines };
    places.sort_by_key(|place| (place.at, std::cmp::Reverse(place.strength)));
    places.dedup_by_key(|place| place.at);
    places
}

/// Whether code in this language is parsed.
#[cfg(not(feature = "grammars"))]
pub(crate) fn has_grammar(_: Language) -> bool {
    false
}

#[cfg(feature = "grammars")]
fn parsed(text: &str, language: Option<Language>) -> Option<Vec<CutPoint>> {
    syntax::places(text, language?)
}

#[cfg(not(feature = "grammars"))]
fn parsed(_: &str, _: Option<Language>) -> Option<Vec<CutPoint>> {
    None
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
    Some(
        crate::name::shortened(outer.trim().trim_end_matches(['{', ':']).trim_end(), SCOPE_CHARS_MAX)
            .into_owned(),
    )
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
