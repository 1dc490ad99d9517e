//! Error types that carry any explained error to the caller.

use spelunk_types::{ErrorCode, Explain};

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Any error on its way to the user.
#[derive(Debug)]
pub struct Failure(pub Box<dyn Explain + Send + Sync>);

impl<E: Explain + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{message}")]
pub(crate) struct FixedError {
    pub(crate) code: ErrorCode,
    pub(crate) message: &'static str,
    pub(crate) hint: &'static str,
}

impl Explain for FixedError {
    fn code(&self) -> ErrorCode {
        self.code
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.to_owned())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Usage {
    pub message: String,
    pub hint: String,
}

impl Usage {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl Explain for Usage {
    fn code(&self) -> ErrorCode {
        ErrorCode::UsageWrong
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}
