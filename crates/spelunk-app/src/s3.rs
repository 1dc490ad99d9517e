//! Buckets of S3 as sources: lists of objects, and copies of them in a cache on this machine. The server and what it
//! sends are hostile: lists are bounded in length, downloads in bytes, and of an error only its code is shown.

mod cache;
mod listing;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use spelunk_context::{ObjectEntry, ObjectError, ObjectStore, ObjectsHandle};
use spelunk_model::{AwsSigner, ModelError, deepest_cause, http_client, percent_encoded};

pub(crate) use self::cache::Cache;
pub use self::listing::{Listing, read_listing};
use crate::blocking::apart;
use crate::env::{self, Environment};
use crate::provider::{AWS_REGION, aws, now};

pub(crate) const S3: &str = "s3://";
const LISTED_MAX: usize = 1_000_000;
/// A list of a thousand objects is shorter.
const ANSWER_BYTES_MAX: usize = 8 << 20;
const PARALLEL: usize = 16;
/// How often a request is sent that got no answer, half of one, or that of a server under load.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(200);
/// The longest wait for the next bytes.
const SILENCE_MAX: Duration = Duration::from_secs(30);

const REACH_HINT: &str = "check `AWS_ENDPOINT_URL` and `AWS_REGION`, and that the server is running";
const RIGHTS_HINT: &str = "check the credentials, and that they allow `s3:ListBucket` and `s3:GetObject`";
const URL_HINT: &str = "write it as `s3://BUCKET/PREFIX`; credentials are read from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`";

/// A bucket or a part of it as a source. Whether it can be used is seen when it is used.
pub(crate) fn bucket(url: &str, environment: &Environment, cache: Cache) -> ObjectsHandle {
    let (shown, place) = match parts(url) {
        Some((bucket, "")) => (format!("{S3}{bucket}"), Place::of(bucket, "", environment)),
        Some((bucket, prefix)) => (format!("{S3}{bucket}/{prefix}"), Place::of(bucket, prefix, environment)),
        // Not shown as it was typed: it may contain a password.
        None => (format!("{S3}…"), Err(error("the URL is not valid", URL_HINT))),
    };
    Arc::new(Bucket { url: shown, place, cache, bytes_fetched: AtomicU64::new(0) })
}

/// The bucket and the prefix of a URL. A prefix that no URL can name is none.
fn parts(url: &str) -> Option<(&str, &str)> {
    let path = url.strip_prefix(S3)?;
    let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
    let prefix = prefix.trim_end_matches('/');
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_bucket = bucket.len() >= 3 && bucket.chars().all(is_name) && !bucket.starts_with('.');
    let has_dots = prefix.split('/').any(|part| part == "." || part == "..");
    (is_bucket && !has_dots && !prefix.contains(char::is_control)).then_some((bucket, prefix))
}

#[derive(Debug)]
struct Bucket {
    url: String,
    place: Result<Place, ObjectError>,
    cache: Cache,
    bytes_fetched: AtomicU64,
}

#[derive(Debug)]
struct Place {
    bucket: String,
    /// Without a slash at the end.
    prefix: String,
    base_url: String,
    signer: AwsSigner,
}

fn error(why: impl Into<String>, hint: &'static str) -> ObjectError {
    ObjectError { why: why.into(), hint }
}

impl Place {
    fn of(bucket: &str, prefix: &str, environment: &Environment) -> Result<Self, ObjectError> {
        let aws = aws(environment);
        let region = aws.region().unwrap_or_else(|| AWS_REGION.to_owned());
        let named =
            ["AWS_ENDPOINT_URL_S3", env::AWS_ENDPOINT_URL].iter().find_map(|name| environment.text(name));
        let base_url = match named {
            Some(endpoint) => format!("{}/{bucket}", endpoint.trim_end_matches('/')),
            // The certificate covers one label.
            None if bucket.contains('.') => format!("https://s3.{region}.amazonaws.com/{bucket}"),
            None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
        };
        let source = aws.source().map_err(|error| of_model(&error))?;
        let signer = AwsSigner::new(source, Arc::new(now), &region, "s3");
        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned(), base_url, signer })
    }

    /// The key of an object, which is listed without what all of them begin with.
    fn key(&self, entry: &ObjectEntry) -> String {
        match (self.prefix.as_str(), entry.key.as_str()) {
            (prefix, "") => prefix.to_owned(),
            ("", key) => key.to_owned(),
            (prefix, key) => format!("{prefix}/{key}"),
        }
    }
}

fn of_model(problem: &ModelError) -> ObjectError {
    if let ModelError::KeysMissing { detail, .. } = problem {
        let hint = "set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE`";
        return error(format!("there are no AWS credentials: {detail}"), hint);
    }
    if let ModelError::Unreachable { base_url, detail } = problem {
        return error(format!("`{base_url}`: {detail}"), REACH_HINT);
    }
    error(problem.to_string(), REACH_HINT)
}

impl ObjectStore for Bucket {
    fn url(&self) -> &str {
        &self.url
    }

