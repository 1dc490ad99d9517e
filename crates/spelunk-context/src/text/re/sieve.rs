//! A sieve for lines: where a match stays within a line, rare words anywhere in the pattern say which lines are worth
//! searching. This is how `rg` finds its lines, and it is the same code.

use grep_matcher::{LineMatchKind, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::PyPattern;
use super::ast::{Node, Place};
use super::emit::{Emitter, Target};
use super::engine::{Engine, Slots};
use super::traits::Barrier;

/// Searched without the sieve first: where matches are close to each other, sieving costs more than it saves.
const NEAR_BYTES: usize = 4 * 1024;

/// Chooses lines.
#[derive(Debug)]
pub(super) struct LineSieve {
    matcher: RegexMatcher,
}

impl LineSieve {
    /// Nothing for a pattern that is not within a line, or asks where the text begins or ends.
    pub(super) fn new(pattern: &PyPattern) -> Option<Self> {
        let traits = &pattern.traits;
        let asks_for_ends = pattern
            .node
            .any(&|node| matches!(node, Node::Place(Place::TextStart | Place::TextEnd | Place::Dollar)));
        let is_within_line = matches!(traits.barrier, Some(Barrier::Newline));
        if !is_within_line || asks_for_ends || traits.may_be_empty || traits.needs_backtracking {
            return None;
        }
        let emitted = Emitter { target: Target::Linear, words: traits.words }.pattern(&pattern.node);
        let matcher = RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(&emitted).ok()?;
        matcher.line_terminator().is_some().then_some(Self { matcher })
    }

    /// The first match from `at` on.
    pub(super) fn find(
        &self,
        engine: &Engine,
        text: &str,
        at: usize,
        wants_groups: bool,
        slots: &mut Slots,
    ) -> bool {
        let bytes = text.as_bytes();
        let line_end = |from: usize| {
            let rest = bytes.get(from..).unwrap_or_default();
            memchr::memchr(b'\n', rest).map_or(bytes.len(), |idx| from + idx + 1)
        };
        let mut at = at;
        let near = line_end((at + NEAR_BYTES).min(bytes.len()));
        if engine.find_within(text, at..near, wants_groups, slots) {
            return true;
        }
        at = near;
        while at < bytes.len() {
            let found = self.matcher.find_candidate_line(&bytes[at..]).expect("searching has no errors");
            let (LineMatchKind::Confirmed(offset) | LineMatchKind::Candidate(offset)) = match found {
                Some(found) => found,
                None => return false,
            };
            let start = memchr::memrchr(b'\n', &bytes[at..at + offset]).map_or(at, |idx| at + idx + 1);
            let end = line_end(at + offset);
            if engine.find_within(text, start..end, wants_groups, slots) {
                return true;
            }
            at = end.max(at + 1);
        }
        false
    }
}
