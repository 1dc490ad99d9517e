//! How a document is cut into rows and cells: its form is told from its name and its first lines. What the cells mean is
//! nothing that is known here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::split::is_log_start;
use crate::split::table::{self, Rows, Shape};

/// Lines that say what form a document has.
const SAMPLE_LINES: usize = 200;
/// Of a hundred lines, those that must have the form.
const PERCENT_MIN: usize = 90;
/// Different words in one place of a log line, at most: more are no names of levels or services.
const WORDS_MAX: usize = 40;
/// Places behind the time that are looked at.
const PLACES_MAX: usize = 2;
/// Objects in objects are columns of their own down to this level.
const LEVELS_MAX: usize = 3;
const LEVELS: &[&str] = &[
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "FATAL", "CRITICAL", "SEVERE",
    "PANIC",
];

/// The names of columns, and what stands under them in one row.
type Cells<'t> = [(&'t str, &'t str)];
/// What is given the rows, each with its line.
type Take<'t> = dyn FnMut(u64, &Cells<'_>) + 't;

/// The form of a document.
pub(super) enum Format {
    /// Cells between signs, and a first row with their names.
    Table,
    /// An object on each line.
    JsonLines,
    /// Lines that begin with a time; the names of the words behind it, and the keys of `key=value`.
    Log { places: Vec<String>, keys: BTreeSet<String> },
    /// Lines with the same number of parts between signs, without names.
    Parts { delimiter: u8 },
}

/// Forms without what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    JsonLines,
    Log,
    Parts,
}

impl Format {
    pub(super) fn of(name: &str, text: &str) -> Option<Self> {
        let extension = Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let sample: Vec<&str> =
            text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).collect();
        if sample.len() < 2 {
            return None;
        }
        let most = |is_one: &dyn Fn(&str) -> bool| {
            sample.iter().filter(|line| is_one(line)).count() * 100 >= sample.len() * PERCENT_MIN
        };
        if most(&|line| line.starts_with('{') && object(line).is_some()) {
            return Some(Self::JsonLines);
        }
        if matches!(extension.as_str(), "csv" | "tsv" | "tab" | "psv") {
            return Some(Self::Table);
        }
        if most(&|line| time_of(line).is_some()) || (extension == "log" && most(&|line| is_start(line))) {
            return Some(log(&sample));
        }
        let parts = |delimiter: u8| {
            let width = |line: &str| line.bytes().filter(|&byte| byte == delimiter).count();
            let usual = width(sample[0]);
            (usual >= 2 && most(&|line| width(line) == usual)).then_some(Self::Parts { delimiter })
        };
        parts(b'|').or_else(|| parts(b'\t')).or_else(|| parts(b';'))
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Table => Kind::Table,
            Self::JsonLines => Kind::JsonLines,
            Self::Log { .. } => Kind::Log,
            Self::Parts { .. } => Kind::Parts,
        }
    }

    /// Gives each row with its line to `take`: the names of its columns and what stands there.
    pub(super) fn rows(&self, text: &str, take: &mut Take<'_>) {
        match self {
            Self::Table => table_rows(text, take),
            Self::JsonLines => numbered(text, |line, row| {
                let mut cells = Vec::new();
                flatten(&object(row).unwrap_or_default(), "", 1, &mut cells);
                take(line, &borrowed(&cells));
            }),
            Self::Log { places, keys } => numbered(text, |line, row| {
                take_log_line(row, places, keys, &mut |cells| take(line, cells));
            }),
            Self::Parts { delimiter } => numbered(text, |line, row| {
                let cells = parts(row, char::from(*delimiter));
                take(line, &borrowed(&cells));
            }),
        }
    }
}

fn numbered(text: &str, mut take: impl FnMut(u64, &str)) {
    for (idx, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            take(idx as u64 + 1, line);
        }
    }
}

fn borrowed(cells: &[(String, String)]) -> Vec<(&str, &str)> {
    cells.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

fn table_rows(text: &str, take: &mut Take<'_>) {
    let shape = Shape::of(text);
    let header = text.get(shape.header.clone()).unwrap_or_default();
    let names: Vec<Cow<str>> = cells_of(header.as_bytes(), shape.delimiter).collect();
    let mut start = shape.header.end;
    let mut line = 1 + line_ends(header);
    for end in Rows::from(text, shape.delimiter, start) {
        let row = text.get(start..end).unwrap_or_default();
        start = end;
        if !row.trim().is_empty() {
            let texts: Vec<Cow<str>> = cells_of(row.as_bytes(), shape.delimiter).collect();
            let cells = names.iter().zip(&texts).map(|(name, text)| (name.as_ref(), text.as_ref()));
            take(line, &cells.collect::<Vec<_>>());
        }
        line += line_ends(row);
    }
}

fn line_ends(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

fn cells_of(row: &[u8], delimiter: u8) -> impl Iterator<Item = Cow<'_, str>> {
    table::cells(row, delimiter).map(|cell| {
        let cell = str::from_utf8(cell).unwrap_or_default().trim();
        match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(quoted) => Cow::Owned(quoted.replace("\"\"", "\"")),
            None => Cow::Borrowed(cell),
        }
    })
}

