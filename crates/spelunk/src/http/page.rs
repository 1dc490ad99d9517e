//! The viewer: its page and its files. They are open to everybody, because they hold nothing of any run.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::Shared;
use super::extract::{Params, Part};
use super::problem::{Answer, Problem};
use super::route::{Route, get};
use crate::render::viewer;

const DIGEST: &str = "v";

pub(super) fn routes() -> Vec<Route> {
    let text = json!({ "type": "string" });
    vec![
        get("/", "The run viewer, for browsers", page).scope(None).answers_as(
            200,
            "The page",
            "text/html",
            text.clone(),
        ),
        get("/assets/{file}", "A file of the viewer", file)
            .scope(None)
            .query(DIGEST, text.clone(), "The digest of the file; with the right one it may be kept for good")
            .header("If-None-Match", "The digest of the file that is at hand")
            .answers_as(200, "The file", "text/javascript", text)
            .answers_nothing(304, "The file at hand is still the right one")
            .problems(&[404]),
    ]
}

async fn page(State(_): State<Shared>, params: Params) -> Answer {
    params.finish()?;
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, viewer::page()).into_response())
}

async fn file(
    State(_): State<Shared>,
    Part(name): Part<String>,
    mut params: Params,
    headers: HeaderMap,
) -> Answer {
    let wanted = params.text(DIGEST);
    params.finish()?;
    let asset = viewer::asset(&name).ok_or_else(|| Problem::not_found("the viewer has no such file"))?;
    // A name with the digest in it stands for these bytes alone.
    let is_named = wanted.as_deref() == Some(asset.digest.as_str());
    let keep = if is_named { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tag = format!("\"{}\"", asset.digest);
    let has_it = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let about = [(header::ETAG, tag), (header::CACHE_CONTROL, keep.to_owned())];
    if has_it {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    let kind = [(header::CONTENT_TYPE, asset.media_type)];
    Ok::<Response, Problem>((about, kind, asset.body.as_str()).into_response())
}
