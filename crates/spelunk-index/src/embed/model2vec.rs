//! Models in the model2vec format: vectors in `model.safetensors`, a `WordPiece` vocabulary in `tokenizer.json`. Rows
//! are stored as int8, which changed no measured ranking and takes a quarter of the space.

use std::path::Path;

use serde_json::Value;

use super::EmbedError;
use super::static_embedder::{Table, read};
use super::wordpiece::Vocabulary;

const TOKENS_MAX: usize = 4_000_000;
const DIMENSIONS_MAX: usize = 8192;

pub(super) fn load(directory: &Path) -> Result<Table, EmbedError> {
    let tokenizer_path = directory.join("tokenizer.json");
    let weights_path = directory.join("model.safetensors");
    let tokenizer = read(&tokenizer_path)?;
    let tokens =
        tokens_of(&tokenizer).map_err(|why| EmbedError::Form { path: tokenizer_path.clone(), why })?;
    let weights = read(&weights_path)?;
    let form = |why| EmbedError::Form { path: weights_path.clone(), why };
    let tensor = Tensor::of(&weights).map_err(form)?;
    if tensor.n_rows != tokens.len() {
        return Err(form("its number of rows differs from its number of tokens"));
    }
    let (mut scales, mut rows) = (Vec::with_capacity(tensor.n_rows), Vec::new());
    for row in tensor.rows() {
        let (scale, bytes) = quantise(&row);
        scales.push(scale);
        rows.extend(bytes);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&tokenizer).update(&weights);
    let digest = hasher.finalize().to_hex();
    let name = directory.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
    Ok(Table {
        id: format!("{name}@{}/int8", digest.get(..16).unwrap_or_default()),
        vocabulary: Vocabulary::of(tokens.iter().map(String::as_str)),
        dimensions: tensor.dimensions,
        scales,
        rows: rows.into(),
    })
}

/// A vector as integers from -127 to 127 and their scale.
pub(crate) fn quantise(vector: &[f32]) -> (f32, impl Iterator<Item = u8>) {
    let peak = vector.iter().fold(0.0_f32, |peak, x| if x.is_finite() { peak.max(x.abs()) } else { peak });
    let scale = if peak > 0.0 { peak / 127.0 } else { 1.0 };
    // Rounds as `round` does, which is a call of a function on most processors.
    let rounded = move |x: &f32| (x / scale) + 0.5_f32.next_down().copysign(*x);
    #[expect(clippy::cast_possible_truncation, reason = "it was clamped; what is no number becomes 0")]
    let bytes = vector.iter().map(move |x| (rounded(x).clamp(-127.0, 127.0) as i8).cast_unsigned());
    (scale, bytes)
}

fn tokens_of(tokenizer: &[u8]) -> Result<Vec<String>, &'static str> {
    let tokenizer: Value = serde_json::from_slice(tokenizer).map_err(|_| "it is not JSON")?;
    let model = &tokenizer["model"];
    if model["type"].as_str() != Some("WordPiece") {
        return Err("its tokenizer is not WordPiece");
    }
    if tokenizer["normalizer"]["lowercase"].as_bool() != Some(true) {
        return Err("its tokenizer is case-sensitive");
    }
    let vocabulary = model["vocab"].as_object().ok_or("it has no vocabulary")?;
    if vocabulary.len() > TOKENS_MAX {
        return Err("its vocabulary is too large");
    }
    let mut tokens = vec![None; vocabulary.len()];
    for (token, id) in vocabulary {
        let idx = id.as_u64().and_then(|id| usize::try_from(id).ok());
        let slot = idx.and_then(|idx| tokens.get_mut(idx)).ok_or("its token ids have gaps")?;
        *slot = Some(token.clone());
    }
    tokens.into_iter().collect::<Option<Vec<_>>>().ok_or("its token ids have gaps")
}

struct Tensor<'a> {
    data: &'a [u8],
    is_half: bool,
    n_rows: usize,
    dimensions: usize,
}

impl<'a> Tensor<'a> {
    fn of(file: &'a [u8]) -> Result<Self, &'static str> {
        const SHORT: &str = "it is truncated";
        let (size, rest) = file.split_first_chunk::<8>().ok_or(SHORT)?;
        let header_bytes = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| SHORT)?;
        let (header, data) = rest.split_at_checked(header_bytes).ok_or(SHORT)?;
        let header: Value = serde_json::from_slice(header).map_err(|_| "its header is not JSON")?;
        if header.get("weights").is_some() || header.get("mapping").is_some() {
            return Err("its vocabulary is quantised, which is not supported");
        }
        let tensor = header.get("embeddings").ok_or("it has no tensor `embeddings`")?;
        let is_half = match tensor["dtype"].as_str() {
            Some("F32") => false,
            Some("F16") => true,
            Some(_) | None => return Err("its data type is neither F32 nor F16"),
        };
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let pair = |name: &str| Some((number(&tensor[name][0])?, number(&tensor[name][1])?));
        let (n_rows, dimensions) = pair("shape").ok_or("its tensor is not two-dimensional")?;
        let (start, end) = pair("data_offsets").ok_or("its header has no offsets")?;
        if n_rows > TOKENS_MAX || dimensions == 0 || dimensions > DIMENSIONS_MAX {
            return Err("its tensor is too large");
        }
        let data = data.get(start..end).ok_or(SHORT)?;
        let number_bytes = if is_half { 2 } else { 4 };
        if data.len() != n_rows * dimensions * number_bytes {
            return Err("its sizes are inconsistent");
        }
        Ok(Self { data, is_half, n_rows, dimensions })
    }

    fn rows(&self) -> impl Iterator<Item = Vec<f32>> {
        let number_bytes = if self.is_half { 2 } else { 4 };
        self.data.chunks_exact(self.dimensions * number_bytes).map(move |row| {
            if self.is_half {
                row.as_chunks::<2>().0.iter().map(|bytes| from_half(u16::from_le_bytes(*bytes))).collect()
            } else {
                row.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
        })
    }
}

/// Converts a half-precision number. Infinities and NaN are preserved.
fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    match exponent {
        0 => {
            let tiny = f32::from(bits & 0x3ff) / f32::from(1_u16 << 14) / f32::from(1_u16 << 10);
            if sign == 0 { tiny } else { -tiny }
        }
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        1.. => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}
