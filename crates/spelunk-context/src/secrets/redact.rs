//! Redaction: replaces each secret by `[secret:rule]`. Line numbers stay, so citations stay valid.

use std::borrow::Cow;

use super::find::{SecretSpan, find_secrets};
use super::rules::{Judge, RULES};
use super::watch::SecretTally;

const OPENING: &str = "[secret:";
const MARK: &[u8] = OPENING.as_bytes();

/// A replaced secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redaction {
    /// The line, from 1.
    pub line: u64,
    /// The name of the rule.
    pub rule: &'static str,
}

/// The redacted text, and what was replaced. Idempotent.
pub fn redact(text: &str) -> (Cow<'_, str>, Vec<Redaction>) {
    let spans = find_secrets(text);
    if spans.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut redacted = String::with_capacity(text.len());
    let mut redactions = Vec::with_capacity(spans.len());
    let (mut done, mut line) = (0, 1);
    for SecretSpan { bytes, rule } in spans {
        // Both ends of a span are at ASCII characters or at the end of the text.
        let kept = text.get(done..bytes.start).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', kept.as_bytes()).count() as u64;
        redacted.push_str(kept);
        redacted.push_str(OPENING);
        redacted.push_str(rule);
        redacted.push(']');
        redactions.push(Redaction { line, rule });
        done = bytes.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    (Cow::Owned(redacted), redactions)
}

pub(super) fn marks() -> impl Iterator<Item = String> {
    RULES.iter().map(|rule| format!("{OPENING}{}]", rule.name))
}

/// Counts the secrets that were redacted from a text earlier, by the marks in their place.
pub(crate) fn marks_in(text: &[u8]) -> SecretTally {
    let mut tally = SecretTally::default();
    let (mut done, mut line, mut last) = (0, 1, None);
    for at in memchr::memmem::find_iter(text, MARK) {
        let name = &text[at + MARK.len()..];
        let Some(rule) = RULES.iter().find(|rule| {
            name.strip_prefix(rule.name.as_bytes()).is_some_and(|behind| behind.starts_with(b"]"))
        }) else {
            continue;
        };
        line += memchr::memchr_iter(b'\n', &text[done..at]).count() as u64;
        done = at;
        let mark = Redaction { line, rule: rule.name };
        // The lines of a key are one secret.
        let before = last.replace(mark).filter(|_| rule.judge == Judge::KeyBody);
        if before.is_none_or(|before| before.rule != mark.rule || before.line + 1 < line) {
            tally.add(mark.rule, || line);
        }
    }
    tally
}

#[cfg(test)]
mod tests;
