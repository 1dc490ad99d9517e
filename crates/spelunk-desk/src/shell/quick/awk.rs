//! awk: the one form that is written all the time, fields of the lines that match. Everything else of the language is left to
//! the interpreter.

use memchr::memchr;

use super::Wants;
use super::options::{Options, count};
use super::pattern::{Manner, Pattern, Syntax};
use super::text::{Input, Output, lines};

const FIELDS_MAX: usize = 1000;

/// What a command asks for.
#[derive(Debug)]
pub(super) struct Awk {
    files: Vec<String>,
    separator: Option<u8>,
    condition: Condition,
    /// What is printed of a line; nothing for all of it.
    items: Vec<Item>,
}

#[derive(Debug)]
enum Condition {
    Always,
    Matches(Pattern),
    /// Lines from the first to before the end, counted from 1.
    Lines {
        first: usize,
        end: usize,
    },
}

#[derive(Debug)]
enum Item {
    Line,
    /// From 0.
    Field(usize),
    LastField,
    LineNumber,
    FieldCount,
    Text(String),
}

impl Awk {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "", "F")?;
        let separator = match options.value('F')?.map(str::as_bytes) {
            None => None,
            Some(b"\\t" | b"\t") => Some(b'\t'),
            Some([byte]) if byte.is_ascii_punctuation() && *byte != b'\\' => Some(*byte),
            Some(_) => return None,
        };
        let mut files = options.files();
        let program = if files.is_empty() { return None } else { files.remove(0) };
        // An assignment may stand between the files.
        if files.iter().any(|name| name.contains('=')) {
            return None;
        }
        let (condition, rest) = condition(program.trim())?;
        let is_all = rest.is_empty() && !matches!(condition, Condition::Always);
        let items = if is_all { Vec::new() } else { items(rest)? };
        Some(Self { files, separator, condition, items })
    }

    fn is_wanted(&self, line: &[u8], number: usize) -> bool {
        match &self.condition {
            Condition::Always => true,
            Condition::Matches(pattern) => pattern.regex.is_match(line),
            Condition::Lines { first, end } => (*first..*end).contains(&number),
        }
    }

    fn print(&self, line: &[u8], number: usize, out: &mut Output) -> Option<()> {
        if self.items.is_empty() {
            return out.push_line(line);
        }
        for (idx, item) in self.items.iter().enumerate() {
            if idx > 0 {
                out.push(b" ")?;
            }
            match item {
                Item::Line => out.push(line)?,
                Item::Field(field) => {
                    out.push(fields(line, self.separator).nth(*field).unwrap_or_default())?;
                }
                Item::LastField => out.push(fields(line, self.separator).last().unwrap_or_default())?,
                Item::LineNumber => out.push(number.to_string().as_bytes())?,
                Item::FieldCount => {
                    out.push(fields(line, self.separator).count().to_string().as_bytes())?;
                }
                Item::Text(text) => out.push(text.as_bytes())?,
            }
        }
        out.push(b"\n")
    }
}

impl super::Filter for Awk {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        let mut number = 0;
        for input in inputs {
            // Which of the other spaces part fields, and what a character is, differs.
            let is_plain = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n');
            if !input.bytes.iter().all(is_plain) {
                return None;
            }
            for line in lines(input.bytes) {
                number += 1;
                if self.is_wanted(line, number) {
                    self.print(line, number, out)?;
                }
            }
        }
        Some(())
    }
}

/// The fields of a line: between separators, or between blanks.
fn fields(line: &[u8], separator: Option<u8>) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line).filter(|line| !line.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(separator) = separator else {
            let n_blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let text = text.get(n_blanks..).filter(|text| !text.is_empty())?;
            let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(text.len());
            let (field, behind) = text.split_at(end);
            rest = Some(behind);
            return Some(field);
        };
        let end = memchr(separator, text);
        rest = end.and_then(|end| text.get(end + 1..));
        text.get(..end.unwrap_or(text.len()))
    })
}

/// `/pattern/`, `NR == 3` and the like, and what stands behind it.
fn condition(program: &str) -> Option<(Condition, &str)> {
    if let Some(rest) = program.strip_prefix('/') {
        let (pattern, rest) = rest.split_once('/')?;
        // A slash behind a backslash, or in a bracket, is part of the pattern.
        if pattern.is_empty()
            || pattern.contains(['\\', '[']) && rest.contains('/')
            || pattern.ends_with('\\')
        {
            return None;
        }
        let manner = Manner { syntax: Syntax::Extended, ignore_case: false, whole_line: false };
        return Some((Condition::Matches(Pattern::compile(pattern, manner)?), rest.trim()));
    }
    let Some(rest) = program.strip_prefix("NR") else { return Some((Condition::Always, program)) };
    let (test, rest) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
    let test = test.trim();
    let number = |sign: &str| test.strip_prefix(sign).map(str::trim).and_then(count);
    let (first, end) = if let Some(line) = number("==") {
        (line, line + 1)
    } else if let Some(line) = number(">=") {
        (line, usize::MAX)
    } else if let Some(line) = number("<=") {
        (0, line + 1)
    } else if let Some(line) = number(">") {
        (line + 1, usize::MAX)
    } else {
        (0, number("<")?)
    };
    Some((Condition::Lines { first, end }, rest))
}

/// What `{print …}` prints.
fn items(action: &str) -> Option<Vec<Item>> {
    let inner = action.strip_prefix('{')?.strip_suffix('}')?.trim().trim_end_matches(';').trim();
    let list = inner.strip_prefix("print")?;
    if list.trim().is_empty() {
        return Some(vec![Item::Line]);
    }
    // `printf`, and what else begins like it.
    if !list.starts_with([' ', '$', '"']) {
        return None;
    }
    list.split(',').map(|item| one(item.trim())).collect()
}

fn one(item: &str) -> Option<Item> {
    match item {
        "$0" => return Some(Item::Line),
        "$NF" => return Some(Item::LastField),
        "NR" => return Some(Item::LineNumber),
        "NF" => return Some(Item::FieldCount),
        _ => {}
    }
    if let Some(field) = item.strip_prefix('$') {
        return count(field)?.checked_sub(1).filter(|field| *field < FIELDS_MAX).map(Item::Field);
    }
    let text = item.strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = !text.contains(['"', '\\', '\n']);
    is_plain.then(|| Item::Text(text.to_owned()))
}
