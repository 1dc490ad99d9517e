//! Replies to requests for embeddings, in the OpenAI format.

use serde::Deserialize;

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
