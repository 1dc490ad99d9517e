//! Where a finding says it is: the file must be one of the task's own, and the line one that was shown.

use serde_json::{Map, Value};
use spelunk_types::Location;

use super::{Analysis, Part};

/// The location of a finding, or what is wrong with it.
pub(super) fn location(fields: &Map<String, Value>, analysis: &Analysis) -> Result<Location, String> {
    let part = part_of(fields, analysis)?;
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| fields.get(*name).and_then(Value::as_str));
        found.map(|text| text.chars().take(200).collect::<String>()).filter(|text| !text.is_empty())
    };
    let (line_start, line_end) = lines(fields);
    let has_evidence = fields.get("evidence").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    // A wrong line is put right where there is a quote to look for.
    let line_start = match line_start {
        Some(line) if !part.shows(line) && !has_evidence => {
            let (first, last) = (part.lines.start(), part.lines.end());
            return Err(format!(
                "line {line} of `{}` was not given; lines {first} to {last} were",
                part.name
            ));
        }
        line => line,
    };
    Ok(Location {
        file: part.name.to_string(),
        line_start,
        line_end: line_end.filter(|end| Some(*end) > line_start),
        column: text(&["column"]),
        scope: text(&["scope"]),
        json_path: text(&["path", "json_path"]),
    })
}

/// The part that a finding names. A task with one document needs no name; a name that is not the task's is refused,
/// because a finding about another file cannot come from this text.
fn part_of<'a>(fields: &Map<String, Value>, analysis: &'a Analysis) -> Result<&'a Part, String> {
    let named =
        ["file", "file_path", "document"].iter().find_map(|name| fields.get(*name).and_then(Value::as_str));
    match (named.map(plain), analysis.parts.as_slice()) {
        (None | Some(""), [only]) => Ok(only),
        (None | Some(""), _) => Err("`file` is missing; name the document".to_owned()),
        (Some(name), parts) => {
            let exact = parts.iter().find(|part| &*part.name == name);
            exact.or_else(|| only_ending(parts, name)).ok_or_else(|| {
                let name: String = name.chars().take(100).collect();
                format!("`{name}` is not a document of this task")
            })
        }
    }
}

fn plain(name: &str) -> &str {
    name.trim().trim_matches(['`', '"']).trim_start_matches("./")
}

/// The one document whose path ends so, or with which a longer path ends.
fn only_ending<'a>(parts: &'a [Part], name: &str) -> Option<&'a Part> {
    let ends = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
    let mut fitting = parts.iter().filter(|part| ends(&part.name, name) || ends(name, &part.name));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// `line`, or `line_start` and `line_end`; a number, digits, or a range such as `12-14`.
fn lines(fields: &Map<String, Value>) -> (Option<u64>, Option<u64>) {
    let number = |value: &Value| match value {
        Value::Number(number) => (number.as_u64(), None),
        Value::String(text) => {
            let mut numbers =
                text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
            (numbers.next(), numbers.next())
        }
        Value::Array(items) => {
            let mut numbers = items.iter().filter_map(Value::as_u64);
            (numbers.next(), numbers.next())
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => (None, None),
    };
    let field = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)).map_or((None, None), number);
    let (start, end) = field(&["line", "line_start", "start_line", "row"]);
    let (later, _) = field(&["line_end", "end_line"]);
    let at_least_one = |line: Option<u64>| line.filter(|line| *line > 0);
    (at_least_one(start), at_least_one(end.or(later)))
}

impl Part {
    /// Whether an analyst was shown this line.
    fn shows(&self, line: u64) -> bool {
        let before = self.chunk.as_ref().map_or(0, |chunk| chunk.overlap_lines);
        let prelude = self.chunk.as_ref().and_then(|chunk| chunk.prelude.as_ref());
        let own = self.lines.start().saturating_sub(before)..=*self.lines.end();
        own.contains(&line) || prelude.is_some_and(|prelude| prelude.lines.contains(&line))
    }
}