    fn list(&self) -> Result<Vec<ObjectEntry>, ObjectError> {
        let place = self.place.as_ref().map_err(Clone::clone)?;
        let client = Client::new(place)?;
        waited(|| client.list())
    }

    fn fetch(&self, objects: &[&ObjectEntry]) -> Result<Vec<Option<PathBuf>>, ObjectError> {
        let place = self.place.as_ref().map_err(Clone::clone)?;
        if self.bytes_fetched.load(Ordering::Relaxed) == 0 {
            self.cache.make_room().map_err(|problem| self.cache.unwritable(&problem))?;
        }
        let client = &Client::new(place)?;
        waited(|| {
            let copies = stream::iter(objects).map(move |entry| client.copy(self, entry));
            copies.buffered(PARALLEL).try_collect::<Vec<_>>()
        })
    }
}

fn waited<T: Send, F: Future<Output = Result<T, ObjectError>>>(
    work: impl FnOnce() -> F + Send,
) -> Result<T, ObjectError> {
    apart(work).unwrap_or_else(|problem| Err(error(problem.to_string(), "try again")))
}

enum Failed {
    /// Another attempt may succeed.
    Again(ObjectError),
    /// The object is gone or may not be read.
    Missing,
    Final(ObjectError),
}

struct Client<'a> {
    place: &'a Place,
    http: reqwest::Client,
}

impl<'a> Client<'a> {
    fn new(place: &'a Place) -> Result<Self, ObjectError> {
        Ok(Self { place, http: http_client(&place.base_url).map_err(|error| of_model(&error))? })
    }

    async fn list(&self) -> Result<Vec<ObjectEntry>, ObjectError> {
        let prefix = &self.place.prefix;
        if prefix.is_empty() {
            return self.list_below("").await;
        }
        let below = self.list_below(&format!("{prefix}/")).await?;
        if !below.is_empty() {
            return Ok(below);
        }
        // In order of keys, an object of exactly this name is the first.
        let page = self.page(prefix, None, 1).await?;
        let found = page.objects.into_iter().find(|entry| entry.key == *prefix);
        let missing = || error("there is no such object", "`aws s3 ls` lists the objects of a bucket");
        Ok(vec![ObjectEntry { key: String::new(), ..found.ok_or_else(missing)? }])
    }

    async fn list_below(&self, prefix: &str) -> Result<Vec<ObjectEntry>, ObjectError> {
        let mut objects: Vec<ObjectEntry> = Vec::new();
        let mut token: Option<String> = None;
        let mut n_listed = 0;
        loop {
            let page = self.page(prefix, token.as_deref(), 1000).await?;
            let is_stuck = page.objects.is_empty();
            n_listed += page.objects.len();
            for entry in page.objects {
                let Some(key) = entry.key.strip_prefix(prefix).filter(|key| !key.is_empty()) else {
                    continue;
                };
                objects.push(ObjectEntry { key: key.to_owned(), ..entry });
            }
            if n_listed > LISTED_MAX {
                let why = format!("it has more than {LISTED_MAX} objects");
                return Err(error(why, "name a prefix: `s3://BUCKET/PREFIX`"));
            }
            match page.next {
                None => return Ok(objects),
                Some(next) if !is_stuck && token.as_ref() != Some(&next) => token = Some(next),
                Some(_) => return Err(error("its list of objects repeats or has an empty page", REACH_HINT)),
            }
        }
    }

    async fn page(&self, prefix: &str, token: Option<&str>, n_max: u32) -> Result<Listing, ObjectError> {
        let token = token.map(|token| format!("continuation-token={}&", percent_encoded(token)));
        let query = format!(
            "{}encoding-type=url&list-type=2&max-keys={n_max}&prefix={}",
            token.unwrap_or_default(),
            percent_encoded(prefix)
        );
        let url = format!("{}?{query}", self.place.base_url);
        let body = self.retried(|| async { text(self.send(&url).await?).await }).await?;
        let foreign = || error("the server's reply is not a list of objects", REACH_HINT);
        read_listing(&body.unwrap_or_default()).ok_or_else(foreign)
    }

    /// The copy of an object in the cache; `None` if it is gone or may not be read.
    async fn copy(&self, bucket: &Bucket, entry: &ObjectEntry) -> Result<Option<PathBuf>, ObjectError> {
        let key = self.place.key(entry);
        let name = |etag: &str, bytes: u64| Cache::name([&self.place.base_url, &key, etag], bytes);
        if let Some(path) =
            bucket.cache.find(&name(&entry.etag, entry.bytes), entry.bytes).filter(|_| !entry.etag.is_empty())
        {
            return Ok(Some(path));
        }
        let parts: Vec<String> = key.split('/').map(percent_encoded).collect();
        let url = format!("{}/{}", self.place.base_url, parts.join("/"));
        self.retried(|| async {
            let mut answer = self.send(&url).await?;
            let etag = answer.headers().get("etag").and_then(|etag| etag.to_str().ok()).unwrap_or_default();
            let etag = listing::bare(etag).to_owned();
            // Without a length, the one of the list counts: a body that was cut off must not pass for whole.
            let bytes = answer.content_length().unwrap_or(entry.bytes);
            let unwritable = |problem: io::Error| Failed::Final(bucket.cache.unwritable(&problem));
            let mut incoming = bucket.cache.incoming().map_err(unwritable)?;
            while let Some(chunk) = next_chunk(&mut answer).await? {
                bucket.charge(chunk.len())?;
                incoming.write(&chunk).map_err(unwritable)?;
            }
            let received = incoming.bytes;
            if received != bytes {
                let why = format!("`{key}` ended after {received} of {bytes} bytes");
                return Err(Failed::Again(error(why, "try again")));
            }
            incoming.keep(&name(&etag, bytes)).map_err(unwritable)
        })
        .await
    }

