//! Patterns of grep and sed as regular expressions of ours. Only what means the same in both is translated: no back
//! references, no repetition of a repetition, nothing that POSIX leaves open. All of it is matched against many lines at
//! once, so nothing here may match the end of a line.

mod cost;
mod simple;

use std::iter::Peekable;
use std::str::Chars;

use regex::bytes::{Regex, RegexBuilder};

use self::cost::{Cost, Costs};
use self::simple::{Simple, SimpleText, Simplicity};
use super::text::all_bytes;
use super::work::Work;

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Basic,
    Extended,
    Fixed,
}

/// The largest pattern, compiled.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;
const PATTERN_BYTES_MAX: usize = 1000;
const REPEATED_MAX: u32 = 255;

/// A pattern that can be searched for.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// The same without a regular expression, where it is so simple.
    simple: Option<Simple>,
    /// Whether the first match found is as long as any: the tools want the longest, ours gives the first.
    pub(super) is_longest: bool,
    /// Whether it means the same on text beyond ASCII.
    pub(super) is_for_any_text: bool,
    cost: Cost,
}

/// How a pattern is held against lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) syntax: Syntax,
    pub(super) ignore_case: bool,
    pub(super) whole_line: bool,
    pub(super) in_brackets: Backslash,
}

/// What a backslash in a bracket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backslash {
    /// One of the set, as to grep.
    Member,
    /// The beginning of an escape, as to sed, which reads `[ \t]` as a blank and a tab.
    Escape,
}

impl Pattern {
    pub(super) fn compile(pattern: &str, manner: Manner) -> Option<Self> {
        if pattern.len() > PATTERN_BYTES_MAX || pattern.contains(['\n', '\0']) {
            return None;
        }
        let translated = match manner.syntax {
            Syntax::Fixed => Translated {
                regex: regex::escape(pattern),
                is_longest: true,
                is_for_any_text: true,
                simple: Some(SimpleText::new(pattern)),
                cost: Cost::of_text(pattern),
            },
            Syntax::Basic | Syntax::Extended => translate(pattern, manner)?,
        };
        let text = if manner.whole_line { format!("^(?:{})$", translated.regex) } else { translated.regex };
        let mut builder = RegexBuilder::new(&text);
        builder.multi_line(true).case_insensitive(manner.ignore_case).size_limit(COMPILED_BYTES_MAX);
        let is_exact = !manner.ignore_case && !manner.whole_line;
        let simple = translated.simple.filter(|simple| is_exact && !simple.is_empty());
        Some(Self {
            regex: builder.build().ok()?,
            simple: simple.map(Simple::new),
            is_longest: translated.is_longest || manner.whole_line,
            is_for_any_text: translated.is_for_any_text && !manner.ignore_case,
            cost: translated.cost,
        })
    }

    /// How many parts it is made of.
    pub(super) fn n_parts(&self) -> u64 {
        self.cost.n_parts()
    }

    /// Takes what it needs to search a text of this size.
    pub(super) fn spend(&self, n_bytes: usize, work: &mut Work) -> Option<()> {
        let n_times = if self.simple.is_some() { 1 } else { self.cost.n_times() };
        work.spend_bytes(n_bytes, n_times)
    }

    /// Whether it can be held against this text: one without zeros, in UTF-8, and ASCII where letters are more than bytes.
    pub(super) fn suits(&self, bytes: &[u8]) -> bool {
        let is_plain = all_bytes(bytes, |byte| byte.wrapping_sub(1) < 127);
        let is_text = || memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok();
        is_plain || (self.is_for_any_text && is_text())
    }

    /// The first match from a place on.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        match &self.simple {
            Some(simple) => simple.find(bytes, from),
            None => self.regex.find_at(bytes, from).map(|found| (found.start(), found.end())),
        }
    }

    /// A place in the first line that matches from a place on: anywhere in it, or at its end.
    pub(super) fn find_line(&self, bytes: &[u8], from: usize) -> Option<usize> {
        match &self.simple {
            Some(simple) => simple.find(bytes, from).map(|(start, _)| start),
            None => self.regex.shortest_match_at(bytes, from),
        }
    }
}

struct Translated {
    cost: Cost,
    regex: String,
    is_longest: bool,
    is_for_any_text: bool,
    simple: Option<SimpleText>,
}

