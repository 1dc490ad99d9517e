//! Downloads: a file from a model hub, in pieces, resuming where an earlier attempt stopped. The caller writes and
//! verifies the pieces.

use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, LOCATION, RANGE};
use reqwest::{Response, StatusCode, Url};
use tokio::time::timeout;

use crate::ModelError;
use crate::http::{Endpoint, deepest_cause};

const HOPS_MAX: usize = 5;
/// A hub that sends nothing for this long is considered hung.
const SILENCE_MAX: Duration = Duration::from_mins(1);

/// A download in progress.
#[derive(Debug)]
pub struct Download {
    base_url: String,
    response: Option<Response>,
    /// The offset of the first piece: 0 if the hub starts over.
    pub begins_at: u64,
    /// The size of the whole file, if the hub reports it.
    pub bytes: Option<u64>,
    /// The SHA-256 that the hub reports.
    pub sha256: Option<String>,
}

impl Download {
    /// Requests `OWNER/REPOSITORY/FILE` from this offset. A file that is already complete has no pieces.
    pub async fn begin(hub_url: &str, file: &str, from: u64) -> Result<Self, ModelError> {
        let base_url = Endpoint::open(hub_url)?.base_url;
        let not_found = |detail: &str| ModelError::NotFound {
            base_url: base_url.clone(),
            model: file.to_owned(),
            detail: detail.to_owned(),
        };
        let (repository, name) =
            split(file).ok_or_else(|| not_found("the name of a file is OWNER/REPOSITORY/FILE"))?;
        let mut url = format!("{base_url}/{repository}/resolve/main/{name}");
        let mut sha256 = None;
        for _ in 0..=HOPS_MAX {
            let response = get(&base_url, &url, from).await?;
            sha256 = sha256.or_else(|| linked_sha256(response.headers()));
            if !response.status().is_redirection() {
                return Self::of(base_url, file, response, from, sha256);
            }
            url = next_url(&url, response.headers())
                .ok_or_else(|| not_found("the hub redirects to an address that is not allowed"))?;
        }
        Err(not_found("the hub redirects too often"))
    }

    fn of(
        base_url: String,
        file: &str,
        response: Response,
        from: u64,
        sha256: Option<String>,
    ) -> Result<Self, ModelError> {
        let headers = response.headers();
        let length = number(headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()));
        let range = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let whole = number(range.rsplit_once('/').map(|(_, whole)| whole));
        let status = response.status();
        let (begins_at, bytes, response) = match status {
            StatusCode::OK => (0, length, Some(response)),
            StatusCode::PARTIAL_CONTENT if range.starts_with(&format!("bytes {from}-")) => {
                (from, whole, Some(response))
            }
            // Nothing is left after the last byte.
            StatusCode::RANGE_NOT_SATISFIABLE if whole == Some(from) => (from, whole, None),
            StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let detail = format!("status {}", status.as_u16());
                return Err(ModelError::NotFound { base_url, model: file.to_owned(), detail });
            }
            StatusCode::TOO_MANY_REQUESTS => return Err(ModelError::RateLimited { retry_after: None }),
            other => {
                let detail = format!("`{base_url}` does not offer `{file}`");
                return Err(ModelError::ServerError { status: other.as_u16(), detail });
            }
        };
        Ok(Self { base_url, response, begins_at, bytes, sha256 })
    }

    /// The next piece; `None` at the end.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        let Some(response) = &mut self.response else { return Ok(None) };
        let waited = timeout(SILENCE_MAX, response.chunk()).await;
        let read = waited.map_err(|_| ModelError::timed_out(SILENCE_MAX))?;
        let piece = read.map_err(|error| unreachable(&self.base_url, &deepest_cause(&error)))?;
        Ok(piece.map(|bytes| bytes.to_vec()))
    }
}

async fn get(base_url: &str, url: &str, from: u64) -> Result<Response, ModelError> {
    let endpoint = Endpoint::open_with_query(url)?;
    let mut request = endpoint.client.get(url);
    if from > 0 {
        request = request.header(RANGE, format!("bytes={from}-"));
    }
    let sent = timeout(SILENCE_MAX, request.send()).await.map_err(|_| ModelError::timed_out(SILENCE_MAX))?;
    sent.map_err(|error| unreachable(base_url, &deepest_cause(&error)))
}

fn unreachable(base_url: &str, detail: &str) -> ModelError {
    ModelError::Unreachable { base_url: base_url.to_owned(), detail: detail.to_owned() }
}

/// `OWNER/REPOSITORY` and the path of a file in it, if every component is a plain name.
fn split(file: &str) -> Option<(&str, &str)> {
    let is_plain = |part: &str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_word)
    };
    let (owner, rest) = file.split_once('/')?;
    let (repository, name) = rest.split_once('/')?;
    let is_sound = is_plain(owner) && is_plain(repository) && name.split('/').all(is_plain);
    is_sound.then(|| file.split_at(owner.len() + 1 + repository.len())).map(|(both, _)| (both, name))
}

/// The target of a redirect; never from `https` to `http`.
fn next_url(url: &str, headers: &HeaderMap) -> Option<String> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    let here = Url::parse(url).ok()?;
    let next = here.join(location).ok()?;
    let is_taken = next.scheme() == "https" || (next.scheme() == "http" && here.scheme() == "http");
    is_taken.then(|| next.to_string())
}

/// Hubs report the checksum of a large file in the redirect to it.
fn linked_sha256(headers: &HeaderMap) -> Option<String> {
    let tag = headers.get("x-linked-etag")?.to_str().ok()?.trim_matches('"').to_ascii_lowercase();
    let is_digest = tag.len() == 64 && tag.chars().all(|c| c.is_ascii_hexdigit());
    is_digest.then_some(tag)
}

fn number(text: Option<&str>) -> Option<u64> {
    text?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_hub_has_three_plain_parts_or_more() {
        assert_eq!(split("Qwen/Small-GGUF/q4.gguf"), Some(("Qwen/Small-GGUF", "q4.gguf")));
        assert_eq!(split("a/b/sub/c.gguf"), Some(("a/b", "sub/c.gguf")));
        for wrong in ["", "a", "a/b", "a/b/", "a//c.gguf", "a/b/../../c", "a/b/c?x=1", "a/b/c#d", "/a/b/c"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_redirect_never_leaves_a_safe_connection() {
        let to = |from: &str, location: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, location.parse().unwrap());
            next_url(from, &headers)
        };
        assert_eq!(to("https://hub/a", "/b?x=1").as_deref(), Some("https://hub/b?x=1"));
        assert_eq!(to("http://hub/a", "https://cdn/b").as_deref(), Some("https://cdn/b"));
        assert_eq!(to("https://hub/a", "http://cdn/b"), None);
        assert_eq!(to("https://hub/a", "file:///etc/passwd"), None);
    }
}
