//! Parser for Python's pattern language, equivalent to Python 3.11: it accepts the same patterns, and an invalid one
//! gets the same message at the same position. Written against the behaviour of `re`, which is the reference.

mod escape;
mod group;
mod set;
mod source;

pub(crate) use self::escape::{Digits, digits, octal, simple};
pub(crate) use self::group::is_identifier;
pub(crate) use self::source::{Source, Token};
use crate::ast::{Assertion, Category, Fold, Item, Kind, Node, Width};
use crate::{Flags, PatternFault};

/// The maximum nesting depth of groups: it bounds the parser's recursion.
const NEST_MAX: usize = 100;

/// Python's own limit is higher, but no realistic pattern comes close.
const GROUPS_MAX: usize = 1000;

/// A parsed pattern.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The syntax tree.
    pub node: Node,
    /// The given flags, and those set in the pattern.
    pub flags: Flags,
    /// The number of groups, including group 0.
    pub n_groups: usize,
    /// Names of groups with their numbers, in order.
    pub names: Vec<(String, usize)>,
}

impl Parsed {
    /// Python's `flags` of a pattern: `U` unless it has `A`.
    pub fn python_flags(&self) -> Flags {
        if self.flags.has(Flags::ASCII) { self.flags } else { self.flags.with(Flags::UNICODE) }
    }
}

/// Parses a pattern.
pub fn parse(pattern: &str, flags: Flags) -> Result<Parsed, PatternFault> {
    let mut parser = Parser {
        source: Source::new(pattern)?,
        flags,
        widths: vec![None],
        names: Vec::new(),
        behind_from: None,
        conditions: Vec::new(),
    };
    let node = parser.alternation(Scope { flags, depth: 0 })?;
    let flags = parser.flags;
    if flags.has(Flags::LOCALE) {
        return Err(PatternFault::plain("cannot use LOCALE flag with a str pattern"));
    }
    if flags.has(Flags::ASCII) && flags.has(Flags::UNICODE) {
        return Err(PatternFault::plain("ASCII and UNICODE flags are incompatible"));
    }
    if parser.source.next().is_some() {
        return Err(parser.source.fault("unbalanced parenthesis", 0));
    }
    let n_groups = parser.widths.len();
    if let Some((idx, position)) = parser.conditions.iter().find(|(idx, _)| *idx >= n_groups) {
        return Err(parser.source.fault_at(format!("invalid group reference {idx}"), *position));
    }
    Ok(Parsed { node, flags, n_groups, names: parser.names })
}

/// The flags and the nesting depth inside a group.
#[derive(Debug, Clone, Copy)]
struct Scope {
    flags: Flags,
    depth: usize,
}

impl Scope {
    fn has(self, flag: Flags) -> bool {
        self.flags.has(flag)
    }

    fn fold(self) -> Fold {
        match (self.has(Flags::IGNORE_CASE), self.has(Flags::ASCII)) {
            (false, _) => Fold::Exact,
            (true, true) => Fold::Ascii,
            (true, false) => Fold::Unicode,
        }
    }

    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn char(self, c: char) -> Node {
        Node::Char { c, fold: self.fold() }
    }
}

struct Parser {
    source: Source,
    /// Of the whole pattern.
    flags: Flags,
    /// The width of each group; `None` while it is open.
    widths: Vec<Option<Width>>,
    names: Vec<(String, usize)>,
    /// In a look-behind, the number of groups before it.
    behind_from: Option<usize>,
    /// Groups that conditions refer to, and the position of the reference.
    conditions: Vec<(usize, usize)>,
}

impl Parser {
    /// `a|b|c`, up to the end or a closing parenthesis.
    fn alternation(&mut self, scope: Scope) -> Result<Node, PatternFault> {
        if scope.depth > NEST_MAX {
            return Err(self.source.fault(format!("groups nested more than {NEST_MAX} deep"), 0));
        }
        let mut scope = scope;
        let mut branches = Vec::new();
        loop {
            let is_first = scope.depth == 0 && branches.is_empty();
            branches.push(self.sequence(&mut scope, is_first)?);
            if !self.source.take('|')? {
                break;
            }
        }
        Ok(match branches.len() {
            1 => branches.swap_remove(0),
            _ => Node::Alt(branches),
        })
    }

