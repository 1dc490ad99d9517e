//! The viewer page and its files, embedded in the binary. The page refers to files by their digest, so that browsers
//! can cache them.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use spelunk_app::render::viewer;
use spelunk_journal::digest;

use super::{Answer, Params, PathPart, Problem, Route, get};

const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ASK_AGAIN: &str = "no-cache";

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/", "The web page that shows runs", page)
            .scope(None)
            .answers_as(200, "The page", "text/html", json!({ "type": "string" }))
            .answers_nothing(304, "Not modified"),
        get("/assets/{file}", "A file of the web page", file)
            .scope(None)
            .query("v", json!({ "type": "string" }), "The content hash; a file with this name never changes")
            .answers_as(200, "The file", "text/javascript", json!({ "type": "string" }))
            .answers_as(200, "The file", "text/css", json!({ "type": "string" }))
            .answers_as(200, "The file", "image/svg+xml", json!({ "type": "string" }))
            .answers_nothing(304, "Not modified")
            .problems(&[404]),
    ]
}

async fn page(headers: HeaderMap) -> Response {
    let page = viewer::page();
    let tag = format!("\"{}\"", digest(page.as_bytes()));
    sent(&headers, &tag, "text/html; charset=utf-8", ASK_AGAIN, page.to_owned())
}

async fn file(PathPart(name): PathPart<String>, headers: HeaderMap, mut params: Params) -> Answer {
    let version = params.text("v");
    params.finish()?;
    let asset = viewer::asset(&name).ok_or_else(|| Problem::not_found("there is no such file"))?;
    let is_named = version.as_deref() == Some(asset.digest.as_str());
    let tag = format!("\"{}\"", asset.digest);
    Ok(sent(
        &headers,
        &tag,
        asset.media_type,
        if is_named { FOR_EVER } else { ASK_AGAIN },
        asset.body.clone(),
    ))
}

/// A text that the browser may have cached.
pub(super) fn sent(
    headers: &HeaderMap,
    tag: &str,
    kind: &'static str,
    cache: &'static str,
    body: String,
) -> Response {
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == tag.as_bytes());
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, kind)], body).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}
