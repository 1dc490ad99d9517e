//! What can go wrong between a request and its reply. Provider texts are quoted short and never hold a key.

use std::time::Duration;

use spelunk_types::{ErrorCode, Explain};

/// A request that brought no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ModelError {
    #[error("the provider at `{base_url}` did not accept the key: {detail}")]
    Unauthorized { base_url: String, detail: String },
    #[error("the provider at `{base_url}` does not know `{model}`: {detail}")]
    NotFound { base_url: String, model: String, detail: String },
    #[error("the provider asks for fewer requests")]
    RateLimited { retry_after: Option<Duration> },
    #[error("the provider has no capacity right now")]
    Overloaded { retry_after: Option<Duration> },
    #[error("the provider answered with status {status}: {detail}")]
    ServerError { status: u16, detail: String },
    #[error("the provider refused the request with status {status}: {detail}")]
    RequestRefused { status: u16, detail: String },
    #[error("the prompt is longer than the model's window: {detail}")]
    PromptTooLong { detail: String },
    #[error("could not reach `{base_url}`: {detail}")]
    Unreachable { base_url: String, detail: String },
    #[error("no reply within {after_ms} ms")]
    TimedOut { after_ms: u64 },
    #[error("the reply ended before its end mark")]
    StreamCut,
    #[error("the reply is not in the provider's format: {detail}")]
    ReplyMalformed { detail: String },
    #[error("the reply is longer than {bytes_max} bytes")]
    ReplyTooLong { bytes_max: u64 },
}

impl ModelError {
    /// Whether the same request may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::ServerError { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::StreamCut
            | Self::ReplyMalformed { .. } => true,
            Self::Unauthorized { .. }
            | Self::NotFound { .. }
            | Self::RequestRefused { .. }
            | Self::PromptTooLong { .. }
            | Self::ReplyTooLong { .. } => false,
        }
    }

    /// How long the provider asked us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } | Self::Overloaded { retry_after } => *retry_after,
            Self::Unauthorized { .. }
            | Self::NotFound { .. }
            | Self::ServerError { .. }
            | Self::RequestRefused { .. }
            | Self::PromptTooLong { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::StreamCut
            | Self::ReplyMalformed { .. }
            | Self::ReplyTooLong { .. } => None,
        }
    }
}

impl Explain for ModelError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unauthorized { .. } => ErrorCode::ModelUnauthorized,
            Self::NotFound { .. } => ErrorCode::ModelNotFound,
            Self::RateLimited { .. } => ErrorCode::ModelRateLimited,
            Self::Overloaded { .. } => ErrorCode::ModelOverloaded,
            Self::ServerError { .. } => ErrorCode::ModelServerError,
            Self::RequestRefused { .. } => ErrorCode::ModelRequestRefused,
            Self::PromptTooLong { .. } => ErrorCode::ModelPromptTooLong,
            Self::Unreachable { .. } => ErrorCode::ModelUnreachable,
            Self::TimedOut { .. } => ErrorCode::ModelTimedOut,
            Self::StreamCut => ErrorCode::ModelStreamCut,
            Self::ReplyMalformed { .. } => ErrorCode::ModelReplyMalformed,
            Self::ReplyTooLong { .. } => ErrorCode::ModelReplyTooLong,
        }
    }

    fn hint(&self) -> Option<String> {
        self.code().hint().map(str::to_owned)
    }
}
