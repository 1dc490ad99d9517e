//! Refusals: what a provider says in place of a reply, before the stream or inside it, and the typed error it becomes.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::wire::error::ProviderError;
use crate::{ModelError, Secret};

/// The longest quote of a provider's words.
const DETAIL_CHARS_MAX: usize = 300;

/// A longer wait than this is not a wait but a refusal; the engine has its own, lower bound.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// How providers say that a prompt is too long.
const TOO_LONG_WORDS: [&str; 6] = [
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "maximum context length",
    "context window",
    "available context size",
];

/// Who was asked: what error messages name, and the key they must not hold.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
}

impl Asked {
    /// The typed error for a status and what the provider said with it.
    pub(crate) fn refused(
        &self,
        status: u16,
        retry_after: Option<Duration>,
        said: &ProviderError,
    ) -> ModelError {
        let detail = self.detail(&said.message);
        let base_url = self.base_url.clone();
        match status {
            401 | 403 => ModelError::Unauthorized { base_url, detail },
            404 => ModelError::NotFound { base_url, model: self.model.clone(), detail },
            429 => ModelError::RateLimited { retry_after },
            503 | 529 => ModelError::Overloaded { retry_after },
            400 | 413 if says_too_long(said) => ModelError::PromptTooLong { detail },
            500.. => ModelError::ServerError { status, detail },
            0..500 => ModelError::RequestRefused { status, detail },
        }
    }

    /// A reply that is not in the provider's format.
    pub(crate) fn malformed(&self, detail: &str) -> ModelError {
        ModelError::ReplyMalformed { detail: self.detail(detail) }
    }

    /// No response at all.
    pub(crate) fn unreachable(&self, detail: &str) -> ModelError {
        ModelError::Unreachable { base_url: self.base_url.clone(), detail: self.detail(detail) }
    }

    /// Foreign words as one short line without the key. The key goes first: a cut must not leave half of it.
    pub(crate) fn detail(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        };
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            return "no reason given".to_owned();
        }
        if line.chars().count() <= DETAIL_CHARS_MAX {
            return line;
        }
        line.chars().take(DETAIL_CHARS_MAX - 1).chain(['…']).collect()
    }
}

/// The wait a provider asks for. A date, a sign or anything else that is no number of seconds is no wait.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    Some(wait.min(RETRY_AFTER_MAX))
}

/// Whether a status is a reply.
pub(crate) fn is_reply(status: StatusCode) -> bool {
    status == StatusCode::OK
}

fn says_too_long(said: &ProviderError) -> bool {
    let message = said.message.to_ascii_lowercase();
    TOO_LONG_WORDS.iter().any(|words| message.contains(words) || said.codes.iter().any(|code| code == words))
}

#[cfg(test)]
mod tests;