/// What a character of a pattern does.
enum Piece {
    Open,
    Close,
    Or,
    /// `*`, `+`, `?` or an interval, as a regular expression, and how many times it writes out what it repeats.
    Repeat(String, u32),
    Start,
    End,
    Char(char),
    /// A class of characters, and its bytes where it means the same for them.
    Class(String, Option<Box<[bool; 256]>>),
    /// The edge of a word, which has no width.
    Edge(&'static str),
}

fn translate(pattern: &str, manner: Manner) -> Option<Translated> {
    let mut reader = Reading {
        chars: pattern.chars().peekable(),
        is_extended: manner.syntax == Syntax::Extended,
        in_brackets: manner.in_brackets,
        place: Place::First,
        is_for_any_text: true,
    };
    let (mut regex, mut is_longest, mut depth) = (String::new(), true, 0_u32);
    // What a repetition would repeat: nothing yet, one thing, or a repetition.
    let mut repeatable = false;
    let mut simple = Simplicity::default();
    let mut costs = Costs::default();
    while let Some(piece) = reader.piece()? {
        simple = simple.with(&piece);
        costs.add(&piece);
        let (text, next) = match piece {
            Piece::Open => {
                depth += 1;
                is_longest = false;
                ("(?:".to_owned(), false)
            }
            Piece::Close => {
                depth = depth.checked_sub(1)?;
                (")".to_owned(), true)
            }
            Piece::Or => {
                is_longest = false;
                ("|".to_owned(), false)
            }
            Piece::Repeat(text, _) if repeatable => (text, false),
            Piece::Repeat(..) => return None,
            Piece::Start => ("^".to_owned(), false),
            Piece::End => ("$".to_owned(), false),
            Piece::Char(c) => (regex::escape(c.encode_utf8(&mut [0; 4])), true),
            Piece::Class(text, _) => (text, true),
            Piece::Edge(text) => (text.to_owned(), false),
        };
        regex.push_str(&text);
        repeatable = next;
    }
    // Empty groups and branches are left to who knows them.
    let has_gap = ["(?:)", "(?:|", "||", "|)"].iter().any(|gap| regex.contains(gap));
    let is_whole = depth == 0 && !has_gap && !regex.starts_with('|') && !regex.ends_with('|');
    let is_for_any_text = reader.is_for_any_text;
    let (simple, cost) = (simple.known(), costs.whole());
    is_whole.then_some(Translated { cost, regex, is_longest, is_for_any_text, simple })
}

/// A place in a branch of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    /// Behind the `^` that begins it.
    BehindStart,
    Later,
}

struct Reading<'a> {
    chars: Peekable<Chars<'a>>,
    is_extended: bool,
    in_brackets: Backslash,
    /// Where in its branch the next character stands.
    place: Place,
    is_for_any_text: bool,
}

