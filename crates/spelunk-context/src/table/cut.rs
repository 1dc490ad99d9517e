//! Splits a document into rows and cells, by a format determined from its name and first lines.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use super::{json, logs};
use crate::kind::delimited::{self, Rows, Shape};
use crate::kind::is_log_start;
use crate::lines::count_newlines;

/// Lines sampled to determine the format of a document.
const SAMPLE_LINES: usize = 200;
pub(super) const PERCENT_MIN: usize = 90;
/// The most distinct words at one position of a log line; with more, they do not name levels or services.
const WORDS_MAX: usize = 40;
/// Positions after the time that are examined.
const PLACES_MAX: usize = 2;
/// Nested objects are flattened into columns down to this level.
const LEVELS_MAX: usize = 3;
const LEVELS: &[&str] = &[
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "FATAL", "CRITICAL", "SEVERE",
    "PANIC",
];

/// The names of columns, and their values in one row.
type Cells<'t> = [(&'t str, &'t str)];
/// Receives each row with its line, and `None` for a line that should be a row but is invalid.
type Take<'t> = dyn FnMut(u64, Option<&Cells<'_>>) + 't;

#[derive(Clone)]
pub(super) enum Format {
    /// Delimited cells, and a first row with their names.
    Table {
        names: Vec<String>,
    },
    JsonLines,
    /// A list of objects, or an object of objects.
    Json,
    /// Entries of systemd's journal in its export format: a `KEY=value` per line, and an empty line after each entry.
    JournalExport,
    KnownLog(&'static Regex),
    /// Lines that begin with a time; its zone, the names of the words after it, and the keys of `key=value`.
    Log {
        zone: String,
        places: Vec<String>,
        keys: BTreeSet<String>,
    },
    /// Lines below a comment that names their fields, as in Zeek and W3C logs.
    Fields {
        delimiter: char,
        names: Vec<String>,
    },
    /// Lines with the same number of delimited parts, and their names if the first line has them.
    Parts {
        delimiter: u8,
        names: Option<Vec<String>>,
    },
}

impl Format {
    pub(super) fn of(name: &str, text: &str) -> Option<Self> {
        let extension = Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let sample: Vec<&str> =
            text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).collect();
        if text.trim_start().starts_with(['[', '{']) && json::records(text).is_some() {
            return Some(Self::Json);
        }
        if sample.len() < 2 {
            return None;
        }
        let most = |is_one: &dyn Fn(&str) -> bool| {
            sample.iter().filter(|line| is_one(line)).count() * 100 >= sample.len() * PERCENT_MIN
        };
        if most(&|line| line.starts_with('{') && json::object(line).is_some()) {
            return Some(Self::JsonLines);
        }
        if let Some(fields) = fields(text) {
            return Some(fields);
        }
        if sample[0].starts_with("__CURSOR=") && most(&|line| journal_field(line).is_some()) {
            return Some(Self::JournalExport);
        }
        if matches!(extension.as_str(), "csv" | "tsv" | "tab" | "psv") {
            return Some(Self::Table { names: header(text)? });
        }
        // An indented line continues an entry.
        let entries: Vec<&str> =
            sample.iter().filter(|line| !line.starts_with([' ', '\t'])).copied().collect();
        if let Some(layout) = logs::layout_of(&entries) {
            return Some(Self::KnownLog(layout));
        }
        if most(&|line| time_of(line).is_some()) || (extension == "log" && most(&|line| is_start(line))) {
            return Some(log(&sample));
        }
        let parts = |delimiter: u8| {
            let width = |line: &str| line.bytes().filter(|&byte| byte == delimiter).count();
            let usual = width(sample[0]);
            (usual >= 2 && most(&|line| width(line) == usual))
                .then(|| Self::Parts { delimiter, names: names_of_parts(&sample, char::from(delimiter)) })
        };
        parts(b'|').or_else(|| parts(b'\t')).or_else(|| parts(b';'))
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.layout() == other.layout()
    }

