//! sed: the forms that are one command: lines by number or pattern printed or left out, and one text for another. Whatever
//! takes more is left to the interpreter.

use memchr::memchr;

use super::Wants;
use super::options::{Options, count};
use super::pattern::{Backslash, Manner, Pattern, Syntax};
use super::text::{Input, Output, n_lines, part, start_of_line};

/// What a command asks for.
#[derive(Debug)]
pub(super) struct Sed {
    files: Vec<String>,
    act: Act,
}

#[derive(Debug)]
enum Act {
    /// `-n A,Bp`: these lines, from 0; the end is behind the last.
    Print { first: usize, end: usize },
    /// `Aq`: up to this line.
    Quit { end: usize },
    /// `A,Bd`.
    Leave { first: usize, end: usize },
    /// `s/…/…/`, on every line.
    Replace { pattern: Box<Pattern>, by: Vec<Part>, every: bool },
}

/// A part of what is put in the place of a match.
#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Match,
}

impl Sed {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "nEr", "e")?;
        let mut files = options.files();
        let script = match options.value('e')? {
            Some(script) => script.to_owned(),
            None if files.is_empty() => return None,
            None => files.remove(0),
        };
        let syntax = if options.has('E') || options.has('r') { Syntax::Extended } else { Syntax::Basic };
        let act = match (script.strip_prefix('s'), options.has('n')) {
            (Some(rest), false) => substitution(rest, syntax)?,
            (None, is_silent) => by_number(&script, is_silent)?,
            (Some(_), true) => return None,
        };
        Some(Self { files, act })
    }
}

impl super::Filter for Sed {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn n_pattern_parts(&self) -> u64 {
        match &self.act {
            Act::Replace { pattern, .. } => pattern.n_parts(),
            Act::Print { .. } | Act::Quit { .. } | Act::Leave { .. } => 0,
        }
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        // Lines are counted through all files, and the last of them may have no end: one file is plain.
        let [input] = inputs else { return None };
        let bytes = input.bytes;
        match &self.act {
            Act::Print { first, end } => out.push(between(bytes, *first, *end)),
            Act::Quit { end } => {
                let shown = between(bytes, 0, *end);
                // Where it quits at a line without an end, it gives it one.
                if n_lines(shown) == *end && !shown.ends_with(b"\n") {
                    return None;
                }
                out.push(shown)
            }
            Act::Leave { first, end } => {
                let (from, to) = places(bytes, *first, *end);
                out.reserve(bytes.len());
                out.push(part(bytes, 0, from))?;
                out.push(part(bytes, to, bytes.len()))
            }
            Act::Replace { pattern, by, every } => {
                if !pattern.suits(bytes) {
                    return None;
                }
                pattern.spend(bytes.len(), &mut out.work)?;
                out.reserve(bytes.len() + bytes.len() / 8);
                replace(bytes, pattern, by, *every, out)
            }
        }
    }
}

fn places(bytes: &[u8], first: usize, end: usize) -> (usize, usize) {
    let from = start_of_line(bytes, first);
    let rest = part(bytes, from, bytes.len());
    let to =
        if end == usize::MAX { bytes.len() } else { from + start_of_line(rest, end.saturating_sub(first)) };
    (from, to)
}

fn between(bytes: &[u8], first: usize, end: usize) -> &[u8] {
    let (from, to) = places(bytes, first, end);
    part(bytes, from, to)
}

fn replace(bytes: &[u8], pattern: &Pattern, by: &[Part], every: bool, out: &mut Output) -> Option<()> {
    let (mut done, mut at) = (0, 0);
    while let Some((start, end)) = pattern.find(bytes, at) {
        // Edges of words can match nothing in the middle of a line, and what becomes of that is the interpreter's.
        if start == end {
            return None;
        }
        out.push(part(bytes, done, start))?;
        done = end;
        for piece in by {
            match piece {
                Part::Text(text) => out.push(text)?,
                Part::Match => out.push(part(bytes, start, end))?,
            }
        }
        at = end;
        if !every {
            match memchr(b'\n', part(bytes, end, bytes.len())) {
                Some(line_end) => at = end + line_end + 1,
                None => break,
            }
        }
    }
    out.push(part(bytes, done, bytes.len()))
}

/// `5p`, `5,10p`, `5,$p`, `5d`, `5q` and the like.
fn by_number(script: &str, is_silent: bool) -> Option<Act> {
    let (address, letter) = script.split_at_checked(script.len().checked_sub(1)?)?;
    let (first, last) = match address.split_once(',') {
        None => (count(address)?, count(address)?),
        Some((first, "$")) => (count(first)?, usize::MAX),
        Some((first, last)) => (count(first)?, count(last)?),
    };
    // Line 0 is an error, and an end before the start means the start alone.
    if first == 0 || last < first {
        return None;
    }
    match (letter, is_silent) {
        ("p", true) => Some(Act::Print { first: first - 1, end: last }),
        ("d", false) => Some(Act::Leave { first: first - 1, end: last }),
        ("q", false) if first == last && !address.contains(',') => Some(Act::Quit { end: last }),
        _ => None,
    }
}

/// The rest of `s/old/new/g`.
fn substitution(rest: &str, syntax: Syntax) -> Option<Act> {
    let delimiter = rest.chars().next().filter(|c| matches!(c, '/' | '|' | ',' | '#' | ':' | '@'))?;
    let mut parts = rest.get(1..)?.split(delimiter);
    let (old, new, flags) = (parts.next()?, parts.next()?, parts.next()?);
    // A delimiter may stand in a bracket or behind a backslash: then there are more parts, or one ends in a backslash.
    if parts.next().is_some()
        || old.is_empty()
        || old.ends_with('\\')
        || new.ends_with('\\')
        || old.contains('\n')
    {
        return None;
    }
    // Where the delimiter is a sign of the pattern, what it means inside is an open question.
    if delimiter != '/' && old.contains('\\') {
        return None;
    }
    let every = match flags {
        "" => false,
        "g" => true,
        _ => return None,
    };
    let in_brackets = Backslash::Escape;
    let manner = Manner { syntax, ignore_case: false, whole_line: false, in_brackets };
    let pattern = Pattern::compile(old, manner)?;
    // What can match nothing is put in places of its own.
    if !pattern.is_longest || pattern.regex.is_match(b"") {
        return None;
    }
    Some(Act::Replace { pattern: Box::new(pattern), by: replacement(new)?, every })
}

fn replacement(new: &str) -> Option<Vec<Part>> {
    let (mut parts, mut text, mut chars) = (Vec::new(), String::new(), new.chars());
    while let Some(c) = chars.next() {
        match c {
            '&' => {
                parts.push(Part::Text(std::mem::take(&mut text).into_bytes()));
                parts.push(Part::Match);
            }
            '\\' => match chars.next()? {
                c @ ('&' | '\\' | '/' | '.') => text.push(c),
                'n' => text.push('\n'),
                't' => text.push('\t'),
                _ => return None,
            },
            '\n' => return None,
            c => text.push(c),
        }
    }
    parts.push(Part::Text(text.into_bytes()));
    Some(parts)
}
