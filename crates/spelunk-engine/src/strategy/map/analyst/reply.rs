//! Parses an analyst's reply: JSON in a code fence, in tags, as an object, a list or a single finding. The content is
//! validated against the task: the file must belong to it, the line must have been shown, and the quote must be in the
//! text that was shown. A first reply with faults is sent back, and from the second the valid findings are taken and the
//! rest is counted.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use spelunk_context::Shown;
use spelunk_types::{AnalystReport, Citation, Finding, Found, Limits, Location, PartMetadata, Severity};

use super::types;
use crate::schema::extract_json;
use crate::task::{Analysis, DocumentPart};

const SUMMARY_CHARS_MAX: usize = 1000;
const ANSWER_CHARS_MAX: usize = 4000;
const FAULTS_MAX: usize = 10;
const NAMES_MAX: usize = 50;
const VALUES_MAX: usize = 1000;

/// Whether the reply can still be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Faults are reported and a corrected reply is requested.
    First,
    /// Valid findings are taken.
    Last,
}

pub(super) fn parse(
    reply: &str,
    analysis: &Analysis,
    shown: &Shown,
    limits: &Limits,
    reading: Reading,
) -> Result<AnalystReport, Vec<String>> {
    let json =
        extract_json(inside_tags(reply)).ok_or_else(|| vec!["it is not one JSON object".to_owned()])?;
    let (head, items) = shape(json)?;
    let findings_max = usize::try_from(limits.findings_max).unwrap_or(usize::MAX);
    let (mut findings, mut faults) = (Vec::new(), Vec::new());
    let mut rejected = items.len().saturating_sub(findings_max) as u64;
    for (idx, item) in items.into_iter().take(findings_max).enumerate() {
        match finding(&item, analysis, shown, limits, reading) {
            Ok(finding) => findings.push(finding),
            Err(fault) => {
                rejected += 1;
                faults.push(format!("finding {}: {fault}", idx + 1));
            }
        }
    }
    faults.truncate(FAULTS_MAX);
    if reading == Reading::First && !faults.is_empty() {
        return Err(faults);
    }
    if findings.is_empty() && !faults.is_empty() {
        return Err(faults);
    }
    let text = |name: &str, chars_max: usize| {
        let text = head.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        text.chars().take(chars_max).collect::<String>()
    };
    let answer = Some(text("answer", ANSWER_CHARS_MAX)).filter(|answer| !answer.is_empty());
    let count = head.get("count").and_then(Value::as_u64);
    let says_relevant = head.get("relevant").and_then(Value::as_bool);
    Ok(AnalystReport {
        analyst: analysis.analyst.name().to_owned(),
        content_type: analysis.content_type().to_owned(),
        units: analysis.units(),
        relevant: says_relevant.unwrap_or(!findings.is_empty()) || !findings.is_empty(),
        summary: text("summary", SUMMARY_CHARS_MAX),
        answer,
        count,
        confidence: certainty(&head),
        raised_by: Some(text("raised_by", SUMMARY_CHARS_MAX)).filter(|what| !what.is_empty()),
        metadata: metadata(&head),
        findings,
        rejected,
    })
}

fn inside_tags(reply: &str) -> &str {
    let inside = reply.split_once("<findings>").and_then(|(_, rest)| rest.split_once("</findings>"));
    inside.map_or(reply, |(inside, _)| inside)
}

type Shape = (Map<String, Value>, Vec<Value>);

/// Extracts a report from any of the forms that models choose.
fn shape(json: Value) -> Result<Shape, Vec<String>> {
    match json {
        Value::Array(items) => Ok((Map::new(), items)),
        Value::Object(mut head) => match (head.remove("findings"), head.remove("results")) {
            (Some(Value::Array(items)), _) => Ok((head, items)),
            (Some(Value::Object(one)), _) => Ok((head, vec![Value::Object(one)])),
            (Some(Value::Null), _) => Ok((head, Vec::new())),
            (Some(_), _) => Err(vec!["`findings` is not a list".to_owned()]),
            (None, Some(results @ (Value::Object(_) | Value::Array(_)))) => shape(results),
            (None, _) if head.contains_key("type") && head.contains_key("summary") => {
                Ok((Map::new(), vec![Value::Object(head)]))
            }
            (None, _) if head.get("relevant") == Some(&Value::Bool(false)) => Ok((head, Vec::new())),
            (None, _) => Err(vec!["`findings` is missing".to_owned()]),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err(vec!["it is not a JSON object".to_owned()])
        }
    }
}

