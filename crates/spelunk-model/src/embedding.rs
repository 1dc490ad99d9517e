//! Embeddings: texts in, vectors out. One request per call, as with models; `embedding_batches`
//! divides a corpus into calls, and the caller retries.

use std::ops::Range;
use std::time::Duration;

use serde_json::json;
use spelunk_types::ModelRef;

use crate::caller::{BEARER, Caller};
use crate::reply::{accept, read_json};
use crate::wire::embedding as wire;
use crate::{ModelError, ModelOptions, Prompt};

const TEXTS_MAX: usize = 128;
/// The most bytes of text in one request, unless a single text is longer.
const BYTES_MAX: usize = 400_000;
const DIMENSIONS_MAX: usize = 65_536;

/// The vectors of some texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One per text, in order, all of the same length.
    pub vectors: Vec<Vec<f32>>,
}

/// Divides texts into batches that fit a request.
pub fn embedding_batches(texts: &[String]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (text_idx, text) in texts.iter().enumerate() {
        match batches.last_mut() {
            Some(batch) if batch.len() < TEXTS_MAX && bytes + text.len() <= BYTES_MAX => {
                batch.end += 1;
                bytes += text.len();
            }
            Some(_) | None => {
                batches.push(text_idx..text_idx + 1);
                bytes = text.len();
            }
        }
    }
    batches
}

/// An embedding server, in the OpenAI format.
#[derive(Debug, Clone)]
pub struct EmbeddingClient {
    caller: Caller,
    timeout: Duration,
}

impl EmbeddingClient {
    /// `POST {base_url}/embeddings`, as OpenAI, Ollama and most servers have it. The timeout of a request, from sending
    /// it to the last byte of its reply, is the only bound on a server that stays silent.
    pub fn openai(options: ModelOptions, timeout: Duration) -> Result<Self, ModelError> {
        let caller = Caller::open("openai", options, BEARER, "")?;
        Ok(Self { caller, timeout })
    }

    /// Which model this is, without the key.
    pub fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    /// Embeds a batch with one request.
    pub async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let asking = tokio::time::timeout(self.timeout, self.ask(texts));
        let vectors = asking.await.unwrap_or_else(|_| Err(ModelError::timed_out(self.timeout)))?;
        Ok(Embedded { vectors })
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = &self.caller.reference.name;
        // Without the format, some servers would send base64.
        let body = json!({ "model": model, "input": texts, "encoding_format": "float" }).to_string();
        let context = self.caller.context(&Prompt::default());
        let response =
            accept(self.caller.post_plain("/embeddings", body.into_bytes()).send().await, &context).await?;
        let body = read_json(response, &context).await?;
        read(&body, texts.len()).map_err(|detail| context.malformed(&detail))
    }
}

fn read(body: &str, n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let reply: wire::Reply =
        serde_json::from_str(body).map_err(|error| format!("the vectors are not valid: {error}"))?;
    let vectors = in_order(reply.data)?;
    if vectors.len() != n_texts {
        return Err(format!("it contains {} vectors for {n_texts} texts", vectors.len()));
    }
    let n_dimensions = vectors.first().map_or(0, Vec::len);
    if n_dimensions == 0 || n_dimensions > DIMENSIONS_MAX {
        return Err(format!("a vector has {n_dimensions} dimensions"));
    }
    if vectors.iter().any(|vector| vector.len() != n_dimensions) {
        return Err("its vectors differ in length".to_owned());
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return Err("a vector contains a value that is not a number".to_owned());
    }
    Ok(vectors)
}

/// The rows sorted by index; each index must occur once.
fn in_order(mut rows: Vec<wire::Row>) -> Result<Vec<Vec<f32>>, String> {
    for (row_idx, row) in rows.iter_mut().enumerate() {
        // A server that does not number its rows sends them in order.
        row.index.get_or_insert(row_idx);
    }
    rows.sort_by_key(|row| row.index);
    if rows.iter().enumerate().any(|(row_idx, row)| row.index != Some(row_idx)) {
        return Err("its rows are not numbered from 0".to_owned());
    }
    Ok(rows.into_iter().map(|row| row.embedding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_in_number_and_in_bytes() {
        let of =
            |lens: &[usize]| embedding_batches(&lens.iter().map(|len| "x".repeat(*len)).collect::<Vec<_>>());
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[1; 300]), [0..128, 128..256, 256..300]);
        assert_eq!(of(&[300_000, 100_000, 1]), [0..2, 2..3]);
        assert_eq!(of(&[1, 5_000_000, 1]), [0..1, 1..2, 2..3]);
    }
}
