//! Embedders turn texts into vectors; texts of similar meaning are close to each other. The default
//! is a built-in table of word vectors; a remote model can implement the same trait.

use std::path::PathBuf;

use spelunk_types::{ErrorCode, Explain};

mod model2vec;
mod static_embedder;
mod wordpiece;

pub(crate) use model2vec::quantise;
pub use static_embedder::StaticEmbedder;

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// The name of the model and everything that changes its vectors. Vectors of different ids are never compared.
    fn id(&self) -> &str;

    /// The length of every vector.
    fn dimensions(&self) -> usize;

    /// One vector per text, in order. A text without meaning (no word the model knows) is all zeros.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// A model that is unavailable or did not respond.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EmbedError {
    #[error("there is no model file at `{path}`")]
    Missing { path: PathBuf },
    #[error("could not read the model file `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the model file `{path}` is damaged: its checksum does not match")]
    Checksum { path: PathBuf },
    #[error("the model file `{path}` has an unsupported format: {why}")]
    Form { path: PathBuf, why: &'static str },
    #[error("the embedding model `{model}` did not respond: {why}")]
    Remote {
        model: String,
        why: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("the embedding model `{model}` gave {given} vectors of {dimensions} numbers for {asked} texts")]
    Shape { model: String, asked: usize, given: usize, dimensions: usize },
}

impl Explain for EmbedError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Missing { .. } => ErrorCode::EmbeddingMissing,
            Self::Unreadable { .. } | Self::Checksum { .. } | Self::Form { .. } => {
                ErrorCode::EmbeddingDamaged
            }
            Self::Remote { .. } => ErrorCode::ModelUnreachable,
            Self::Shape { .. } => ErrorCode::ModelReplyMalformed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing { .. } => "pass a directory with `model.safetensors` and `tokenizer.json`",
            Self::Unreadable { .. } => "check that it is readable",
            Self::Checksum { .. } => "download the file again",
            Self::Form { .. } => "use a static model in the model2vec format with a WordPiece tokenizer",
            Self::Remote { .. } => "search by words, or check that the model responds",
            Self::Shape { .. } => "choose another embedding model",
        };
        Some(hint.to_owned())
    }
}