    /// What rows in one table have in common: the format, the names of columns, and the pattern or zone of a log.
    fn layout(&self) -> (&'static str, Option<&[String]>, &str) {
        match self {
            Self::Table { names } => ("table", Some(names), ""),
            Self::JsonLines | Self::Json => ("json", None, ""),
            Self::JournalExport => ("journal", None, ""),
            Self::KnownLog(layout) => ("known log", None, layout.as_str()),
            Self::Log { zone, .. } => ("log", None, zone),
            Self::Fields { names, .. } => ("fields", Some(names), ""),
            Self::Parts { names, .. } => ("parts", names.as_deref(), ""),
        }
    }

    /// Passes each row with its line to `take`. False if times are in different zones: rows do not compare.
    pub(super) fn rows(&self, text: &str, take: &mut Take<'_>) -> bool {
        match self {
            Self::Table { names } => table_rows(text, names, take),
            Self::JsonLines => numbered(text, |line, row| match json::object(row) {
                Some(object) => {
                    let mut cells = Vec::new();
                    flatten(&object, "", 1, &mut cells);
                    take(line, Some(&borrowed(&cells)));
                }
                None => take(line, None),
            }),
            Self::Json => {
                for (line, key, object) in json::records(text).unwrap_or_default() {
                    let mut cells: Vec<(String, String)> =
                        key.into_iter().map(|key| ("key".to_owned(), key)).collect();
                    flatten(&object, "", 1, &mut cells);
                    take(line, Some(&borrowed(&cells)));
                }
            }
            Self::KnownLog(layout) => numbered(text, |line, row| {
                match logs::cells(layout, row) {
                    Some(cells) => take(line, Some(&cells)),
                    // A line of another format; others continue the line before.
                    None if is_start(row) => take(line, None),
                    None => {}
                }
            }),
            Self::JournalExport => {
                let mut entry: Vec<(&str, &str)> = Vec::new();
                let mut entry_line = 1;
                for (row, line) in text.lines().chain([""]).zip(1..) {
                    if row.is_empty() && !entry.is_empty() {
                        take(entry_line, Some(&entry));
                        entry.clear();
                    }
                    if entry.is_empty() {
                        entry_line = line;
                    }
                    entry.extend(journal_field(row));
                }
            }
            Self::Fields { delimiter, names } => numbered(text, |line, row| {
                if !row.starts_with('#') {
                    let cells = names.iter().map(String::as_str).zip(row.split(*delimiter));
                    // A dash is an empty field in both formats.
                    take(line, Some(&cells.filter(|(_, cell)| *cell != "-").collect::<Vec<_>>()));
                }
            }),
            Self::Log { places, keys, .. } => {
                let mut zones = BTreeSet::new();
                numbered(text, |line, row| {
                    zones.extend(time_of(row).map(|time| time.zone));
                    take_log_line(row, places, keys, &mut |cells| take(line, Some(cells)));
                });
                return zones.len() <= 1;
            }
            Self::Parts { delimiter, names } => {
                let mut is_first = names.is_some();
                numbered(text, |line, row| {
                    if std::mem::take(&mut is_first) || is_rule(row) {
                        return;
                    }
                    let cells = parts(row, char::from(*delimiter), names.as_deref());
                    take(line, Some(&borrowed(&cells)));
                });
            }
        }
        true
    }
}

/// `_SYSTEMD_UNIT=cron.service`.
fn journal_field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let is_key = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (!key.is_empty() && key.chars().all(is_key)).then_some((key, value))
}

/// Lines at the beginning that may be comments.
const COMMENTS_MAX: usize = 20;

/// `#fields<TAB>ts<TAB>uid` (Zeek), `#Fields: date time` (W3C).
fn fields(text: &str) -> Option<Format> {
    let comments = text.lines().take(COMMENTS_MAX).take_while(|line| line.starts_with('#'));
    let named = |line: &str| {
        let (delimiter, names) = line
            .strip_prefix("#fields\t")
            .map(|names| ('\t', names))
            .or_else(|| line.strip_prefix("#Fields: ").map(|names| (' ', names)))?;
        let names = names.trim_end().split(delimiter).map(str::to_owned).collect();
        Some(Format::Fields { delimiter, names })
    };
    comments.into_iter().find_map(named)
}

fn numbered<'t>(text: &'t str, mut take: impl FnMut(u64, &'t str)) {
    for (idx, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            take(idx as u64 + 1, line);
        }
    }
}

