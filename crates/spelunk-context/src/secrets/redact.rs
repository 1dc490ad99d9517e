//! Redaction: a text with each secret replaced by `[secret:rule]`. Lines keep their numbers, so that a citation of the
//! redacted text is one of the original.

use std::borrow::Cow;

use super::find::{SecretSpan, find_secrets};

/// A secret that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redaction {
    /// From 1.
    pub line: u64,
    /// The name of the rule.
    pub rule: &'static str,
}

/// The text without its secrets, and what was replaced. Redacting again changes nothing.
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
        redacted.push_str("[secret:");
        redacted.push_str(rule);
        redacted.push(']');
        redactions.push(Redaction { line, rule });
        done = bytes.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    (Cow::Owned(redacted), redactions)
}

#[cfg(test)]
mod tests;
