//! Embeddings in the OpenAI format. A text's vector is its length in bytes, its number of words, and 0.5.

use serde_json::{Value, json};

pub(crate) fn vectors(body: &Value) -> Value {
    let texts = match &body["input"] {
        Value::String(text) => vec![text.as_str()],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let n_tokens: usize = texts.iter().map(|text| text.len().div_ceil(4)).sum();
    let vector = |text: &&str| json!([text.len(), text.split_whitespace().count(), 0.5]);
    // Clients must not rely on the order, so it is reversed.
    let rows = texts.iter().enumerate().rev();
    let data: Vec<Value> = rows
        .map(|(idx, text)| json!({ "object": "embedding", "index": idx, "embedding": vector(text) }))
        .collect();
    let usage = json!({ "prompt_tokens": n_tokens, "total_tokens": n_tokens });
    json!({ "object": "list", "data": data, "model": body["model"], "usage": usage })
}