impl Reading<'_> {
    /// The next piece, if any; nothing at all where the pattern is not plain.
    #[expect(clippy::option_option, reason = "the outer one is the refusal, the inner one the end")]
    fn piece(&mut self) -> Option<Option<Piece>> {
        let Some(c) = self.chars.next() else { return Some(None) };
        let place = std::mem::replace(&mut self.place, Place::Later);
        let piece = match c {
            '.' => Piece::Class(".".to_owned(), Some(Box::new(set_of(|byte| byte != b'\n')))),
            '[' => self.bracket()?,
            // `*` and `^*` of a basic pattern begin with a star.
            '*' if place != Place::Later && !self.is_extended => literal('*'),
            '*' => Piece::Repeat("*".to_owned(), 1),
            '^' if place == Place::First => {
                self.place = Place::BehindStart;
                Piece::Start
            }
            '^' if !self.is_extended => literal('^'),
            '$' if self.is_extended || self.chars.peek().is_none() => Piece::End,
            // `$` before `\)` or `\|` is an end as well.
            '$' if self.chars.peek() == Some(&'\\') => return None,
            '$' => literal('$'),
            '\\' => {
                let c = self.chars.next()?;
                self.escaped(c, place != Place::Later)?
            }
            '+' | '?' if self.is_extended => Piece::Repeat(c.to_string(), 1),
            '{' if self.is_extended => self.interval("}")?,
            '(' if self.is_extended => self.opened(),
            ')' if self.is_extended => Piece::Close,
            '|' if self.is_extended => self.or(),
            '^' => return None,
            c => literal(c),
        };
        Some(Some(piece))
    }

    fn opened(&mut self) -> Piece {
        self.place = Place::First;
        Piece::Open
    }

    fn or(&mut self) -> Piece {
        self.place = Place::First;
        Piece::Or
    }

    fn escaped(&mut self, c: char, is_first: bool) -> Option<Piece> {
        let is_basic = !self.is_extended;
        Some(match c {
            '(' if is_basic => self.opened(),
            ')' if is_basic => Piece::Close,
            '|' if is_basic => self.or(),
            '{' if is_basic && !is_first => self.interval("\\}")?,
            '+' | '?' if is_basic && !is_first => Piece::Repeat(c.to_string(), 1),
            'w' | 'W' | 's' | 'S' | 'b' | '<' | '>' => {
                self.is_for_any_text = false;
                match c {
                    'w' => Piece::Class("[0-9A-Za-z_]".to_owned(), None),
                    'W' => Piece::Class("[^0-9A-Za-z_\\n]".to_owned(), None),
                    's' => Piece::Class(format!("[{SPACES}]"), None),
                    'S' => Piece::Class(format!("[^{SPACES}\\n]"), None),
                    'b' => Piece::Edge("\\b"),
                    '<' => Piece::Edge("\\b{start}"),
                    _ => Piece::Edge("\\b{end}"),
                }
            }
            '.' | '*' | '[' | ']' | '^' | '$' | '\\' | '/' | '-' | '"' => literal(c),
            '(' | ')' | '|' | '{' | '}' | '+' | '?' if self.is_extended => literal(c),
            _ => return None,
        })
    }

    /// `{n}`, `{n,}` or `{n,m}`, up to its end.
    fn interval(&mut self, end: &str) -> Option<Piece> {
        let mut text = String::new();
        while !text.ends_with(end) {
            text.push(self.chars.next().filter(|_| text.len() < 16)?);
        }
        let inner = text.strip_suffix(end)?;
        let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n <= REPEATED_MAX);
        let (least, most) = match inner.split_once(',') {
            None => (number(inner)?, number(inner)?),
            Some((least, "")) => (number(least)?, number(least)?),
            Some((least, most)) => (number(least)?, number(most)?),
        };
        (least <= most).then(|| Piece::Repeat(format!("{{{inner}}}"), most.max(1)))
    }

    /// A bracket expression behind its `[`.
    fn bracket(&mut self) -> Option<Piece> {
        let is_negated = self.chars.next_if_eq(&'^').is_some();
        let mut class = String::from(if is_negated { "[^\\n" } else { "[" });
        let (mut is_first, mut members) = (true, Some([false; 256]));
        loop {
            let c = self.chars.next()?;
            match c {
                ']' if !is_first => break,
                // Of the escapes a tab alone is plain: no line holds an end, and few write the others.
                '\\' if self.in_brackets == Backslash::Escape => {
                    self.chars.next_if_eq(&'t').filter(|_| self.chars.peek() != Some(&'-'))?;
                    class.push('\t');
                    members = members.and_then(|members| with_range(members, '\t', RangeEnd::None));
                }
                '[' if matches!(self.chars.peek(), Some(':')) => {
                    members = None;
                    class.push_str(&self.named_class()?);
                }
                '[' if matches!(self.chars.peek(), Some('.' | '=')) => return None,
                c => {
                    push_in_class(&mut class, c);
                    let to = self.range(c, &mut class)?;
                    members = members.and_then(|members| with_range(members, c, to));
                }
            }
            is_first = false;
        }
        class.push(']');
        let set = members.map(|members| {
            let is_member = |byte: u8| members.get(usize::from(byte)).copied().unwrap_or_default();
            Box::new(set_of(|byte| is_member(byte) != is_negated && byte != b'\n'))
        });
        Some(Piece::Class(class, set))
    }

    /// The rest of a range, if `from` begins one; gives its end.
    fn range(&mut self, from: char, class: &mut String) -> Option<RangeEnd> {
        if self.chars.peek() != Some(&'-') {
            return Some(RangeEnd::None);
        }
        self.chars.next();
        match self.chars.peek() {
            // A last `-` is one.
            Some(']') => {
                push_in_class(class, '-');
                Some(RangeEnd::Dash)
            }
            Some(&to) => {
                self.chars.next();
                let is_escape = to == '\\' && self.in_brackets == Backslash::Escape;
                if to < from || to == '[' || from == '-' || is_escape {
                    return None;
                }
                class.push('-');
                push_in_class(class, to);
                Some(RangeEnd::To(to))
            }
            None => None,
        }
    }

    fn named_class(&mut self) -> Option<String> {
        self.chars.next();
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_lowercase) {
            name.push(c);
        }
        self.chars.next_if_eq(&':')?;
        self.chars.next_if_eq(&']')?;
        self.is_for_any_text = false;
        match name.as_str() {
            "space" => Some(SPACES.to_owned()),
            "alpha" | "digit" | "alnum" | "upper" | "lower" | "blank" | "punct" | "xdigit" => {
                Some(format!("[:{name}:]"))
            }
            _ => None,
        }
    }
}

/// Spaces within a line.
const SPACES: &str = "\\t\\x0B\\x0C\\r ";

fn literal(c: char) -> Piece {
    Piece::Char(c)
}

/// What follows a character in a bracket.
#[derive(Debug, Clone, Copy)]
enum RangeEnd {
    None,
    /// A `-` that stands for itself.
    Dash,
    To(char),
}

fn set_of(is_in: impl Fn(u8) -> bool) -> [bool; 256] {
    std::array::from_fn(|byte| u8::try_from(byte).is_ok_and(&is_in))
}

/// A set with more bytes in it; nothing where a character is more than one.
fn with_range(mut set: [bool; 256], from: char, to: RangeEnd) -> Option<[bool; 256]> {
    let last = match to {
        RangeEnd::To(to) => to,
        RangeEnd::None | RangeEnd::Dash => from,
    };
    if !from.is_ascii() || !last.is_ascii() {
        return None;
    }
    for c in from..=last {
        *set.get_mut(c as usize)? = true;
    }
    if matches!(to, RangeEnd::Dash) {
        *set.get_mut(usize::from(b'-'))? = true;
    }
    Some(set)
}

fn push_in_class(class: &mut String, c: char) {
    // The angles may not be escaped, and mean nothing in a class.
    if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
        class.push('\\');
    }
    class.push(c);
}
