//! Finds secrets: one pass finds where a keyword of any rule may begin, and the expressions of its rule are tried only
//! there. Every find depends only on the bytes around its keyword, and overlapping finds are merged.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::assigned;
use super::rules::{After, Before, Judge, RULES, Rule};
use super::secret_filters::{is_cookie, is_placeholder, is_random};
use super::words::is_wordlike;
use crate::needles::Starts;

/// Whether a byte is secret depends on no byte further away than this: include this much around a part.
pub const REDACT_REACH_BYTES: usize = 16 * 1024;

/// Whether there is a secret at a keyword depends on no byte further before it than this.
pub(super) const LOOK_BACK_BYTES: usize = assigned::NAME_BYTES_MAX + 1;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSpan {
    /// The bytes to replace. Never a line break, so a key of many lines is many spans.
    pub bytes: Range<usize>,
    /// The name of the rule.
    pub rule: &'static str,
}

/// The secrets in a text, sorted and not overlapping.
pub fn find_secrets(text: &str) -> Vec<SecretSpan> {
    spans_of(text.as_bytes(), finds_in(text.as_bytes(), 0, text.len()))
}

pub(super) fn spans_of(text: &[u8], finds: Vec<Find>) -> Vec<SecretSpan> {
    let mut spans = Vec::new();
    for find in joined(finds) {
        let rule = find.rule();
        spans.extend(lines_of(text, find.bytes).map(|bytes| SecretSpan { bytes, rule }));
    }
    spans
}

/// A match of one rule; a key is still one range of many lines.
#[derive(Debug, Clone)]
pub(super) struct Find {
    pub(super) bytes: Range<usize>,
    rule_idx: usize,
}

impl Find {
    pub(super) fn rule(&self) -> &'static str {
        RULES[self.rule_idx].name
    }

    /// Whether it is the body of a key, the only form of secret that spans several lines.
    pub(super) fn is_key(&self) -> bool {
        RULES[self.rule_idx].judge == Judge::KeyBody
    }
}

/// All finds whose keyword begins in `from..to`, unsorted. `text` extends further on both sides where possible.
pub(super) fn finds_in(text: &[u8], from: usize, to: usize) -> Vec<Find> {
    let engine = &*ENGINE;
    let mut finds = Vec::new();
    let mut next = from;
    let seen = text.get(..to.saturating_add(3)).unwrap_or(text);
    while let Some((at, label)) = engine.starts.find(seen, next).filter(|&(at, _)| at < to) {
        for &(keyword, rule_idx) in engine.keywords.get(usize::from(label)).into_iter().flatten() {
            let word = text.get(at..at + keyword.len());
            if word.is_some_and(|word| word.eq_ignore_ascii_case(keyword.as_bytes())) {
                let bytes = engine.rules[rule_idx].find_at(text, at);
                finds.extend(bytes.map(|bytes| Find { bytes, rule_idx }));
            }
        }
        next = at + 1;
    }
    finds
}

/// Sorts finds and merges those that overlap. The most specific rule gives the name.
pub(super) fn joined(mut finds: Vec<Find>) -> Vec<Find> {
    finds.sort_by_key(|find| find.bytes.start);
    let mut apart: Vec<Find> = Vec::with_capacity(finds.len());
    for find in finds {
        match apart.last_mut() {
            Some(last) if find.bytes.start < last.bytes.end => {
                last.bytes.end = last.bytes.end.max(find.bytes.end);
                last.rule_idx = last.rule_idx.min(find.rule_idx);
            }
            Some(_) | None => apart.push(find),
        }
    }
    apart
}

fn lines_of(text: &[u8], bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = bytes.start;
    let lines = text[bytes].split_inclusive(|&byte| byte == b'\n').map(move |line| {
        let range = start..start + line.trim_ascii_end().len();
        start += line.len();
        range
    });
    lines.filter(|line| !line.is_empty())
}

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::build);

