//! Embeddings: texts in, vectors out. One request per call, as with models; `embedding_batches`
//! divides a corpus into calls, and the caller retries.

use std::ops::Range;
use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use spelunk_types::{ModelRef, Usage};

use crate::caller::{Caller, KeyHeader};
use crate::reply::{accept, read_json};
use crate::wire::embedding as wire;
use crate::{ModelError, ModelOptions, Price, Prompt};

const TEXTS_MAX: usize = 128;
/// The most bytes of text in one request, unless a single text is longer.
const BYTES_MAX: usize = 400_000;
/// The default request timeout: enough for the longest request on a slow machine.
const TIMEOUT: Duration = Duration::from_mins(2);
/// Longer vectors are rejected.
const DIMENSIONS_MAX: usize = 65_536;

/// The vectors of some texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One per text, in order, all of the same length.
    pub vectors: Vec<Vec<f32>>,
    /// What the call consumed, with its cost; `None` if the server did not report it.
    pub usage: Option<Usage>,
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

/// An embedding server, in the OpenAI or Ollama format.
#[derive(Debug, Clone)]
pub struct EmbeddingClient {
    caller: Caller,
    format: Format,
    timeout: Duration,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    OpenAi,
    Ollama,
}

impl EmbeddingClient {
    /// `POST {base_url}/embeddings`, as OpenAI and most servers have it.
    pub fn openai(options: ModelOptions) -> Result<Self, ModelError> {
        Self::open("openai", options, "", Format::OpenAi)
    }

    /// `POST {base_url}/api/embed`, as Ollama has it; a trailing `/v1` is ignored.
    pub fn ollama(options: ModelOptions) -> Result<Self, ModelError> {
        Self::open("ollama", options, "/v1", Format::Ollama)
    }

    /// Sets the timeout of a request, from sending it to the last byte of its reply.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Which model this is, without the key.
    pub fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    /// What it costs, if known.
    pub fn price(&self) -> Option<Price> {
        self.caller.facts.price
    }

    /// Embeds a batch with one request. The timeout is the only bound on a server that accepts the
    /// request and stays silent.
    pub async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let asking = tokio::time::timeout(self.timeout, self.ask(texts));
        asking.await.unwrap_or_else(|_| Err(ModelError::timed_out(self.timeout)))
    }

    fn open(provider: &str, options: ModelOptions, suffix: &str, format: Format) -> Result<Self, ModelError> {
        let key_header = KeyHeader { name: AUTHORIZATION, prefix: "Bearer " };
        let caller = Caller::open(provider, options, &key_header, suffix)?;
        Ok(Self { caller, format, timeout: TIMEOUT })
    }

    async fn ask(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        if texts.is_empty() {
            return Ok(Embedded { vectors: Vec::new(), usage: None });
        }
        let (path, encoding_format) = match self.format {
            Format::OpenAi => ("/embeddings", Some("float")),
            Format::Ollama => ("/api/embed", None),
        };
        let request = wire::Request { model: &self.caller.reference.name, input: texts, encoding_format };
        let body = serde_json::to_vec(&request).expect("strings are JSON");
        let context = self.caller.context(&Prompt::default());
        let response = accept(self.caller.post_plain(path, body).send().await, &context).await?;
        let body = read_json(response, &context).await?;
        let (vectors, n_tokens) =
            self.read(&body, texts.len()).map_err(|detail| context.malformed(&detail))?;
        let usage = n_tokens.map(|input_tokens| {
            let usage = Usage { input_tokens, ..Usage::default() };
            Usage {
                cost_microusd: self.caller.facts.price.map_or(0, |price| price.cost_microusd(&usage)),
                ..usage
            }
        });
        Ok(Embedded { vectors, usage })
    }

    /// The validated vectors of a reply, and its token count.
    fn read(&self, body: &str, n_texts: usize) -> Result<(Vec<Vec<f32>>, Option<u64>), String> {
        let unreadable = |error: serde_json::Error| format!("the vectors are not valid: {error}");
        let (vectors, n_tokens) = match self.format {
            Format::OpenAi => {
                let reply: wire::OpenAiReply = serde_json::from_str(body).map_err(unreadable)?;
                (in_order(reply.data)?, reply.usage.map(|usage| usage.prompt_tokens))
            }
            Format::Ollama => {
                let reply: wire::OllamaReply = serde_json::from_str(body).map_err(unreadable)?;
                (reply.embeddings, reply.prompt_eval_count)
            }
        };
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
        Ok((vectors, n_tokens))
    }
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
