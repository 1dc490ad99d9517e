//! Errors on their way to whoever asked.

use spelunk_types::{ErrorCode, Explain};

/// An error on its way to the user.
#[derive(Debug)]
pub struct Failure(pub Box<dyn Explain + Send + Sync>);

impl<E: Explain + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

/// A request that cannot be carried out as it is.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Usage {
    pub message: String,
    pub hint: String,
}

impl Explain for Usage {
    fn code(&self) -> ErrorCode {
        ErrorCode::UsageWrong
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}
