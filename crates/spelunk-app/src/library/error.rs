//! The single error type of the library: what could not be done, a stable code, and a hint.

use std::fmt;

use spelunk_types::{ErrorCode, Explain};

use crate::failure::{Failure, FixedError};

/// Why a run could not be started or continued.
pub struct Error(Box<dyn Explain + Send + Sync>);

impl Error {
    /// The stable error code; `docs/errors.md` lists them.
    pub fn code(&self) -> ErrorCode {
        self.0.code()
    }

    /// One next step, if there is one.
    pub fn hint(&self) -> Option<String> {
        self.0.hint().or_else(|| self.code().hint().map(str::to_owned))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("code", &self.code().name()).field("message", &self.to_string());
        shown.field("hint", &self.hint()).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self(failure.0)
    }
}

impl<E: Explain + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

pub(super) const NO_MODEL: FixedError = FixedError {
    code: ErrorCode::ModelNotConfigured,
    message: "no model is configured",
    hint: "choose one with `Builder::model`, or set ANTHROPIC_API_KEY or OPENAI_API_KEY",
};
