//! Python's `re` over a text of any size. Patterns are parsed as Python parses them and run by Rust's engines; results
//! are those of Python 3.7 and later, including empty matches. [`PyPattern`] lists the differences.

mod engine;
mod functions;
mod prefilter;
mod read_ahead;
mod search;
mod stream;
mod traits;
mod walk;

use std::sync::{Arc, OnceLock};

use spelunk_re::{Emitter, Fold, Node, Parsed, Target};
pub use spelunk_re::{Flags, PatternFault, Replacement};

use self::engine::{BACKTRACKS_MAX, Engine, How};
pub use self::functions::{FindAllItem, Group, PyMatch, SplitPart};
use self::prefilter::LinePrefilter;
pub(crate) use self::search::Sizes;
use self::traits::Traits;
pub(super) use self::walk::ITEM_BYTES;
pub use self::walk::MatchCursor;

/// A compiled Python pattern. Cloning is cheap.
///
/// It runs in linear time unless it has look-around, back-references or atomic groups; those backtrack, with a limit on
/// the steps per window. Differences from Python: in a pattern with `\b` or `\B`, `\w` includes combining marks, so
/// that both agree on words; a repeated group does not keep an empty last round (`(|a)+`); `\N{…}` is refused. A match
/// of more than 16 MiB is an error. In a longer text, so is the search itself if nothing in the pattern says where a
/// match must end: it has look-around or back-references, or `\b` in text beyond ASCII, or may match the empty string,
/// and repeats every character any number of times.
#[derive(Debug, Clone)]
pub struct PyPattern {
    pattern: Arc<str>,
    parsed: Arc<Parsed>,
    traits: Arc<Traits>,
    engines: Arc<Engines>,
}

#[derive(Debug, Default)]
struct Engines {
    by_use: [[OnceLock<Result<Engine, PatternFault>>; 4]; 2],
    prefilter: OnceLock<Option<LinePrefilter>>,
}

impl PyPattern {
    /// The maximum length of a pattern.
    pub const PATTERN_CHARS_MAX: usize = 64 * 1024;

    /// Compiles a pattern as `re.compile(pattern, flags)` does.
    pub fn compile(pattern: &str, flags: Flags) -> Result<Self, PatternFault> {
        if pattern.len() > Self::PATTERN_CHARS_MAX {
            return Err(PatternFault::plain(format!(
                "the pattern has more than {} bytes",
                Self::PATTERN_CHARS_MAX
            )));
        }
        let parsed = spelunk_re::parse(pattern, flags)?;
        let traits = Traits::of(&parsed.node);
        let compiled = Self::over(pattern, parsed, traits);
        compiled.engine(How::Search, compiled.target())?;
        Ok(compiled)
    }

    pub(super) fn literal(text: &str) -> Self {
        let chars = text.chars().map(|c| Node::Char { c, fold: Fold::Exact });
        let node = Node::Concat(chars.collect());
        let parsed = Parsed { node, flags: Flags::NONE, n_groups: 1, names: Vec::new() };
        Self::over(text, parsed, Traits::of_literal(text))
    }

    fn over(pattern: &str, parsed: Parsed, traits: Traits) -> Self {
        Self {
            pattern: pattern.into(),
            parsed: Arc::new(parsed),
            traits: Arc::new(traits),
            engines: Arc::default(),
        }
    }

    /// The source of the pattern.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The given flags and those set in the pattern; `U` unless it has `A`, as in Python.
    pub fn flags(&self) -> Flags {
        self.parsed.python_flags()
    }

    /// The number of groups, without the whole match.
    pub fn n_groups(&self) -> usize {
        self.parsed.n_groups - 1
    }

    /// Group names with their numbers, in order.
    pub fn group_names(&self) -> &[(String, usize)] {
        &self.parsed.names
    }

    /// Parses a replacement such as `\g<name>: \1` for this pattern.
    pub fn replacement(&self, template: &str) -> Result<Replacement, PatternFault> {
        Replacement::parse(template, &self.parsed)
    }

    fn node(&self) -> &Node {
        &self.parsed.node
    }

    fn target(&self) -> Target {
        if self.traits.needs_backtracking { Target::Backtracking } else { Target::Linear }
    }

    /// The prefilter for lines, if a match stays within a line.
    fn prefilter(&self) -> Option<&LinePrefilter> {
        self.engines.prefilter.get_or_init(|| LinePrefilter::new(self)).as_ref()
    }

    fn engine(&self, how: How, target: Target) -> Result<&Engine, PatternFault> {
        let compile = || Engine::new(self.node(), target, self.traits.words, how);
        let engine = &self.engines.by_use[target as usize][how as usize];
        engine.get_or_init(compile).as_ref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests;