fn object(line: &str) -> Option<serde_json::Map<String, Value>> {
    match serde_json::from_str(line).ok()? {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// `{"user": {"id": 7}}` as `user.id`.
fn flatten(
    object: &serde_json::Map<String, Value>,
    above: &str,
    level: usize,
    cells: &mut Vec<(String, String)>,
) {
    for (key, value) in object {
        let name = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Object(inner) if level < LEVELS_MAX => flatten(inner, &name, level + 1, cells),
            Value::String(text) => cells.push((name, text.clone())),
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                cells.push((name, value.to_string()));
            }
        }
    }
}

fn is_start(line: &str) -> bool {
    is_log_start(line.as_bytes())
}

/// The date, the time and the rest of a line that begins with them: `2025-03-07T00:04:39.337Z INFO …`.
fn time_of(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.trim_start_matches('[');
    let is_date = |text: &str| {
        text.bytes().enumerate().all(|(idx, byte)| match idx {
            4 | 7 => matches!(byte, b'-' | b'/'),
            _ => byte.is_ascii_digit(),
        })
    };
    let date = line.get(..10).filter(|text| is_date(text))?;
    let rest = line.get(10..)?.strip_prefix(['T', ' '])?;
    let is_time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ',');
    let time_end = rest.find(|c| !is_time(c)).unwrap_or(rest.len());
    let time = rest.get(..time_end).filter(|time| time.len() >= 5 && time.get(2..3) == Some(":"))?;
    let rest = rest.get(time_end..)?;
    // A zone is part of the time and the same in all lines.
    let zone_end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Some((date, time.trim_end_matches([',', '.']), rest.get(zone_end..)?.trim_start()))
}

/// What the words behind the times of a log are.
fn log<'t>(sample: &[&'t str]) -> Format {
    let rest_of = |line: &&'t str| match time_of(line) {
        Some((_, _, rest)) => Some(rest),
        None => is_start(line).then_some(*line),
    };
    let rests: Vec<&str> = sample.iter().filter_map(rest_of).collect();
    let mut places = Vec::new();
    for place in 0..PLACES_MAX {
        let words: Vec<&str> = rests.iter().filter_map(|rest| rest.split_whitespace().nth(place)).collect();
        let different: BTreeSet<&str> = words.iter().map(|word| bare(word)).collect();
        let is_name =
            |word: &&str| !word.is_empty() && !word.contains('=') && word.starts_with(char::is_alphabetic);
        let is_place = words.len() * 100 >= rests.len() * PERCENT_MIN
            && different.len() <= WORDS_MAX
            && different.len() * 3 <= words.len().max(3)
            && different.iter().all(is_name);
        if !is_place {
            break;
        }
        let are_levels =
            different.iter().all(|word| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word)));
        places.push(if are_levels { "level".to_owned() } else { format!("word {}", place + 1) });
    }
    let mut n_keys: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, _) in rests.iter().flat_map(|rest| pairs(rest)) {
        *n_keys.entry(key).or_default() += 1;
    }
    let keys = n_keys.into_iter().filter(|(_, n)| n * 20 >= rests.len()).map(|(key, _)| key.to_owned());
    Format::Log { places, keys: keys.collect() }
}

/// A word without the brackets and colons around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "[]():,<>".contains(c))
}

/// The `key=value` of a text.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().filter_map(|word| word.split_once('=')).filter(|(key, _)| {
        key.starts_with(char::is_alphabetic) && key.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
    })
}

/// Lines that are no row of their own, such as those of a stack trace, have no time and are left out.
fn take_log_line(row: &str, places: &[String], keys: &BTreeSet<String>, take: &mut dyn FnMut(&Cells<'_>)) {
    let (date, time, rest) = match time_of(row) {
        Some((date, time, rest)) => (Some(date), Some(time), rest),
        None if is_start(row) => (None, None, row),
        None => return,
    };
    let mut cells: Vec<(&str, &str)> = Vec::new();
    cells.extend(date.map(|date| ("date", date)));
    cells.extend(time.map(|time| ("time", time)));
    let mut rest = rest;
    for place in places {
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        cells.push((place, bare(word)));
        rest = behind.trim_start();
    }
    cells.extend(pairs(rest).filter(|(key, _)| keys.contains(*key)).map(|(key, value)| (key, bare(value))));
    cells.push(("text", rest));
    take(&cells);
}

/// `#1 | user 7 | [size] It is too large.` as `part 1`, `part 2`, `tag` and `part 3`.
fn parts(row: &str, delimiter: char) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    for (idx, part) in row.split(delimiter).map(str::trim).enumerate() {
        let tagged = part.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let part = match tagged {
            Some((tag, rest)) if !cells.iter().any(|(name, _)| name == "tag") => {
                cells.push(("tag".to_owned(), tag.to_owned()));
                rest.trim()
            }
            _ => part,
        };
        cells.push((format!("part {}", idx + 1), part.to_owned()));
    }
    cells
}
