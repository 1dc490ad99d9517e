//! A common interface to the linear engine, and to a backtracking one for look-around and back-references.

use std::ops::Range;

use regex_automata::meta;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};

use spelunk_re::{Emitter, Node, PatternFault, Target, Words};

const COMPILED_BYTES_MAX: usize = 10 * 1024 * 1024;
const CACHE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The most backtracking steps of one search in one window; more would take too long.
pub(super) const BACKTRACKS_MAX: usize = 5_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Anywhere at or after the position.
    Search,
    /// At the position.
    Match,
    /// At the position, and up to the end of the text.
    FullMatch,
    /// At the position, and not empty: what follows an empty match.
    Longer,
}

/// The bounds of a match's groups, as offsets in the searched text. Reused for every match.
#[derive(Debug, Default)]
pub(super) struct Slots(Vec<Option<NonMaxUsize>>);

impl Slots {
    pub(super) fn group(&self, idx: usize) -> Option<Range<usize>> {
        let slot = |idx: usize| self.0.get(idx).copied().flatten().map(NonMaxUsize::get);
        Some(slot(2 * idx)?..slot(2 * idx + 1)?)
    }

    fn push(&mut self, group: Option<Range<usize>>) {
        let bounds = group.map(|group| [NonMaxUsize::new(group.start), NonMaxUsize::new(group.end)]);
        self.0.extend(bounds.unwrap_or_default());
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GaveUp;

#[derive(Debug)]
pub(super) enum Engine {
    Linear { regex: meta::Regex, is_anchored: bool, slots_len: usize },
    Backtracking(Box<fancy_regex::Regex>),
}

impl Engine {
    pub(super) fn new(node: &Node, target: Target, words: Words, how: How) -> Result<Self, PatternFault> {
        let pattern = Emitter { target, words, names: &[] }.pattern(node);
        match target {
            Target::Linear => Self::linear(&pattern, how),
            Target::Backtracking => Self::backtracking(&pattern, how),
        }
    }

    fn linear(pattern: &str, how: How) -> Result<Self, PatternFault> {
        let pattern = match how {
            How::Search | How::Match => pattern.to_owned(),
            How::FullMatch => format!("(?:{pattern})\\z"),
            // Rejecting an empty match and continuing from there requires backtracking.
            How::Longer => return Self::backtracking(pattern, how),
        };
        let config = meta::Config::new()
            .nfa_size_limit(Some(COMPILED_BYTES_MAX))
            .hybrid_cache_capacity(CACHE_BYTES_MAX);
        let regex = meta::Builder::new().configure(config).build(&pattern).map_err(|error| {
            let what =
                if error.size_limit().is_some() { "is too large when compiled" } else { "is not supported" };
            PatternFault::plain(format!("the pattern {what}"))
        })?;
        let slots_len = regex.group_info().slot_len();
        Ok(Self::Linear { regex, is_anchored: how != How::Search, slots_len })
    }

    fn backtracking(pattern: &str, how: How) -> Result<Self, PatternFault> {
        let pattern = match how {
            How::Search => pattern.to_owned(),
            How::Match => format!("\\G(?:{pattern})"),
            How::FullMatch => format!("\\G(?:{pattern})\\z"),
            How::Longer => format!("\\G(?:{pattern})(?!\\G)"),
        };
        let built = fancy_regex::RegexBuilder::new(&pattern)
            .backtrack_limit(BACKTRACKS_MAX)
            .delegate_size_limit(COMPILED_BYTES_MAX)
            .build();
        match built {
            Ok(regex) => Ok(Self::Backtracking(Box::new(regex))),
            Err(_) => Err(PatternFault::plain("the pattern is not supported: simplify its lookaround")),
        }
    }

    /// The first match in a range, with its groups if requested. The text around the range is visible to the pattern.
    /// Positions are character boundaries. The engine that backtracks searches to the end of the text.
    pub(super) fn find(
        &self,
        text: &str,
        range: Range<usize>,
        wants_groups: bool,
        slots: &mut Slots,
    ) -> Result<bool, GaveUp> {
        slots.0.clear();
        match self {
            Self::Linear { regex, is_anchored, slots_len } => {
                let anchored = if *is_anchored { Anchored::Yes } else { Anchored::No };
                let input = Input::new(text).span(range).anchored(anchored);
                if !wants_groups {
                    let found = regex.search(&input);
                    slots.push(found.map(|found| found.range()));
                    return Ok(found.is_some());
                }
                slots.0.resize(*slots_len, None);
                Ok(regex.search_slots(&input, &mut slots.0).is_some())
            }
            Self::Backtracking(regex) if wants_groups => {
                let Some(found) = regex.captures_from_pos(text, range.start).map_err(|_| GaveUp)? else {
                    return Ok(false);
                };
                for group in found.iter() {
                    slots.push(group.map(|group| group.range()));
                }
                Ok(true)
            }
            Self::Backtracking(regex) => {
                let found = regex.find_from_pos(text, range.start).map_err(|_| GaveUp)?;
                slots.push(found.map(|found| found.range()));
                Ok(found.is_some())
            }
        }
    }
}
