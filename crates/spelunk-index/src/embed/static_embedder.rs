//! The static embedder: a vector per word piece, and their mean for a text. No network, no accelerator and no word
//! order; a passage takes microseconds. The default model is part of the program.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::wordpiece::Vocabulary;
use super::{EmbedError, Embedder, model2vec};
use crate::files;

/// potion-base-8M in int8 rows; see `data/README.md`.
static EMBEDDED: &[u8] = include_bytes!("../../data/potion-base-8m.bin");

/// The location of the built-in model, for messages.
const EMBEDDED_NAME: &str = "(built in)";

const MAGIC: &[u8; 8] = b"SPLKSTA1";
const CHECKSUM_BYTES: usize = 32;

/// How many pieces of a text are used; the rest adds nothing to its topic.
const TOKENS_MAX: usize = 512;
pub(super) const MODEL_BYTES_MAX: u64 = 1 << 30;

/// A table of word vectors.
#[derive(Debug, Clone)]
pub struct StaticEmbedder(Arc<Table>);

#[derive(Debug)]
pub(super) struct Table {
    pub(super) id: String,
    pub(super) vocabulary: Vocabulary,
    pub(super) dimensions: usize,
    pub(super) scales: Vec<f32>,
    /// One row of int8 per token.
    pub(super) rows: Cow<'static, [u8]>,
}

impl StaticEmbedder {
    /// The model that ships with the program. Its checksum is verified once.
    pub fn embedded() -> Result<Self, EmbedError> {
        static LOADED: OnceLock<Option<StaticEmbedder>> = OnceLock::new();
        let loaded = LOADED.get_or_init(|| {
            Some(Self(Arc::new(Table::parse(EMBEDDED, Path::new(EMBEDDED_NAME), Cow::Borrowed).ok()?)))
        });
        loaded.clone().ok_or_else(|| EmbedError::Checksum { path: EMBEDDED_NAME.into() })
    }

    /// A model in the compact format that `data/convert.py` writes.
    pub fn from_file(path: &Path) -> Result<Self, EmbedError> {
        let table = Table::parse(&read(path)?, path, |rows| Cow::Owned(rows.to_vec()))?;
        Ok(Self(Arc::new(table)))
    }

    /// A model2vec model: a directory with `model.safetensors` and `tokenizer.json`.
    pub fn from_dir(path: &Path) -> Result<Self, EmbedError> {
        model2vec::load(path).map(|table| Self(Arc::new(table)))
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    match files::read_whole(path, MODEL_BYTES_MAX) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(EmbedError::Missing { path: path.to_owned() }),
        Err(source) => Err(EmbedError::Unreadable { path: path.to_owned(), source }),
    }
}

impl Embedder for StaticEmbedder {
    fn id(&self) -> &str {
        &self.0.id
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (mut scratch, mut ids) = (String::new(), Vec::new());
        let embed_one = |text: &&str| {
            self.0.vocabulary.cut(text, TOKENS_MAX, &mut scratch, &mut ids);
            self.0.mean(&mut ids)
        };
        Ok(texts.iter().map(embed_one).collect())
    }
}

impl Table {
    /// The mean of the rows, normalised to length 1; all zeros if there are none.
    fn mean(&self, ids: &mut [u32]) -> Vec<f32> {
        let mut sum = vec![0.0_f32; self.dimensions];
        // Adding rows is most of the work, so a piece that occurs often is added once.
        ids.sort_unstable();
        for equal in ids.chunk_by(|a, b| a == b) {
            let id = equal[0] as usize;
            let Some(scale) = self.scales.get(id) else { continue };
            let weight = scale * f32::from(u16::try_from(equal.len()).unwrap_or(u16::MAX));
            let row = self.rows.get(id * self.dimensions..).unwrap_or_default();
            for (sum, &byte) in sum.iter_mut().zip(row) {
                *sum += weight * f32::from(byte.cast_signed());
            }
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in &mut sum {
                *x /= length;
            }
        }
        sum
    }

    /// Reads a compact file, fully validated; `keep` takes its rows.
    fn parse<'a>(
        bytes: &'a [u8],
        path: &Path,
        keep: impl FnOnce(&'a [u8]) -> Cow<'static, [u8]>,
    ) -> Result<Self, EmbedError> {
        let form = |why| EmbedError::Form { path: path.to_owned(), why };
        let body_bytes = bytes.len().checked_sub(CHECKSUM_BYTES).ok_or_else(|| form("it is too short"))?;
        let (body, checksum) = bytes.split_at(body_bytes);
        let rest = body.strip_prefix(MAGIC).ok_or_else(|| form("it has an unknown header"))?;
        if blake3::hash(body).as_bytes() != checksum {
            return Err(EmbedError::Checksum { path: path.to_owned() });
        }
        let (head, rest) = rest.split_first_chunk::<16>().ok_or_else(|| form("it is too short"))?;
        let mut sizes = head.as_chunks::<4>().0.iter().map(|size| u32::from_le_bytes(*size) as usize);
        let [name_bytes, vocabulary_bytes, n_tokens, dimensions] =
            std::array::from_fn(|_| sizes.next().unwrap_or_default());
        let mut rest = rest;
        let mut part = |n_bytes: usize| {
            let (part, after) = rest.split_at_checked(n_bytes)?;
            rest = after;
            Some(part)
        };
        let parts = [
            part(name_bytes),
            part(vocabulary_bytes),
            part(n_tokens.saturating_mul(4)),
            part(n_tokens.saturating_mul(dimensions)),
        ];
        let [Some(name), Some(vocabulary), Some(scales), Some(rows)] = parts else {
            return Err(form("its sizes are inconsistent"));
        };
        if !rest.is_empty() || dimensions == 0 {
            return Err(form("its sizes are inconsistent"));
        }
        let name = std::str::from_utf8(name).map_err(|_| form("its name is not UTF-8"))?;
        let vocabulary = std::str::from_utf8(vocabulary).map_err(|_| form("its vocabulary is not UTF-8"))?;
        let (scales, _) = scales.as_chunks::<4>();
        Ok(Self {
            id: format!("{name}/int8"),
            vocabulary: Vocabulary::of(vocabulary.split('\n')),
            dimensions,
            scales: scales.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            rows: keep(rows),
        })
    }
}

#[cfg(test)]
mod tests;
