//! Maps provider errors, before the stream or inside it, to typed errors.

use std::time::Duration;

use reqwest::header::HeaderMap;

use crate::wire::error::{ProviderError, RETRY_AFTER_MAX};
use crate::wire::model_error::NO_REASON;
use crate::{Feature, ModelError, Prompt, Secret, time};

const DETAIL_CHARS_MAX: usize = 300;

/// How providers report that a prompt is too long. Nearly all mention the length, size, limit or
/// window of a context.
const TOO_LONG_WORDS: [&str; 24] = [
    // OpenAI, vLLM, SGLang, LM Studio, Ollama, Mistral, DeepSeek, OpenRouter and most others.
    "context length",
    "context_length_exceeded",
    "context window",
    // Anthropic.
    "context limit",
    "prompt is too long",
    "request_too_large",
    // llama.cpp.
    "context size",
    "exceed_context_size",
    "exceed_context_size_error",
    "input is too large to process",
    // Gemini.
    "input token count",
    // Bedrock.
    "input is too long",
    "too many input tokens",
    "too many total text bytes",
    // OpenAI's own limit on the input.
    "input tokens exceed",
    // SGLang.
    "exceeds the maximum allowed length",
    // TGI and servers based on it.
    "`inputs` tokens",
    "`inputs` must have less than",
    // Grok, GitHub, Groq, Kimi, Cohere, Qwen, GLM.
    "maximum prompt length",
    "prompt token count",
    "reduce the length of the",
    "exceeded model token limit",
    "too many tokens",
    "range of input length",
];

/// How OpenAI and Groq report that a single request exceeds the allowance of a minute: no wait helps.
const TOO_LARGE_WORDS: [&str; 1] = ["request too large"];

/// How Gemini reports with a 400 what others report with a 401.
const KEY_WORDS: [&str; 3] = ["api_key_invalid", "api key not valid", "api key expired"];

/// How Bedrock reports with a 400 what others report with a 404.
const UNKNOWN_MODEL_WORDS: [&str; 2] = ["model identifier is invalid", "invalid model identifier"];

/// How OpenAI reports an account without credit.
const QUOTA_WORDS: [&str; 1] = ["insufficient_quota"];

const SCHEMA_WORDS: [&str; 10] = [
    "response_format",
    "json_schema",
    "output_config",
    "output_format",
    "structured output",
    "responsejsonschema",
    "response_json_schema",
    "schema",
    "grammar",
    "response mime type",
];

const TOOL_WORDS: [&str; 2] = ["tool", "function"];

const IMAGE_WORDS: [&str; 4] = ["image", "vision", "multimodal", "pdf"];

/// The recipient of a request: what error messages name, and the keys they must not contain.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) keys: Vec<Secret>,
    has_schema: bool,
    has_tools: bool,
    has_images: bool,
}

impl RequestContext {
    pub(crate) fn new(base_url: String, model: String, keys: Vec<Secret>) -> Self {
        Self { base_url, model, keys, has_schema: false, has_tools: false, has_images: false }
    }

    pub(crate) fn with_features(mut self, prompt: &Prompt) -> Self {
        self.has_schema = prompt.schema.is_some();
        self.has_tools = !prompt.tools.is_empty();
        self.has_images = prompt.has_images();
        self
    }

    /// The typed error for a status and the provider's message.
    pub(crate) fn refused(
        &self,
        status: u16,
        retry_after: Option<Duration>,
        said: &ProviderError,
    ) -> ModelError {
        let detail = self.detail(&said.message);
        let base_url = self.base_url.clone();
        let retry_after = retry_after.or(said.retry_after);
        match status {
            401 | 403 => ModelError::Unauthorized { base_url, detail },
            400 if says(said, &KEY_WORDS) => ModelError::Unauthorized { base_url, detail },
            404 => ModelError::NotFound { base_url, model: self.model.clone(), detail },
            400 if says(said, &UNKNOWN_MODEL_WORDS) => {
                ModelError::NotFound { base_url, model: self.model.clone(), detail }
            }
            // A part of the text may fit where all of it is rejected for its size, whoever rejects it.
            413 => ModelError::PromptTooLong { detail },
            429 if says(said, &TOO_LARGE_WORDS) => ModelError::PromptTooLong { detail },
            // Some servers have no better status for this, and an error inside a stream often has none.
            400 | 422 | 500 if says(said, &TOO_LONG_WORDS) => ModelError::PromptTooLong { detail },
            // Waiting does not help an account without credit.
            429 if says(said, &QUOTA_WORDS) => ModelError::RequestRefused { status, detail },
            429 => ModelError::RateLimited { retry_after },
            503 | 529 => ModelError::Overloaded { retry_after },
            // Bedrock's statuses for a model that failed or timed out.
            408 | 424 => ModelError::ServerError { status, detail },
            0..500 | 501 => match self.refuses_feature(status, said) {
                Some(feature) => ModelError::FeatureRefused { feature, detail },
                None if status == 501 => ModelError::ServerError { status, detail },
                None => ModelError::RequestRefused { status, detail },
            },
            500.. => ModelError::ServerError { status, detail },
        }
    }

    /// The feature that a refusal is about, if the request used it.
    fn refuses_feature(&self, status: u16, said: &ProviderError) -> Option<Feature> {
        if !matches!(status, 400 | 422 | 501) {
            return None;
        }
        if self.has_schema && says(said, &SCHEMA_WORDS) {
            return Some(Feature::Schema);
        }
        if self.has_images && says(said, &IMAGE_WORDS) {
            return Some(Feature::Images);
        }
        // A schema is sent to Bedrock as a tool, so a message about tools is about the schema if no tool was offered.
        let feature = if self.has_tools { Feature::Tools } else { Feature::Schema };
        ((self.has_tools || self.has_schema) && says(said, &TOOL_WORDS)).then_some(feature)
    }

    /// A reply that is not in the provider's format.
    pub(crate) fn malformed(&self, detail: &str) -> ModelError {
        ModelError::ReplyMalformed { detail: self.detail(detail) }
    }

    pub(crate) fn unreachable(&self, detail: &str) -> ModelError {
        ModelError::Unreachable { base_url: self.base_url.clone(), detail: self.detail(detail) }
    }

    /// A provider's message as one short line without the key. The key is removed before truncating, or part of it
    /// might remain.
    pub(crate) fn detail(&self, text: &str) -> String {
        let text = self.keys.iter().fold(text.to_owned(), |text, key| key.redact(&text));
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            return NO_REASON.to_owned();
        }
        if line.chars().count() <= DETAIL_CHARS_MAX {
            return line;
        }
        line.chars().take(DETAIL_CHARS_MAX - 1).chain(['…']).collect()
    }
}

/// The wait that a provider requests, in seconds or until a date. Other values are ignored.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let number = |name: &str| text(name)?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    let wait = match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        // Relative to the server's own clock, which the response also contains.
        None => {
            let until = time::parse_http(text("retry-after")?)?;
            until.duration_since(time::parse_http(text("date")?)?).ok()?
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

fn says(said: &ProviderError, words: &[&str]) -> bool {
    let message = said.message.to_ascii_lowercase();
    words.iter().any(|words| {
        message.contains(words) || said.codes.iter().any(|code| code.eq_ignore_ascii_case(words))
    })
}

#[cfg(test)]
mod tests;