    /// The part between two bars. `is_first` is set at the very beginning, where global flags are allowed.
    fn sequence(&mut self, scope: &mut Scope, is_first: bool) -> Result<Node, PatternFault> {
        let mut nodes = Vec::new();
        while let Some(token) = self.source.next() {
            if matches!(token, Token::Char('|' | ')')) {
                break;
            }
            self.source.advance()?;
            let by_line = scope.has(Flags::MULTI_LINE);
            let node = match token {
                Token::Escape(c) => self.escape(c, *scope)?,
                Token::Char(c) if scope.has(Flags::VERBOSE) && self.skip_verbose(c)? => continue,
                Token::Char('[') => self.set(*scope)?,
                Token::Char(c @ ('?' | '*' | '+' | '{')) => self.repeat(c, *scope, &mut nodes)?,
                Token::Char('.') => Node::Any { newline: scope.has(Flags::DOT_ALL) },
                Token::Char('(') => match self.group(scope, is_first && nodes.is_empty())? {
                    Some(group) => group,
                    None => continue,
                },
                Token::Char('^') if by_line => Node::Assertion(Assertion::LineStart),
                Token::Char('^') => Node::Assertion(Assertion::TextStart),
                Token::Char('$') if by_line => Node::Assertion(Assertion::LineEnd),
                Token::Char('$') => Node::Assertion(Assertion::Dollar),
                Token::Char(c) => scope.char(c),
            };
            nodes.push(node);
        }
        Ok(match nodes.len() {
            1 => nodes.swap_remove(0),
            _ => Node::Concat(nodes),
        })
    }

    /// Skips whitespace and comments of a verbose pattern; returns whether it skipped something.
    fn skip_verbose(&mut self, c: char) -> Result<bool, PatternFault> {
        match c {
            ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c' => Ok(true),
            '#' => {
                while self.source.get()?.is_some_and(|token| token != Token::Char('\n')) {}
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn repeat(&mut self, c: char, scope: Scope, nodes: &mut Vec<Node>) -> Result<Node, PatternFault> {
        let here = self.source.tell();
        let (min, max) = match c {
            '?' => (0, Some(1)),
            '*' => (0, None),
            '+' => (1, None),
            _ => match self.counts(here)? {
                Some(counts) => counts,
                None => return Ok(scope.char('{')),
            },
        };
        let back = self.source.tell() - here + 1;
        let last = match nodes.pop() {
            None | Some(Node::Assertion(_)) => return Err(self.source.fault("nothing to repeat", back)),
            Some(Node::Repeat { .. }) => return Err(self.source.fault("multiple repeat", back)),
            Some(last) => last,
        };
        let kind = if self.source.take('?')? {
            Kind::Lazy
        } else if self.source.take('+')? {
            Kind::Possessive
        } else {
            Kind::Greedy
        };
        Ok(Node::Repeat { node: Box::new(last), min, max, kind })
    }

    /// `{2}`, `{2,}`, `{,3}` or `{2,3}` after its brace; `None` if the brace is literal.
    fn counts(&mut self, here: usize) -> Result<Option<(u32, Option<u32>)>, PatternFault> {
        if self.source.next() == Some(Token::Char('}')) {
            return Ok(None);
        }
        let low = self.source.take_while(usize::MAX, |c| c.is_ascii_digit())?;
        let high = if self.source.take(',')? {
            self.source.take_while(usize::MAX, |c| c.is_ascii_digit())?
        } else {
            low.clone()
        };
        if !self.source.take('}')? {
            self.source.seek(here)?;
            return Ok(None);
        }
        let number = |digits: &str| {
            let too_large = PatternFault::plain("the repetition number is too large");
            digits.parse::<u32>().ok().filter(|number| *number < u32::MAX).ok_or(too_large)
        };
        let min = if low.is_empty() { 0 } else { number(&low)? };
        let max = if high.is_empty() { None } else { Some(number(&high)?) };
        if max.is_some_and(|max| max < min) {
            let back = self.source.tell() - here;
            return Err(self.source.fault("min repeat greater than max repeat", back));
        }
        Ok(Some((min, max)))
    }

    fn group_width(&self, idx: usize) -> Option<Width> {
        self.widths.get(idx).copied().flatten()
    }

    /// Checks that a group may be referenced from here: in a look-behind, only one that closed before it.
    fn check_behind(&self, idx: usize) -> Result<(), PatternFault> {
        let Some(behind_from) = self.behind_from else { return Ok(()) };
        if self.group_width(idx).is_none() {
            return Err(self.source.fault("cannot refer to an open group", 0));
        }
        if idx >= behind_from {
            let message = "cannot refer to group defined in the same lookbehind subpattern";
            return Err(self.source.fault(message, 0));
        }
        Ok(())
    }
}
