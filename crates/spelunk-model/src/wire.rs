//! The providers' formats, and our own between nodes, as serde types. Replies are hostile input: every dispensable field is optional, and unknown
//! ones are skipped.

pub(crate) mod anthropic;
pub(crate) mod aws;
pub(crate) mod bedrock;
pub(crate) mod catalogue;
pub(crate) mod command;
pub(crate) mod elsewhere;
pub(crate) mod embedding;
pub(crate) mod error;
pub(crate) mod gemini;
pub(crate) mod image;
pub(crate) mod model_error;
pub(crate) mod openai;
pub(crate) mod prompt;
pub(crate) mod responses;
pub(crate) mod tool;
