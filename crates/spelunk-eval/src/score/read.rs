//! Extracts an answer: the part marked as the answer, in any common way, or the part on its own line.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Form;
use crate::pattern;

static ANSWER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?im)(?:^|[\s*_`>#(\[.{"])(?:final +)?(?:answer|result)[*_`" ]*[:=][*_` ]*([^\n]*)|<answer>([^<]*)"#,
    )
});
/// The next key of a JSON object.
static NEXT_KEY: LazyLock<Regex> = LazyLock::new(|| pattern(r#",\s*"\w+"\s*:"#));
static PAIR: LazyLock<Regex> = LazyLock::new(|| pattern(r"([0-9]+)[^0-9\n;]{1,12}?([0-9]+)"));
static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| pattern(r"[;!?。！？；\n]|\. "));
static PATH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[A-Za-z0-9_.\-]*(?:/[A-Za-z0-9_.\-]+)*\.[A-Za-z]{1,5}\b"));

/// Sections that code adds to a report.
const LISTED: [&str; 2] = ["## Per-File Findings", "## Coverage"];

pub(super) struct ExtractedAnswer {
    pub(super) form: Form,
    /// The line that counts; in prose, all of it.
    pub(super) line: String,
    /// That line and everything after it, for lists that continue.
    pub(super) rest: String,
    /// In prose, a value on its own line, at the end or at the beginning.
    pub(super) alone: Option<String>,
}

/// The longest value on its own line, in words.
const ALONE_WORDS_MAX: usize = 4;

impl ExtractedAnswer {
    pub(super) fn of(answer: &str) -> Self {
        let prose = prose(answer);
        for found in ANSWER.captures_iter(&prose).collect::<Vec<_>>().into_iter().rev() {
            let Some(value) = found.get(1).or_else(|| found.get(2)) else { continue };
            let rest = prose.get(value.start()..).unwrap_or_default().trim();
            // The value may be on the line after the mark.
            let line = rest.lines().next().unwrap_or_default();
            let line = if value.as_str().trim().is_empty() { line } else { value.as_str() };
            let line = clean(NEXT_KEY.split(line).next().unwrap_or_default());
            // The requested form was copied without a value.
            let is_form =
                ["value", "number", "topic", "service", "path/of/file", "(number, number)", "list of"];
            if line.is_empty() || is_form.iter().any(|form| line.starts_with(form)) || line.starts_with('<') {
                continue;
            }
            let rest = rest.split("\n## ").next().unwrap_or_default().to_owned();
            let rest = rest.split("</answer>").next().unwrap_or_default().to_owned();
            return Self { form: Form::Asked, line, rest, alone: None };
        }
        let text = prose.trim().to_owned();
        let alone = alone(&text);
        Self {
            form: if text.is_empty() { Form::Missing } else { Form::Prose },
            line: text.clone(),
            rest: text,
            alone,
        }
    }

    /// The text that a single value is extracted from.
    pub(super) fn value(&self) -> &str {
        self.alone.as_deref().unwrap_or(&self.line)
    }
}

/// The last of several lines, or the first before a blank one, if it is a few words and not a sentence.
fn alone(text: &str) -> Option<String> {
    let is_value = |line: &&str| {
        let line = line.trim();
        let n_words = line.split_whitespace().count();
        (1..=ALONE_WORDS_MAX).contains(&n_words)
            && !line.starts_with(['#', '-', '|'])
            && !line.ends_with([':', '?', '.', '!'])
    };
    let last = text.lines().next_back().filter(|_| text.lines().count() > 1).filter(is_value);
    let first = || text.split_once("\n\n").map(|(first, _)| first).filter(|first| !first.contains('\n'));
    last.or_else(|| first().filter(is_value)).map(clean)
}

/// The answer without its evidence and without the lists that code adds to a report: they quote the text.
fn prose(answer: &str) -> String {
    let mut kept = String::new();
    let mut is_listed = false;
    for line in answer.lines() {
        if line.starts_with("```evidence") {
            is_listed = true;
        } else if line.starts_with("```") && is_listed {
            is_listed = false;
            continue;
        } else if line.starts_with("## ") {
            is_listed = LISTED.contains(&line.trim());
        }
        if !is_listed {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    if kept.trim().is_empty() { answer.to_owned() } else { kept }
}

fn clean(line: &str) -> String {
    line.trim().trim_matches(['*', '_', '`', '"', '\'', ' ', '.', '{', '}']).to_owned()
}

/// `1_000`, as code writes it, as `1000`.
pub(super) fn ungrouped(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |idx: Option<usize>| idx.and_then(|idx| chars.get(idx)).is_some_and(char::is_ascii_digit);
    let is_between = |idx: usize| is_digit(idx.checked_sub(1)) && is_digit(idx.checked_add(1));
    let kept = chars.iter().enumerate().filter(|&(idx, c)| *c != '_' || !is_between(idx));
    kept.map(|(_, c)| *c).collect()
}

/// Words and numbers, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = ungrouped(text);
    spans(&text).into_iter().filter_map(|span| text.get(span)).map(str::to_lowercase).collect()
}

/// The positions of words and numbers. Chinese and Japanese have no spaces: a word ends where the
/// script changes, and each Chinese character is a word.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (start, c) in text.char_indices() {
        let script = c.is_alphanumeric().then(|| Script::of(c));
        let end = start + c.len_utf8();
        match found.last_mut() {
            Some(word) if script.is_some() && script == last && script != Some(Script::Han) => word.end = end,
            _ if script.is_some() => found.push(start..end),
            _ => {}
        }
        last = script;
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Han,
    Hiragana,
    Katakana,
    Other,
}

impl Script {
    fn of(c: char) -> Self {
        match c {
            '\u{3005}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Self::Han,
            '\u{3040}'..='\u{309f}' => Self::Hiragana,
            '\u{30a0}'..='\u{30ff}' => Self::Katakana,
            _ => Self::Other,
        }
    }
}

pub(super) fn is_cjk(c: char) -> bool {
    Script::of(c) != Script::Other
}

/// Sentences, including their final punctuation.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in SENTENCE_END.find_iter(text).map(|found| found.end()).chain([text.len()]) {
        if text.get(start..end).is_some_and(|sentence| !sentence.trim().is_empty()) {
            found.push(start..end);
        }
        start = end;
    }
    found
}

/// Pairs of numbers, the smaller one first.
pub(super) fn pairs(text: &str) -> BTreeSet<(u64, u64)> {
    let mut found = BTreeSet::new();
    for pair in text.split([';', '\n']).flat_map(|part| part.split(')')) {
        let Some(pair) = PAIR.captures(pair) else { continue };
        let number = |idx| pair.get(idx).and_then(|number| number.as_str().parse::<u64>().ok());
        if let (Some(a), Some(b)) = (number(1), number(2)) {
            found.insert((a.min(b), a.max(b)));
        }
    }
    found
}

/// Paths of files, without line numbers.
pub(super) fn paths(text: &str) -> BTreeSet<String> {
    PATH.find_iter(text).map(|found| found.as_str().trim_start_matches("./").to_owned()).collect()
}
