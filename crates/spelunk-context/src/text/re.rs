//! Python's `re` over a text of any size. Patterns are parsed as Python parses them and run by Rust's engines; results
//! are those of Python 3.7 and later, including empty matches. [`PyPattern`] lists the differences.

mod ast;
mod emit;
mod engine;
mod expand;
mod flags;
mod functions;
mod parse;
mod prefilter;
mod read_ahead;
mod search;
mod stream;
mod traits;
mod walk;

use std::sync::{Arc, OnceLock};

use self::ast::Node;
use self::emit::{Emitter, Target};
use self::engine::{BACKTRACKS_MAX, Engine, How};
pub use self::expand::Replacement;
pub use self::flags::Flags;
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
/// that both agree on words; `\N{…}` is refused. A match of more than 16 MiB is an error. In a longer text, so is the
/// search itself if nothing in the pattern says where a match must end: it has look-around or back-references, or `\b`
/// in text beyond ASCII, or may match the empty string, and repeats every character any number of times.
#[derive(Debug, Clone)]
pub struct PyPattern {
    pattern: Arc<str>,
    flags: Flags,
    n_groups: usize,
    names: Arc<[(String, usize)]>,
    node: Arc<Node>,
    traits: Arc<Traits>,
    engines: Arc<Engines>,
}

/// Compiled on first use.
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
        let parsed = parse::parse(pattern, flags)?;
        let traits = Traits::of(&parsed.node);
        let compiled = Self::over(pattern, parsed, traits);
        compiled.engine(How::Search, compiled.target())?;
        Ok(compiled)
    }

    /// A pattern that matches exactly this text.
    pub(super) fn literal(text: &str) -> Self {
        let chars = text.chars().map(|c| Node::Char { c, fold: ast::Fold::Exact });
        let node = Node::Concat(chars.collect());
        let parsed = parse::Parsed { node, flags: Flags::NONE, n_groups: 1, names: Vec::new() };
        Self::over(text, parsed, Traits::of_literal(text))
    }

    fn over(pattern: &str, parsed: parse::Parsed, traits: Traits) -> Self {
        Self {
            pattern: pattern.into(),
            flags: parsed.flags,
            n_groups: parsed.n_groups,
            names: parsed.names.into(),
            node: Arc::new(parsed.node),
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
        if self.flags.has(Flags::ASCII) { self.flags } else { self.flags.with(Flags::UNICODE) }
    }

    /// The number of groups, without the whole match.
    pub fn n_groups(&self) -> usize {
        self.n_groups - 1
    }

    /// Group names with their numbers, in order.
    pub fn group_names(&self) -> &[(String, usize)] {
        &self.names
    }

    fn target(&self) -> Target {
        if self.traits.needs_backtracking { Target::Backtracking } else { Target::Linear }
    }

    /// The prefilter for lines, if a match stays within a line.
    fn prefilter(&self) -> Option<&LinePrefilter> {
        self.engines.prefilter.get_or_init(|| LinePrefilter::new(self)).as_ref()
    }

    fn engine(&self, how: How, target: Target) -> Result<&Engine, PatternFault> {
        let compile = || Engine::new(&self.node, target, self.traits.words, how);
        let engine = &self.engines.by_use[target as usize][how as usize];
        engine.get_or_init(compile).as_ref().map_err(Clone::clone)
    }
}

/// An invalid pattern or replacement, worded as in Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", Position(*position, *line_and_column))]
pub struct PatternFault {
    /// Python's message: `unterminated character set`.
    pub message: String,
    /// Counted in characters from 0; `None` if Python reports no position.
    pub position: Option<usize>,
    /// From 1; only for a pattern with several lines.
    pub line_and_column: Option<(usize, usize)>,
}

impl PatternFault {
    fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), position: None, line_and_column: None }
    }
}

struct Position(Option<usize>, Option<(usize, usize)>);

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(position) = self.0 {
            write!(f, " at position {position}")?;
        }
        if let Some((line, column)) = self.1 {
            write!(f, " (line {line}, column {column})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
