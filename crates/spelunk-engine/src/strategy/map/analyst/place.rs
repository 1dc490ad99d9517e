//! Checks the location of a finding: the file must belong to the task, the line must have been shown, and the quote
//! must be in the text that was shown.

use serde_json::{Map, Value};
use spelunk_context::Shown;
use spelunk_types::{Citation, Found, Location};

use crate::task::{Analysis, DocumentPart};

/// The location of a finding and the result of looking up its quote, or what is wrong with it. A
/// wrong line is corrected if the quote is found; otherwise a line that was not shown is dropped.
pub(super) fn location(
    fields: &Map<String, Value>,
    analysis: &Analysis,
    shown: &Shown,
    evidence: &str,
) -> Result<(Location, Option<Found>), String> {
    let part = part_of(fields, analysis)?;
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| fields.get(*name).and_then(Value::as_str));
        found.map(|text| text.chars().take(200).collect::<String>()).filter(|text| !text.is_empty())
    };
    let (claimed, line_end) = lines(fields);
    let is_shown = |line: &u64| shown.has_line(&part.name, *line);
    let (line_start, quote) = if evidence.is_empty() {
        if let Some(line) = claimed.filter(|line| !is_shown(line)) {
            let (first, last) = (part.lines.start(), part.lines.end());
            return Err(format!(
                "line {line} of `{}` was not given; lines {first} to {last} were",
                part.name
            ));
        }
        (claimed, None)
    } else {
        let (document, line) = (part.name.to_string(), claimed.unwrap_or(1));
        match shown.check(&Citation { document, line, quote: evidence.to_owned() }) {
            (_, Found::Missing) => (claimed.filter(is_shown), Some(Found::Missing)),
            // Without a claimed line, nothing was moved.
            (citation, Found::Moved) if claimed.is_none() => (Some(citation.line), Some(Found::Exact)),
            (citation, found) => (Some(citation.line), Some(found)),
        }
    };
    let line_end = line_end.filter(|end| line_start == claimed && Some(*end) > line_start && is_shown(end));
    let location = Location {
        file: part.name.to_string(),
        line_start,
        line_end,
        column: text(&["column"]),
        scope: text(&["scope"]),
        json_path: text(&["path", "json_path"]),
    };
    Ok((location, quote))
}

/// The part that a finding names. A task with one document needs no name; any other document is
/// rejected, because a finding about it cannot come from this text.
fn part_of<'a>(fields: &Map<String, Value>, analysis: &'a Analysis) -> Result<&'a DocumentPart, String> {
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

/// The only document whose path ends with this name, or is a suffix of it.
fn only_ending<'a>(parts: &'a [DocumentPart], name: &str) -> Option<&'a DocumentPart> {
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