struct Engine {
    starts: Starts,
    /// The keywords by the labels of their starts, with the indexes of their rules.
    keywords: Vec<Vec<(&'static str, usize)>>,
    rules: Vec<Compiled>,
}

impl Engine {
    fn build() -> Self {
        let mut starts = Starts::default();
        let mut keywords: Vec<Vec<(&str, usize)>> = vec![Vec::new()];
        for (rule_idx, rule) in RULES.iter().enumerate() {
            for keyword in rule.keywords.split('|') {
                let new = u8::try_from(keywords.len()).expect("there are fewer keywords than labels");
                keywords.push(Vec::new());
                starts.labels_of(
                    keyword.as_bytes(),
                    |byte| rule.may_continue_with(byte),
                    |label| {
                        *label = if *label == 0 { new } else { *label };
                        let alike = &mut keywords[usize::from(*label)];
                        if !alike.contains(&(keyword, rule_idx)) {
                            alike.push((keyword, rule_idx));
                        }
                    },
                );
            }
        }
        Self { starts, keywords, rules: RULES.iter().map(Compiled::new).collect() }
    }
}

struct Compiled {
    rule: &'static Rule,
    head: Regex,
    value: Regex,
}

impl Compiled {
    fn new(rule: &'static Rule) -> Self {
        let anchored = |pattern: &str| {
            RegexBuilder::new(&format!("\\A(?:{pattern})")).unicode(false).build().expect("rules are tested")
        };
        Self { rule, head: anchored(rule.head), value: anchored(rule.value) }
    }

    fn find_at(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let rule = self.rule;
        let is_edge = |at: Option<usize>| {
            at.and_then(|at| text.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        };
        let previous = at.checked_sub(1);
        if rule.before == Before::Edge && !is_edge(previous) {
            return None;
        }
        // Our own marker is not the name of a secret.
        let window = &text[at..at.saturating_add(REDACT_REACH_BYTES).min(text.len())];
        if previous.is_some_and(|previous| text[previous] == b'[') && window.starts_with(b"secret:") {
            return None;
        }
        if rule.judge == Judge::Assigned {
            return assigned::find_at(text, at);
        }
        let head = self.head.find(window)?.end();
        let length = if rule.judge == Judge::KeyBody {
            key_body_bytes(&window[head..])?
        } else {
            let length = self.value.find(&window[head..])?.end();
            // A value does not extend into the header or footer of a key.
            match memchr::memmem::find(&window[head..head + length], b"-----") {
                Some(dashes) => self.value.find(&window[head..head + dashes])?.end(),
                None => length,
            }
        };
        let (start, end) = (at + head, at + head + length);
        // A value cut off by a marker was checked whole before, and was not a secret.
        if text[end..].starts_with(b"[secret:") {
            return None;
        }
        let ends_well = match rule.after {
            After::Anything => true,
            After::Edge => is_edge(Some(end)),
            After::At => text.get(end) == Some(&b'@'),
        };
        let value = &text[start..end];
        let is_secret = match rule.judge {
            Judge::KeyBody => true,
            Judge::Form => !is_placeholder(value),
            Judge::Random => is_random(value) && !is_placeholder(value),
            Judge::RandomWords => is_random(value) && !is_wordlike(value) && !is_placeholder(value),
            Judge::Wordless => !is_wordlike(value) && !is_placeholder(value),
            Judge::Cookie => is_cookie(value),
            Judge::Assigned => false,
        };
        (ends_well && is_secret).then_some(start..end)
    }
}

const KEY_HEADERS: [&[u8]; 6] =
    [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Charset:", b"Hash:"];

/// The length of the key after its header: up to the footer, or while lines look like part of a key.
fn key_body_bytes(text: &[u8]) -> Option<usize> {
    /// A run of characters this long occurs only in a key.
    const RUN_BYTES_MIN: usize = 20;
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let length = match memchr::memmem::find(text, b"-----END ") {
        Some(footer) => footer,
        None => {
            let is_key_line = |line: &&[u8]| {
                let line = line.trim_ascii();
                line.iter().all(is_base64) || KEY_HEADERS.iter().any(|header| line.starts_with(header))
            };
            text.split_inclusive(|&byte| byte == b'\n').take_while(is_key_line).map(<[u8]>::len).sum()
        }
    };
    let body = &text[..length];
    let longest = body.split(|byte| !is_base64(byte)).map(<[u8]>::len).max().unwrap_or_default();
    let has_key = longest >= RUN_BYTES_MIN && !is_placeholder(body);
    has_key.then_some(length)
}