fn borrowed(cells: &[(String, String)]) -> Vec<(&str, &str)> {
    cells.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

/// The names in a table's first row. Numbers other than years and a directive (`sep=;`) are not names.
fn header(text: &str) -> Option<Vec<String>> {
    let shape = Shape::of(text);
    let header = text.get(shape.header.clone())?;
    let is_name = |cell: &Cow<str>| {
        let figure = cell.parse::<f64>().ok();
        figure.is_none_or(|figure| (1900.0..2100.0).contains(&figure) && figure.fract() == 0.0)
    };
    let cells: Vec<Cow<str>> = cells_of(header.as_bytes(), shape.delimiter).collect();
    let is_header = !header.starts_with("sep=") && cells.iter().all(is_name);
    is_header.then(|| cells.into_iter().map(Cow::into_owned).collect())
}

fn table_rows(text: &str, names: &[String], take: &mut Take<'_>) {
    let shape = Shape::of(text);
    let header = text.get(shape.header.clone()).unwrap_or_default();
    let mut start = shape.header.end;
    let mut line = 1 + count_newlines(header.as_bytes());
    for end in Rows::from(text, shape.delimiter, start) {
        let row = text.get(start..end).unwrap_or_default();
        start = end;
        if !row.trim().is_empty() {
            let texts: Vec<Cow<str>> = cells_of(row.as_bytes(), shape.delimiter).collect();
            let cells = names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_ref()));
            let is_wide = texts.iter().skip(names.len()).any(|text| !text.is_empty());
            if is_wide {
                take(line, None);
            } else if texts != names {
                take(line, Some(&cells.collect::<Vec<_>>()));
            }
        }
        line += count_newlines(row.as_bytes());
    }
}

fn cells_of(row: &[u8], delimiter: u8) -> impl Iterator<Item = Cow<'_, str>> {
    delimited::cells(row, delimiter).map(|cell| {
        let cell = str::from_utf8(cell).unwrap_or_default().trim();
        match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(quoted) => Cow::Owned(quoted.replace("\"\"", "\"")),
            None => Cow::Borrowed(cell),
        }
    })
}

/// Flattens `{"user": {"id": 7}}` to `user.id`.
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

/// The beginning of a line: `2025-03-07T00:04:39.337Z INFO …`.
struct Begun<'t> {
    date: &'t str,
    time: &'t str,
    zone: &'t str,
    rest: &'t str,
}

fn time_of(line: &str) -> Option<Begun<'_>> {
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
    let (zone, rest) = rest.split_at_checked(zone_end(rest))?;
    let rest = rest.trim_start_matches([']', ',', '|']).trim_start();
    Some(Begun { date, time: time.trim_end_matches([',', '.']), zone, rest })
}

/// The end of a time zone at the beginning of a text: `Z`, `+02:00`, `+0200`, ` UTC`.
fn zone_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |idx: usize| bytes.get(idx).is_some_and(u8::is_ascii_digit);
    match bytes.first() {
        Some(b'Z') => 1,
        Some(b'+' | b'-') if is_digit(1) && is_digit(2) => {
            let behind = if bytes.get(3) == Some(&b':') { 4 } else { 3 };
            if is_digit(behind) && is_digit(behind + 1) { behind + 2 } else { 3 }
        }
        _ if text.starts_with(" UTC ") => 4,
        _ if text.starts_with(" +") || text.starts_with(" -") => {
            let end = zone_end(text.get(1..).unwrap_or_default());
            if end > 3 { end + 1 } else { 0 }
        }
        _ => 0,
    }
}

