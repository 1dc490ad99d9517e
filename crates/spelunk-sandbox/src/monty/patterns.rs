//! Regular expressions in cells. The interpreter's engine uses Rust's syntax, so each pattern is parsed as
//! Python does and rewritten for it. Patterns that may match the empty string are searched here, because
//! after an empty match Python continues at a different position than the engine.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use fancy_regex::{Captures, Regex, RegexBuilder};
use monty::ReplFunctionCall;
use monty_types::{ExcType, ExtFunctionResult, MontyException, MontyObject, ObjectRef};
use spelunk_re::{Assertion, Emitter, Flags, Node, Parsed, PatternFault, Replacement, Target};

/// The size of the cache; a full one is cleared.
const PATTERNS_MAX: usize = 256;
const COMPILED_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The most backtracking steps of one search; more would take too long.
const BACKTRACKS_MAX: usize = 5_000_000;
const MATCHES_MAX: usize = 2_000_000;

#[derive(Debug, Default)]
pub(super) struct Patterns {
    compiled: HashMap<Use, Arc<Compiled>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Use {
    pattern: String,
    flags: u64,
    how: How,
    ends_line: bool,
}

/// Where the first match may be: anywhere, at the position, or from there to the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum How {
    Search,
    Match,
    FullMatch,
}

#[derive(Debug)]
struct Compiled {
    search: Regex,
    /// Finds a non-empty match at the position; present only if an empty one may be preferred.
    longer: Option<Regex>,
}

impl Patterns {
    /// `(pattern, flags)`: the pattern for the interpreter's engine, for texts without and with a final newline
    /// (`None` if equal), Python's flags, the group names, whether all matches are searched here because one may be
    /// empty, and whether the first is, too: the engine supports either names or numbered references.
    pub(super) fn written(call: &ReplFunctionCall) -> ExtFunctionResult {
        let (pattern, flags) = pattern_and_flags(call);
        let parsed = match parsed(&pattern, flags) {
            Ok(parsed) => parsed,
            Err(fault) => return refused(&fault),
        };
        let is_reference = |node: &Node| matches!(node, Node::Backref { .. } | Node::Condition { .. });
        let has_both = !parsed.names.is_empty() && parsed.node.any(&is_reference);
        let shown: &[(String, usize)] = if has_both { &[] } else { parsed.names.as_slice() };
        let is_linear = is_linear(&parsed.node);
        let plain = source(&parsed, shown, if is_linear { Target::Linear } else { Target::Backtracking });
        let before_newline = (is_linear && parsed.node.has_dollar())
            .then(|| MontyObject::string(source(&parsed, shown, Target::Backtracking)));
        let names = parsed.names.iter().map(|(name, idx)| (MontyObject::string(name), number(*idx)));
        ExtFunctionResult::Return(MontyObject::tuple([
            MontyObject::string(plain),
            before_newline.unwrap_or_else(MontyObject::none),
            MontyObject::int(i64::try_from(parsed.python_flags().to_python()).unwrap_or(0)),
            number(parsed.n_groups - 1),
            MontyObject::dict(names.collect::<Vec<_>>()),
            MontyObject::bool(has_both || parsed.node.may_be_empty()),
            MontyObject::bool(has_both),
        ]))
    }

    /// `(pattern, flags, template)`: a replacement as the interpreter reads it.
    pub(super) fn template(call: &ReplFunctionCall) -> ExtFunctionResult {
        let (pattern, flags) = pattern_and_flags(call);
        let template = text_of(call.args.arg(2));
        match parsed(&pattern, flags).and_then(|parsed| Replacement::parse(&template, &parsed)) {
            Ok(replacement) => ExtFunctionResult::Return(MontyObject::string(replacement.template())),
            Err(fault) => refused(&fault),
        }
    }

    /// `(pattern, flags, text, n_max, how, start)`: the matches from a character on, each with the text before it, its
    /// groups and their spans, and the text after the last one.
    pub(super) fn matches(&mut self, call: &ReplFunctionCall) -> ExtFunctionResult {
        let (pattern, flags) = pattern_and_flags(call);
        let text = call.args.arg(2);
        let text = text.as_ref().and_then(ObjectRef::as_str).unwrap_or_default();
        let number = |idx| call.args.arg(idx).and_then(|n| usize::try_from(n.as_int()?).ok()).unwrap_or(0);
        let (n_max, start) = (number(3), number(5));
        let how = match text_of(call.args.arg(4)).as_str() {
            "match" => How::Match,
            "fullmatch" => How::FullMatch,
            _ => How::Search,
        };
        let compiled = match self.compiled(Use { pattern, flags, how, ends_line: text.ends_with('\n') }) {
            Ok(compiled) => compiled,
            Err(fault) => return refused(&fault),
        };
        match walk(&compiled, text, start, if n_max == 0 { usize::MAX } else { n_max }) {
            Ok(found) => ExtFunctionResult::Return(found),
            Err(error) => ExtFunctionResult::Error(error),
        }
    }

    fn compiled(&mut self, used: Use) -> Result<Arc<Compiled>, PatternFault> {
        if let Some(compiled) = self.compiled.get(&used) {
            return Ok(Arc::clone(compiled));
        }
        let parsed = parsed(&used.pattern, used.flags)?;
        let node = &parsed.node;
        let is_linear = is_linear(node) && !(used.ends_line && node.has_dollar());
        let source = source(&parsed, &[], if is_linear { Target::Linear } else { Target::Backtracking });
        let longer =
            node.may_prefer_empty().then(|| build(&format!("\\G(?:{source})(?!\\G)"))).transpose()?;
        let source = match used.how {
            How::Search => source,
            How::Match => format!("\\G(?:{source})"),
            How::FullMatch => format!("\\G(?:{source})\\z"),
        };
        let compiled = Arc::new(Compiled { search: build(&source)?, longer });
        if self.compiled.len() >= PATTERNS_MAX {
            self.compiled.clear();
        }
        self.compiled.insert(used, Arc::clone(&compiled));
        Ok(compiled)
    }
}