fn finding(
    item: &Value,
    analysis: &Analysis,
    shown: &Shown,
    limits: &Limits,
    reading: Reading,
) -> Result<Finding, String> {
    let Value::Object(fields) = item else { return Err("it is not an object".to_owned()) };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let summary: String = text("summary").chars().take(SUMMARY_CHARS_MAX).collect();
    if summary.is_empty() {
        return Err("`summary` is missing".to_owned());
    }
    let evidence_chars_max = usize::try_from(limits.evidence_chars_max).unwrap_or(usize::MAX);
    let evidence = evidence(text("evidence"), evidence_chars_max);
    let kind = kind(text("type"), analysis, reading)?;
    let severity = severity(fields.get("severity"), reading)?;
    let (location, quote) = location(fields, analysis, shown, &evidence)?;
    Ok(Finding {
        kind,
        summary,
        evidence,
        quote,
        severity,
        confidence: certainty(fields),
        location,
        distribution: distribution(fields),
        total: ["total", "total_rows", "total_objects"]
            .iter()
            .find_map(|name| fields.get(*name).and_then(Value::as_u64)),
        value: fields.get("value").and_then(as_text),
    })
}

/// From 0 to 1; a percentage is accepted.
fn certainty(fields: &Map<String, Value>) -> Option<f64> {
    let number = fields.get("confidence").and_then(Value::as_f64)?;
    Some(if number > 1.0 { number / 100.0 } else { number }.clamp(0.0, 1.0))
}

fn metadata(head: &Map<String, Value>) -> PartMetadata {
    let Some(Value::Object(fields)) = head.get("metadata") else { return PartMetadata::default() };
    let names = |name: &str| {
        let list = fields.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(as_text).take(NAMES_MAX).collect()
    };
    let number = |name: &str| fields.get(name).and_then(Value::as_u64);
    PartMetadata {
        key_topics: names("key_topics"),
        structures: names("structures"),
        imports: names("imports"),
        columns: names("columns"),
        row_count: number("row_count"),
        schema_fields: names("schema_fields"),
        object_count: number("object_count"),
    }
}

fn kind(word: &str, analysis: &Analysis, reading: Reading) -> Result<String, String> {
    let plain = word.to_lowercase().replace([' ', '-'], "_");
    let known = types(analysis.analyst);
    match (known.contains(&plain.as_str()), reading) {
        (true, _) => Ok(plain),
        (false, Reading::Last) => Ok("other".to_owned()),
        (false, Reading::First) => {
            let word: String = word.chars().take(40).collect();
            Err(format!("`{word}` is not a type; use one of {}", known.join(", ")))
        }
    }
}

/// The first line of the evidence, without the line number that we added.
fn evidence(text: &str, chars_max: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let unnumbered = match line.split_once("| ") {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        Some(_) | None => line,
    };
    unnumbered.trim().chars().take(chars_max).collect()
}

fn severity(value: Option<&Value>, reading: Reading) -> Result<Option<Severity>, String> {
    let Some(Value::String(word)) = value else { return Ok(None) };
    match word.trim().to_lowercase().as_str() {
        "high" | "critical" | "severe" | "error" | "major" => Ok(Some(Severity::High)),
        "medium" | "moderate" | "warning" => Ok(Some(Severity::Medium)),
        "low" | "minor" | "info" | "informational" | "style" => Ok(Some(Severity::Low)),
        "" | "none" | "n/a" | "null" => Ok(None),
        _ if reading == Reading::Last => Ok(None),
        word => {
            let word: String = word.chars().take(40).collect();
            Err(format!("`{word}` is not a severity; use high, medium or low"))
        }
    }
}

fn distribution(fields: &Map<String, Value>) -> BTreeMap<String, u64> {
    let Some(Value::Object(values)) = fields.get("distribution") else { return BTreeMap::new() };
    let counts = values.iter().filter_map(|(value, count)| {
        let value: String = value.chars().take(100).collect();
        Some((value, count.as_u64()?))
    });
    counts.take(VALUES_MAX).collect()
}

fn as_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(text.chars().take(200).collect())
}

/// The location of a finding and the result of looking up its quote, or what is wrong with it. A
/// wrong line is corrected if the quote is found; otherwise a line that was not shown is dropped.
fn location(
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