    /// Tries a request again if that may help. `None` if the object is missing.
    async fn retried<T, F: Future<Output = Result<T, Failed>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<Option<T>, ObjectError> {
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            match attempt().await {
                Ok(done) => return Ok(Some(done)),
                Err(Failed::Missing) => return Ok(None),
                Err(Failed::Again(_)) if n_tries < TRIES => tokio::time::sleep(PAUSE * n_tries).await,
                Err(Failed::Again(error) | Failed::Final(error)) => return Err(error),
            }
        }
    }

    async fn send(&self, url: &str) -> Result<reqwest::Response, Failed> {
        let request = self.place.signer.signed_get(self.http.get(url)).await;
        let sending = request.map_err(|error| Failed::Final(of_model(&error)))?.send();
        let sent = tokio::time::timeout(SILENCE_MAX, sending).await.map_err(|_| Failed::Again(late()))?;
        let answer = sent.map_err(|problem| Failed::Again(error(deepest_cause(&problem), REACH_HINT)))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(self.refusal(answer, url.contains('?')).await)
    }

    /// What an answer says that is not a success. Of its text, which may quote anything, only the code is used.
    async fn refusal(&self, answer: reqwest::Response, is_list: bool) -> Failed {
        let status = answer.status().as_u16();
        let region = answer.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
        let region = region.map(listing::word);
        let body = text(answer).await.unwrap_or_default();
        let code = listing::code(&body).unwrap_or_else(|| format!("HTTP {status}"));
        let bucket = &self.place.bucket;
        match (status, code.as_str()) {
            (429 | 500..=599, _) => Failed::Again(error(format!("the server sent `{code}`"), "try again")),
            (_, "NoSuchBucket") => Failed::Final(error(format!("there is no bucket `{bucket}`"), REACH_HINT)),
            (301 | 307 | 400, "PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed") => {
                let region = region.map_or("another region".to_owned(), |region| format!("`{region}`"));
                Failed::Final(error(format!("the bucket is in {region}"), "set `AWS_REGION`"))
            }
            (404, _) | (403, "AccessDenied" | "InvalidObjectState") if !is_list => Failed::Missing,
            (401 | 403, _) => Failed::Final(error(format!("access was denied (`{code}`)"), RIGHTS_HINT)),
            _ => Failed::Final(error(format!("the server sent `{code}`"), REACH_HINT)),
        }
    }
}

impl Bucket {
    /// Counts bytes that were downloaded; an error if they are too many.
    fn charge(&self, n_bytes: usize) -> Result<(), Failed> {
        let so_far = self.bytes_fetched.fetch_add(n_bytes as u64, Ordering::Relaxed) + n_bytes as u64;
        if so_far <= self.cache.bytes_max {
            return Ok(());
        }
        let why = format!("its objects are larger than {}", crate::units::bytes(self.cache.bytes_max));
        let hint = "name a prefix, use `--include` or `--files-max`, or raise `cache.objects_bytes_max`";
        Err(Failed::Final(error(why, hint)))
    }
}

fn late() -> ObjectError {
    error(format!("no answer within {} s", SILENCE_MAX.as_secs()), REACH_HINT)
}

async fn next_chunk(answer: &mut reqwest::Response) -> Result<Option<Vec<u8>>, Failed> {
    let next = tokio::time::timeout(SILENCE_MAX, answer.chunk()).await.map_err(|_| Failed::Again(late()))?;
    let cut = |problem| error(format!("the reply was cut off: {}", deepest_cause(&problem)), "try again");
    Ok(next.map_err(|problem| Failed::Again(cut(problem)))?.map(Into::into))
}

/// The text of an answer, cut where no list of S3 is as long.
async fn text(mut answer: reqwest::Response) -> Result<String, Failed> {
    let mut body = Vec::new();
    while body.len() < ANSWER_BYTES_MAX
        && let Some(chunk) = next_chunk(&mut answer).await?
    {
        body.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_url_of_a_bucket_is_read() {
        for url in
            ["/etc", "docs", "postgres://host/db", "s3:/shelf", "s3://shelf/../x", "https://host/shelf"]
        {
            let cache = Cache { dir: PathBuf::from("unused"), bytes_max: 0 };
            let error = bucket(url, &Environment::default(), cache).list().unwrap_err();
            assert_eq!(error.why, "the URL is not valid", "{url}");
        }
    }
}
