//! The providers' formats, as serde types. Replies are hostile input: every field that we can do without is optional,
//! and what we do not know is skipped.

pub(crate) mod anthropic;
pub(crate) mod error;
pub(crate) mod openai;
