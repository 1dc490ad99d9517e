//! A secret: text that goes into one request header and nowhere else. It cannot be printed or read back, and it is
//! redacted from provider messages.

use std::fmt;

use reqwest::header::HeaderValue;

/// Shorter texts are words, not keys: local servers accept `none`, `x` and the like, and redacting those would make
/// every message unreadable.
const REDACTED_BYTES_MIN: usize = 8;

const REDACTED: &str = "[key]";

/// A key.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key, trimming whitespace.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The header value `<prefix><key>`, marked as sensitive; `None` if it is not valid in a header.
    pub(crate) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The key itself, for signing.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.len() < REDACTED_BYTES_MIN {
            return text.to_owned();
        }
        text.replace(&self.0, REDACTED)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({REDACTED})")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests;