/// Names the words after the times of a log: the level, and `source` for service, module or host.
fn log<'t>(sample: &[&'t str]) -> Format {
    let rest_of = |line: &&'t str| match time_of(line) {
        Some(begun) => Some(begun.rest),
        None => is_start(line).then_some(*line),
    };
    let rests: Vec<&str> = sample.iter().filter_map(rest_of).collect();
    let mut places = Vec::new();
    for place in 0..PLACES_MAX {
        let words: Vec<&str> = rests.iter().filter_map(|rest| rest.split_whitespace().nth(place)).collect();
        let different: BTreeSet<&str> = words.iter().map(|word| bare(word)).collect();
        let is_name = |word: &&str| {
            !word.is_empty() && !word.contains(['=', '|']) && word.starts_with(char::is_alphabetic)
        };
        let is_place = words.len() * 100 >= rests.len() * PERCENT_MIN
            && different.len() <= WORDS_MAX
            && different.len() * 3 <= words.len().max(3)
            && different.iter().all(is_name);
        if !is_place {
            break;
        }
        let are_levels =
            different.iter().all(|word| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word)));
        let is_second = places.iter().any(|name| name == "source");
        places.push(
            if are_levels {
                "level"
            } else if is_second {
                "source 2"
            } else {
                "source"
            }
            .to_owned(),
        );
    }
    let mut n_keys: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, _) in rests.iter().flat_map(|rest| pairs(rest)) {
        *n_keys.entry(key).or_default() += 1;
    }
    let keys = n_keys.into_iter().filter(|(_, n)| n * 20 >= rests.len()).map(|(key, _)| key.to_owned());
    let zone = sample.iter().find_map(|line| time_of(line)).map_or("", |begun| begun.zone).to_owned();
    Format::Log { zone, places, keys: keys.collect() }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "[]():,<>".contains(c))
}

/// The `key=value` pairs of a text; a quoted value extends to the closing quote: `msg="gave up"`.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let end = rest.find(|c: char| c.is_whitespace() || c == '=')?;
            let (key, behind) = (rest.get(..end)?, rest.get(end..)?);
            let Some(value) = behind.strip_prefix('=') else {
                rest = behind;
                continue;
            };
            let quoted = value.strip_prefix('"').and_then(|inner| inner.split_once('"'));
            let plain = || value.split_at(value.find(char::is_whitespace).unwrap_or(value.len()));
            let (value, behind) = quoted.unwrap_or_else(plain);
            rest = behind;
            let is_key = key.starts_with(char::is_alphabetic)
                && key.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
            if is_key {
                return Some((key, value));
            }
        }
    })
}

/// Lines that are not records, such as those of a stack trace, have no time and are left out.
fn take_log_line(row: &str, places: &[String], keys: &BTreeSet<String>, take: &mut dyn FnMut(&Cells<'_>)) {
    let (date, time, rest) = match time_of(row) {
        Some(Begun { date, time, rest, .. }) => (Some(date), Some(time), rest),
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

/// The names of parts if the first line is a header: a rule follows, or it lacks a number that all rows have.
fn names_of_parts(sample: &[&str], delimiter: char) -> Option<Vec<String>> {
    let has_figure = |part: &str| part.contains(|c: char| c.is_ascii_digit());
    let rows = || sample.iter().skip(1).filter(|line| !is_rule(line));
    let is_named = |(idx, name): (usize, &str)| {
        let has_row = |line: &&str| line.split(delimiter).nth(idx).is_some_and(has_figure);
        !name.trim().is_empty() && !has_figure(name) && rows().all(has_row)
    };
    let is_header = sample[0].split(delimiter).enumerate().any(is_named);
    let is_ruled = sample.get(1).is_some_and(|line| is_rule(line));
    let names = || sample[0].split(delimiter).map(|name| name.trim().to_owned()).collect();
    (is_header || is_ruled).then(names)
}

/// The line below the header of a Markdown table: `|---|:-:|`.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| "|-:+= \t".contains(c))
}

/// Without names, `#1 | user 7 | [size] Too large.` is `part 1`, `part 2`, `tag` and `part 3`.
fn parts(row: &str, delimiter: char, names: Option<&[String]>) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    for (idx, part) in row.split(delimiter).map(str::trim).enumerate() {
        let own_name = names.and_then(|names| names.get(idx));
        let tagged = part.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let part = match tagged {
            Some((tag, rest)) if own_name.is_none() && !cells.iter().any(|(name, _)| name == "tag") => {
                cells.push(("tag".to_owned(), tag.to_owned()));
                rest.trim()
            }
            _ => part,
        };
        let name = own_name.cloned().unwrap_or_else(|| format!("part {}", idx + 1));
        cells.push((name, part.to_owned()));
    }
    cells
}
