//! OpenAI's Embeddings API, with the embedding model of the index: no provider is called unless
//! `roles.embedding` names one.

use axum::Json;
use axum::extract::{Request, State};
use base64::Engine as _;
use serde_json::{Value, json};
use spelunk_app::failure::Failure;
use spelunk_model::estimate_tokens;

use super::super::{Route, Shared, object_of, post, read_json, work};
use super::{ApiError, ApiResult, BodyFields, errors};

pub(super) const MODEL: &str = "spelunk-embedding";
const TEXTS_MAX: usize = 2_048;

pub(super) fn route() -> Route {
    let text = json!({ "type": "string", "minLength": 1 });
    let input =
        json!({ "anyOf": [text, { "type": "array", "minItems": 1, "maxItems": TEXTS_MAX, "items": text }] });
    errors(post("/v1/embeddings", "Compute embeddings of texts (OpenAI's API)", embed))
        .takes(object_of(
            &["model", "input"],
            &json!({
                "model": { "const": MODEL },
                "input": input,
                "encoding_format": { "enum": ["float", "base64", null] },
            }),
        ))
        .answers(200, "The embeddings, in the order of the texts", json!({ "type": "object" }))
}

async fn embed(State(server): State<Shared>, request: Request) -> ApiResult<Json<Value>> {
    let body = read_json(request, &server, server.app.settings.server.upload_bytes_max).await?;
    let mut members = BodyFields::of(body)?;
    let model = members.text("model")?.ok_or_else(|| ApiError::member("model", "is missing"))?;
    if model != MODEL {
        return Err(ApiError::no_model(model, &[MODEL.to_owned()]));
    }
    let is_packed = match members.text("encoding_format")? {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => return Err(ApiError::member("encoding_format", "must be float or base64")),
    };
    let dimensions = members.get("dimensions").cloned();
    let texts = texts(members.take("input"))?;
    let n_tokens: u64 = texts.iter().map(|text| estimate_tokens(text)).sum();
    let vectors = work(move || {
        let embedder = server.app.embedder().map_err(Failure::from)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Ok(embedder.embed(&texts).map_err(Failure::from)?)
    })
    .await?;
    let len = vectors.first().map_or(0, Vec::len);
    if dimensions.is_some_and(|wanted| wanted != json!(len)) {
        return Err(ApiError::member("dimensions", &format!("must be {len}, the length of every vector")));
    }
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(idx, vector)| {
            let vector = if is_packed { json!(packed(vector)) } else { json!(vector) };
            json!({ "object": "embedding", "index": idx, "embedding": vector })
        })
        .collect();
    let usage = json!({ "prompt_tokens": n_tokens, "total_tokens": n_tokens });
    Ok(Json(json!({ "object": "list", "data": data, "model": MODEL, "usage": usage })))
}

fn texts(input: Option<Value>) -> ApiResult<Vec<String>> {
    let list = match input {
        None => return Err(ApiError::member("input", "is missing")),
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
    };
    if list.is_empty() || list.len() > TEXTS_MAX {
        return Err(ApiError::member("input", &format!("must contain 1 to {TEXTS_MAX} texts")));
    }
    let text = |(idx, value): (usize, Value)| match value {
        Value::String(text) if !text.is_empty() => Ok(text),
        Value::String(_) => Err(ApiError::member(&format!("input[{idx}]"), "is empty")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(ApiError::unsupported(&format!("input[{idx}]"), "only text is embedded"))
        }
    };
    list.into_iter().enumerate().map(text).collect()
}

/// The numbers as little-endian bytes in base64, which OpenAI's own client asks for.
fn packed(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
