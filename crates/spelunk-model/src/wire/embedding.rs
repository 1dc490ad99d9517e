//! Embeddings: the requests in the OpenAI format, and their replies.

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) input: &'a [String],
    /// Some servers would otherwise send base64.
    pub(crate) encoding_format: &'static str,
}

/// The order of the rows is not guaranteed.
#[derive(Debug, Deserialize)]
pub(crate) struct Reply {
    pub(crate) data: Vec<Row>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) index: Option<usize>,
    pub(crate) embedding: Vec<f32>,
}
