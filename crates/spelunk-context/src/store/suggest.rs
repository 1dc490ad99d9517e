//! Suggestions: what to do next after accessing a context. Each can be followed literally.

use std::fmt;

use crate::store::{AccessCounts, ContextId};
use crate::{GrepReport, Peek};

/// A next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// Load it, as was usually done after a peek.
    LoadAsUsual {
        /// The context.
        id: ContextId,
        /// How often it was loaded.
        n_loads: u64,
    },
    /// Search it.
    Grep {
        /// The context.
        id: ContextId,
    },
    /// Read a page of it.
    Page {
        /// The context.
        id: ContextId,
        /// The page number, counted from 0, at the default page size.
        page: u64,
    },
    /// Search for something rarer.
    Refine {
        /// How many lines match.
        n_matches: u64,
    },
    /// Search for something else.
    OtherWords,
    /// Load it.
    Load {
        /// The context.
        id: ContextId,
        /// How many lines match.
        n_matches: u64,
    },
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoadAsUsual { id, n_loads } => {
                write!(f, "load `{id}`, as was done after most reads of it ({n_loads} times)")
            }
            Self::Grep { id } => write!(f, "grep `{id}` for a keyword"),
            Self::Page { id, page } => write!(f, "read page {page} of `{id}`"),
            Self::Refine { n_matches } => write!(f, "{n_matches} lines match: refine the pattern"),
            Self::OtherWords => f.write_str("nothing matches: try other keywords"),
            Self::Load { id, n_matches: 1 } => write!(f, "1 line matches: load `{id}` if you need the rest"),
            Self::Load { id, n_matches } => {
                write!(f, "{n_matches} lines match: load `{id}` if you need the rest")
            }
        }
    }
}

/// What is known about a context when a suggestion is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation<'a> {
    pub(super) id: &'a ContextId,
    pub(super) size_bytes: u64,
    /// How it was read so far.
    pub(super) access: AccessCounts,
    /// Above this it cannot be loaded.
    pub(super) load_bytes_max: u64,
    pub(super) page_lines: u64,
}

/// Above this, reading in pages is better.
const PAGED_BYTES_MIN: u64 = 10_000;
/// Above this, matches are not read one by one.
const MATCHES_FEW_MAX: u64 = 5;

/// Loads before they count as a habit.
const HABIT_LOADS_MIN: u64 = 3;

/// After a peek: load if that usually followed, search, and read in pages if long. Nothing for an empty text.
pub(super) fn after_peek(situation: Situation<'_>, peek: &Peek) -> Vec<Suggestion> {
    if peek.lines_shown == 0 {
        return Vec::new();
    }
    let mut suggestions = Vec::new();
    let AccessCounts { peeks, loads: n_loads, .. } = situation.access;
    let is_habit = n_loads >= HABIT_LOADS_MIN && n_loads.saturating_mul(2) > peeks;
    if is_habit && situation.size_bytes <= situation.load_bytes_max {
        suggestions.push(Suggestion::LoadAsUsual { id: situation.id.clone(), n_loads });
    }
    suggestions.push(Suggestion::Grep { id: situation.id.clone() });
    if situation.size_bytes > PAGED_BYTES_MIN {
        suggestions.push(Suggestion::Page { id: situation.id.clone(), page: 0 });
    }
    suggestions
}

/// After a grep: other words if nothing was found; a narrower pattern or the page of the first match if there are too
/// many; otherwise the whole text, or the page of the match if the text is too large.
pub(super) fn after_grep(situation: Situation<'_>, found: &GrepReport) -> Vec<Suggestion> {
    let n_matches = found.n_matches;
    let id = situation.id.clone();
    let first_line = found.matches.first().map_or(1, |first| first.line);
    let page = first_line.saturating_sub(1) / situation.page_lines.max(1);
    match n_matches {
        0 => vec![Suggestion::OtherWords],
        1..=MATCHES_FEW_MAX if situation.size_bytes <= situation.load_bytes_max => {
            vec![Suggestion::Load { id, n_matches }]
        }
        1..=MATCHES_FEW_MAX => vec![Suggestion::Page { id, page }],
        _ => vec![Suggestion::Refine { n_matches }, Suggestion::Page { id, page }],
    }
}
