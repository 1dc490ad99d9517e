//! Suggestions: what to do next after accessing a context. Each can be followed literally.

use std::fmt;

use spelunk_types::Limits;

use crate::store::{AccessCounts, Context, ContextId};
use crate::{GrepReport, Peek};

/// A next step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Suggestion {
    LoadAsUsual {
        id: ContextId,
        n_loads: u64,
    },
    Grep {
        id: ContextId,
    },
    /// The page is counted from 0, at the default page size.
    Page {
        id: ContextId,
        page: u64,
    },
    Refine {
        n_matches: u64,
    },
    OtherWords,
    Load {
        id: ContextId,
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

/// Above this, reading in pages is better.
const PAGED_BYTES_MIN: u64 = 10_000;
/// Above this, matches are not read one by one.
const MATCHES_FEW_MAX: u64 = 5;
const HABIT_LOADS_MIN: u64 = 3;

/// After a peek: load if that usually followed, search, and read in pages if long. Nothing for an empty text.
pub(super) fn after_peek(context: &Context, peek: &Peek, limits: &Limits) -> Vec<Suggestion> {
    if peek.lines_shown == 0 {
        return Vec::new();
    }
    let id = || context.id.clone();
    let mut suggestions = Vec::new();
    let AccessCounts { peeks, loads: n_loads, .. } = context.access;
    let is_habit = n_loads >= HABIT_LOADS_MIN && n_loads.saturating_mul(2) > peeks;
    if is_habit && context.size_bytes() <= limits.load_bytes_max {
        suggestions.push(Suggestion::LoadAsUsual { id: id(), n_loads });
    }
    suggestions.push(Suggestion::Grep { id: id() });
    if context.size_bytes() > PAGED_BYTES_MIN {
        suggestions.push(Suggestion::Page { id: id(), page: 0 });
    }
    suggestions
}

/// After a grep: other words if nothing was found; a narrower pattern or the page of the first match if there are too
/// many; otherwise the whole text, or the page of the match if the text is too large.
pub(super) fn after_grep(context: &Context, found: &GrepReport, limits: &Limits) -> Vec<Suggestion> {
    let n_matches = found.n_matches;
    let id = context.id.clone();
    let first_line = found.matches.first().map_or(1, |first| first.line);
    let page = first_line.saturating_sub(1) / limits.page_lines.max(1);
    match n_matches {
        0 => vec![Suggestion::OtherWords],
        1..=MATCHES_FEW_MAX if context.size_bytes() <= limits.load_bytes_max => {
            vec![Suggestion::Load { id, n_matches }]
        }
        1..=MATCHES_FEW_MAX => vec![Suggestion::Page { id, page }],
        _ => vec![Suggestion::Refine { n_matches }, Suggestion::Page { id, page }],
    }
}
