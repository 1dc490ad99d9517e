//! What can go wrong between a request and its reply. Quotes of provider messages are short and never contain a key.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use spelunk_types::{ErrorCode, Explain, StopReason, Usage};

/// A feature beyond plain text that a request may use and a model may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Feature {
    /// Answers that match a JSON Schema. The engine may retry without it and validate the answer itself.
    Schema,
    /// Tool calls.
    Tools,
    /// Images.
    Images,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Schema => "a JSON Schema",
            Self::Tools => "tools",
            Self::Images => "images",
        })
    }
}

/// The detail of an error for which a provider gives no reason.
pub(crate) const NO_REASON: &str = "no reason given";

/// A request that got no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ModelError {
    #[error("the provider at `{base_url}` rejected the key: {detail}")]
    Unauthorized { base_url: String, detail: String },
    #[error("no credentials for {service}: {detail}")]
    KeysMissing { service: String, detail: String },
    #[error("{}", not_offered(base_url, model, detail))]
    NotFound { base_url: String, model: String, detail: String },
    #[error("the provider's rate limit was reached")]
    RateLimited { retry_after: Option<Duration> },
    #[error("the provider is overloaded")]
    Overloaded { retry_after: Option<Duration> },
    #[error("the provider returned status {status}: {detail}")]
    ServerError { status: u16, detail: String },
    #[error("the provider rejected the request with status {status}: {detail}")]
    RequestRefused { status: u16, detail: String },
    #[error("the provider does not support {feature} for this model: {detail}")]
    FeatureRefused { feature: Feature, detail: String },
    #[error("the prompt exceeds the model's context window: {detail}")]
    PromptTooLong { detail: String },
    #[error("could not reach `{base_url}`: {detail}")]
    Unreachable { base_url: String, detail: String },
    #[error("`{program}` exited with {status}: {detail}")]
    CommandFailed { program: String, status: String, detail: String },
    #[error("the local model `{name}` cannot be used: {detail}")]
    LocalFailed { name: String, detail: String },
    #[error("no reply within {after_ms} ms")]
    TimedOut { after_ms: u64 },
    #[error("the reply was cut off before its end")]
    StreamCut,
    #[error("the reply is not in the provider's format: {detail}")]
    ReplyMalformed { detail: String },
    #[error("the reply is empty{}", why_empty(*stop))]
    ReplyEmpty { stop: StopReason, usage: Option<Usage> },
    #[error("the reply is longer than {bytes_max} bytes")]
    ReplyTooLong { bytes_max: u64 },
}

impl ModelError {
    /// Whether the same request may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        if let Self::ReplyEmpty { stop, .. } = self {
            // A model that reasoned past its output limit would do so again, at a cost each time.
            return *stop != StopReason::Length;
        }
        self.is_outage() || matches!(self, Self::RateLimited { .. } | Self::ReplyMalformed { .. })
    }

    /// Whether the provider is failing or unreachable, so that another one may do better right now.
    /// A refusal, a wrong key or an unreadable or empty reply is not an outage: asking elsewhere
    /// would hide it. Nor is a rate limit, which the concurrency limit handles.
    pub fn is_outage(&self) -> bool {
        matches!(
            self,
            Self::Overloaded { .. }
                | Self::ServerError { .. }
                | Self::Unreachable { .. }
                | Self::CommandFailed { .. }
                | Self::TimedOut { .. }
                | Self::StreamCut
        )
    }

    pub(crate) fn timed_out(after: Duration) -> Self {
        Self::TimedOut { after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX) }
    }

    /// How long the provider asked us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::RateLimited { retry_after } | Self::Overloaded { retry_after } = self {
            return *retry_after;
        }
        None
    }
}

impl Explain for ModelError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unauthorized { .. } | Self::KeysMissing { .. } => ErrorCode::ModelUnauthorized,
            Self::NotFound { .. } | Self::LocalFailed { .. } => ErrorCode::ModelNotFound,
            Self::RateLimited { .. } => ErrorCode::ModelRateLimited,
            Self::Overloaded { .. } => ErrorCode::ModelOverloaded,
            Self::ServerError { .. } | Self::CommandFailed { .. } => ErrorCode::ModelServerError,
            Self::RequestRefused { .. } | Self::FeatureRefused { .. } => ErrorCode::ModelRequestRefused,
            Self::PromptTooLong { .. } => ErrorCode::ModelPromptTooLong,
            Self::Unreachable { .. } => ErrorCode::ModelUnreachable,
            Self::TimedOut { .. } => ErrorCode::ModelTimedOut,
            Self::StreamCut => ErrorCode::ModelStreamCut,
            Self::ReplyMalformed { .. } => ErrorCode::ModelReplyMalformed,
            Self::ReplyEmpty { .. } => ErrorCode::ModelReplyEmpty,
            Self::ReplyTooLong { .. } => ErrorCode::ModelReplyTooLong,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have the hint of their code")]
    fn hint(&self) -> Option<String> {
        let own = match self {
            Self::CommandFailed { .. } => "run the command by hand with a prompt on its standard input",
            Self::Unreachable { base_url, .. } if base_url.starts_with("command:") => {
                "check the program in `model.command`"
            }
            Self::LocalFailed { .. } => {
                "check it with `spelunk model list`, or choose another model with `--model`"
            }
            Self::FeatureRefused { feature: Feature::Schema, .. } => {
                "ask without a schema, or choose another model"
            }
            Self::FeatureRefused { feature: Feature::Tools, .. } => "choose a model that supports tools",
            Self::FeatureRefused { feature: Feature::Images, .. } => {
                "choose a model that can see images, and read PDF if it was shown pages"
            }
            _ => self.code().hint().unwrap_or("run `spelunk doctor`"),
        };
        Some(own.to_owned())
    }
}

/// Without an address there is no provider, and the detail says it all.
fn not_offered(base_url: &str, model: &str, detail: &str) -> String {
    match (base_url, detail) {
        ("", _) => detail.to_owned(),
        (_, NO_REASON) => format!("the provider at `{base_url}` does not offer `{model}`"),
        (..) => format!("the provider at `{base_url}` does not offer `{model}`: {detail}"),
    }
}

fn why_empty(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Length => ": the model used up its output limit before it began to answer",
        StopReason::Finished | StopReason::Filtered | StopReason::ToolUse | StopReason::Other => "",
    }
}
