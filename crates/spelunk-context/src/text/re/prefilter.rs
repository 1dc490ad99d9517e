//! A prefilter for lines: if a match stays within a line, a literal that every match contains tells which lines are
//! worth searching. The engines look for the prefix of a match, which is often common while a later part is rare.

use spelunk_re::{Assertion, Fold, Kind, Node};

use super::PyPattern;
use super::engine::{Engine, GaveUp, Slots};
use super::traits::Barrier;

/// Shorter literals occur in too many lines.
const NEEDLE_BYTES_MIN: usize = 3;

/// Searched without the prefilter first: where matches are close together, filtering costs more than it saves.
const NEAR_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub(super) struct LinePrefilter {
    needle: memchr::memmem::Finder<'static>,
}

impl LinePrefilter {
    /// `None` for a pattern that may span lines, depends on the start or end of the text, or contains no literal.
    pub(super) fn new(pattern: &PyPattern) -> Option<Self> {
        let traits = &pattern.traits;
        let asks_for_ends = pattern.node().any(&|node| {
            matches!(node, Node::Assertion(Assertion::TextStart | Assertion::TextEnd | Assertion::Dollar))
        });
        let is_within_line = matches!(traits.barrier, Some(Barrier::Newline));
        if !is_within_line || asks_for_ends || traits.may_be_empty || traits.needs_backtracking {
            return None;
        }
        let mut literals = Literals::default();
        literals.add(pattern.node());
        literals.end_run();
        let needle = literals.longest.filter(|needle| needle.len() >= NEEDLE_BYTES_MIN)?;
        Some(Self { needle: memchr::memmem::Finder::new(&needle).into_owned() })
    }

    /// The first match at or after `at`, by the linear engine.
    pub(super) fn find(
        &self,
        engine: &Engine,
        text: &str,
        at: usize,
        wants_groups: bool,
        slots: &mut Slots,
    ) -> Result<bool, GaveUp> {
        let bytes = text.as_bytes();
        let line_end = |from: usize| {
            let rest = bytes.get(from..).unwrap_or_default();
            memchr::memchr(b'\n', rest).map_or(bytes.len(), |idx| from + idx + 1)
        };
        let near = line_end((at + NEAR_BYTES).min(bytes.len()));
        if engine.find(text, at..near, wants_groups, slots)? {
            return Ok(true);
        }
        let mut at = near;
        while let Some(offset) = self.needle.find(&bytes[at..]) {
            let start = memchr::memrchr(b'\n', &bytes[at..at + offset]).map_or(at, |idx| at + idx + 1);
            let end = line_end(at + offset);
            if engine.find(text, start..end, wants_groups, slots)? {
                return Ok(true);
            }
            at = end;
        }
        Ok(false)
    }
}

#[derive(Default)]
struct Literals {
    run: String,
    longest: Option<String>,
}

impl Literals {
    fn add(&mut self, node: &Node) {
        match node {
            Node::Char { c, fold: Fold::Exact } => self.run.push(*c),
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Group { node, .. } | Node::Atomic(node) => self.add(node),
            Node::Repeat { node, min: 1.., kind: Kind::Greedy | Kind::Lazy | Kind::Possessive, .. } => {
                // It occurs at least once, but the text before it may be another repetition.
                self.end_run();
                self.add(node);
                self.end_run();
            }
            // An assertion consumes nothing, so the text before and after it is contiguous.
            Node::Assertion(_) => {}
            Node::Char { fold: Fold::Ascii | Fold::Unicode, .. }
            | Node::Any { .. }
            | Node::Set { .. }
            | Node::Backref { .. }
            | Node::Alt(_)
            | Node::Repeat { .. }
            | Node::Look { .. }
            | Node::Condition { .. } => self.end_run(),
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.len() > self.longest.as_ref().map_or(0, String::len) {
            self.longest = Some(run);
        }
    }
}
