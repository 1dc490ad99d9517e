//! `FINAL(…)` and `FINAL_VAR(…)` in prose: an answer given as text, at the start of a line and with nothing after it.
//! In code both are host calls, which are not handled here.

use std::collections::HashMap;
use std::ops::Range;

/// An answer given as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinalText {
    /// `FINAL(…)`: the answer itself, without surrounding quotes. Backslashes are kept unchanged.
    Value(String),
    /// `FINAL_VAR(…)`: the variable that holds it.
    Variable(String),
}

const FINAL: &str = "FINAL(";
const FINAL_VAR: &str = "FINAL_VAR(";
/// Markdown treats lines indented this far as code.
const CODE_INDENT: usize = 4;
const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

/// Whether a line, given as its margin and its text, may start an answer.
pub(super) fn is_begun(margin: &str, text: &str) -> bool {
    let is_flush = margin.len() < CODE_INDENT && !margin.contains('\t');
    is_flush && (text.starts_with(FINAL) || text.starts_with(FINAL_VAR))
}

/// Parses the answer at the start of a text; returns it, the end of its last line, and how much was read.
pub(super) fn read(text: &str) -> (Option<(FinalText, usize)>, usize) {
    let (open, is_variable) = if text.starts_with(FINAL_VAR) { (FINAL_VAR, true) } else { (FINAL, false) };
    let Some(inner) = text.strip_prefix(open) else { return (None, 0) };
    let readings: [fn(&str) -> Option<usize>; 3] = [end_of_quoted, end_respecting_quotes, end_of_brackets];
    let mut n_read = 0;
    for reading in readings {
        let Some(end) = reading(inner) else {
            n_read += inner.len();
            continue;
        };
        n_read += end;
        let Some(rest) = inner.get(end + 1..).and_then(blank_line) else { continue };
        let argument = unquoted(inner.get(..end).unwrap_or_default().trim());
        let answer = if is_variable { variable(argument) } else { value(argument) };
        return (answer.map(|answer| (answer, open.len() + end + 1 + rest)), n_read);
    }
    (None, n_read)
}

fn value(argument: &str) -> Option<FinalText> {
    (!argument.trim().is_empty()).then(|| FinalText::Value(argument.to_owned()))
}

fn variable(argument: &str) -> Option<FinalText> {
    let is_name = argument.chars().all(|c| c == '_' || c.is_alphanumeric())
        && argument.chars().next().is_some_and(|c| !c.is_numeric());
    is_name.then(|| FinalText::Variable(argument.to_owned()))
}

/// The length of the rest of a line, if it is blank.
fn blank_line(text: &str) -> Option<usize> {
    let line = text.split_inclusive('\n').next().unwrap_or_default();
    line.trim().is_empty().then_some(line.len())
}

/// The closing bracket after an argument that is one quoted string, whatever brackets it contains.
fn end_of_quoted(text: &str) -> Option<usize> {
    let start = text.len() - text.trim_start().len();
    let quote = quote_at(text, start)?;
    let mut from = start + quote.len();
    while let Some(close) = find_quote(text, from, quote, "") {
        let after = text.get(close + quote.len()..)?.trim_start();
        let end = text.len() - after.len();
        if after.starts_with(')') && blank_line(text.get(end + 1..)?).is_some() {
            return Some(end);
        }
        from = close + quote.len();
    }
    None
}

/// The bracket that closes the argument. Quoted strings are skipped if they are closed on the same line or
/// triple-quoted; an apostrophe within a word is not a quote.
fn end_respecting_quotes(text: &str) -> Option<usize> {
    let mut unclosed: Vec<&str> = Vec::new();
    closing_bracket(text, |at| {
        let quote = quote_at(text, at).filter(|_| opens_quote(text.as_bytes(), at))?;
        let stop = if quote.len() == 1 { "\n" } else { "" };
        if unclosed.contains(&quote) {
            return None;
        }
        let close = find_quote(text, at + quote.len(), quote, stop);
        // Later triple quotes are unclosed, too; a single quote is tried on the next line.
        if close.is_none() && quote.len() > 1 {
            unclosed.push(quote);
        }
        Some(close? + quote.len())
    })
}

/// Like `end_respecting_quotes`, but treats quotes as ordinary characters.
fn end_of_brackets(text: &str) -> Option<usize> {
    closing_bracket(text, |_| None)
}

/// The bracket that closes what is open before a text. `string_end` tells where a string that begins at an offset ends.
fn closing_bracket(text: &str, mut string_end: impl FnMut(usize) -> Option<usize>) -> Option<usize> {
    let (mut depth, mut at) = (1_u64, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at),
            b')' => depth -= 1,
            b'"' | b'\'' => at = string_end(at).map_or(at, |end| end - 1),
            _ => {}
        }
        at += 1;
    }
    None
}

fn opens_quote(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    before.is_none_or(|byte| byte.is_ascii_whitespace() || b"([{,:=".contains(byte))
}

fn quote_at(text: &str, at: usize) -> Option<&'static str> {
    let rest = text.get(at..)?;
    QUOTES.into_iter().find(|quote| rest.starts_with(quote))
}

/// The next unescaped quote of this kind, before any character of `stop`.
fn find_quote(text: &str, from: usize, quote: &str, stop: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 1,
            byte if stop.as_bytes().contains(byte) => return None,
            _ if bytes.get(at..)?.starts_with(quote.as_bytes()) => return Some(at),
            _ => {}
        }
        at += 1;
    }
}

fn unquoted(argument: &str) -> &str {
    let Some(quote) = quote_at(argument, 0) else { return argument };
    match find_quote(argument, quote.len(), quote, "") {
        Some(close) if close + quote.len() == argument.len() => {
            argument.get(quote.len()..close).unwrap_or_default()
        }
        Some(_) | None => argument,
    }
}

/// The paragraph at the start of a text, at least `at` bytes long: up to the next blank line or fence.
pub(super) fn paragraph(text: &str, at: usize) -> &str {
    let mut end = at;
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            break;
        }
        end += line.len();
    }
    text.get(..end).unwrap_or_default()
}

/// Whether an offset of a paragraph is within an inline code span: between two runs of equally many backticks.
pub(super) fn is_in_code_span(paragraph: &str, at: usize) -> bool {
    let runs = backtick_runs(paragraph);
    let mut lasts = HashMap::new();
    for run in &runs {
        lasts.insert(run.len(), run.start);
    }
    let mut opened: Option<&Range<usize>> = None;
    for run in &runs {
        let Some(open) = opened else {
            // A run without a later run of the same length opens nothing.
            opened = lasts.get(&run.len()).filter(|last| **last > run.start).map(|_| run);
            continue;
        };
        if open.len() == run.len() {
            if (open.end..run.start).contains(&at) {
                return true;
            }
            opened = None;
        }
    }
    false
}

fn backtick_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            Some(_) | None => runs.push(at..at + 1),
        }
    }
    runs
}