/// Whether the engine needs no backtracking. It has no ASCII word boundaries.
fn is_linear(node: &Node) -> bool {
    let is_ascii_boundary =
        |node: &Node| matches!(node, Node::Assertion(Assertion::Boundary { ascii: true, .. }));
    !node.needs_backtracking() && !node.any(&is_ascii_boundary)
}

fn parsed(pattern: &str, flags: u64) -> Result<Parsed, PatternFault> {
    spelunk_re::parse(pattern, Flags::from_python(flags))
}

fn source(parsed: &Parsed, names: &[(String, usize)], target: Target) -> String {
    Emitter { target, words: parsed.node.words(), names }.pattern(&parsed.node)
}

fn build(source: &str) -> Result<Regex, PatternFault> {
    let mut builder = RegexBuilder::new(source);
    let built = builder.backtrack_limit(BACKTRACKS_MAX).delegate_size_limit(COMPILED_BYTES_MAX).build();
    built.map_err(|_| PatternFault::plain("the pattern is not supported: simplify it"))
}

/// All matches in the order and number that Python finds them.
fn walk(compiled: &Compiled, text: &str, start: usize, n_max: usize) -> Result<MontyObject, MontyException> {
    let mut found = Vec::new();
    let mut offsets = Offsets { text, is_ascii: text.is_ascii(), at: (0, 0) };
    let start = text.char_indices().nth(start).map_or(text.len(), |(byte, _)| byte);
    let (mut at, mut is_behind_empty) = (start, false);
    while found.len() < n_max {
        let Some(captures) = next_match(compiled, text, at, is_behind_empty)? else { break };
        let Some(whole) = captures.get(0).map(|whole| whole.range()) else { break };
        if found.len() >= MATCHES_MAX {
            let what = format!("the pattern has more than {MATCHES_MAX} matches: search one slice at a time");
            return Err(MontyException::new(ExcType::MemoryError, Some(what)));
        }
        let before = text.get(at..whole.start).unwrap_or_default();
        offsets.move_to(whole.start);
        found.push(one(before, &captures, &offsets));
        (at, is_behind_empty) = (whole.end, whole.is_empty());
    }
    let rest = text.get(at..).unwrap_or_default();
    Ok(MontyObject::tuple([MontyObject::list(found), MontyObject::string(rest)]))
}

/// The next match from a position. After an empty match, only a longer one may begin at the same position.
fn next_match<'t>(
    compiled: &Compiled,
    text: &'t str,
    at: usize,
    is_behind_empty: bool,
) -> Result<Option<Captures<'t>>, MontyException> {
    let gave_up = |_| {
        let what = "the pattern backtracks too much on this text: simplify it";
        MontyException::new(ExcType::RePatternError, Some(what.to_owned()))
    };
    if !is_behind_empty {
        return compiled.search.captures_from_pos(text, at).map_err(gave_up);
    }
    if let Some(longer) = &compiled.longer
        && let Some(found) = longer.captures_from_pos(text, at).map_err(gave_up)?
    {
        return Ok(Some(found));
    }
    let Some(passed) = text.get(at..).and_then(|rest| rest.chars().next()) else { return Ok(None) };
    compiled.search.captures_from_pos(text, at + passed.len_utf8()).map_err(gave_up)
}

fn one(before: &str, captures: &Captures<'_>, offsets: &Offsets<'_>) -> MontyObject {
    let texts = captures
        .iter()
        .map(|group| group.map_or_else(MontyObject::none, |group| MontyObject::string(group.as_str())));
    let spans = captures.iter().map(|group| match group {
        Some(group) => offsets.span(&group.range()),
        None => MontyObject::tuple([MontyObject::int(-1), MontyObject::int(-1)]),
    });
    MontyObject::tuple([MontyObject::string(before), MontyObject::list(texts), MontyObject::list(spans)])
}

/// Converts byte offsets to character offsets, counting from a position that only moves forward.
struct Offsets<'t> {
    text: &'t str,
    is_ascii: bool,
    /// In bytes and in characters.
    at: (usize, usize),
}

impl Offsets<'_> {
    fn move_to(&mut self, byte: usize) {
        self.at = (byte, self.char_at(byte));
    }

    fn char_at(&self, byte: usize) -> usize {
        if self.is_ascii {
            return byte;
        }
        let count = |range: Range<usize>| self.text.get(range).unwrap_or_default().chars().count();
        if byte >= self.at.0 {
            self.at.1 + count(self.at.0..byte)
        } else {
            self.at.1 - count(byte..self.at.0)
        }
    }

    fn span(&self, bytes: &Range<usize>) -> MontyObject {
        MontyObject::tuple([number(self.char_at(bytes.start)), number(self.char_at(bytes.end))])
    }
}

fn pattern_and_flags(call: &ReplFunctionCall) -> (String, u64) {
    let flags = call.args.arg(1).and_then(|flags| flags.as_int()).unwrap_or(0);
    (text_of(call.args.arg(0)), flags.unsigned_abs())
}

pub(super) fn text_of(value: Option<ObjectRef<'_>>) -> String {
    value.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
}

fn number(n: usize) -> MontyObject {
    MontyObject::int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn refused(fault: &PatternFault) -> ExtFunctionResult {
    ExtFunctionResult::Error(MontyException::new(ExcType::RePatternError, Some(fault.to_string())))
}
