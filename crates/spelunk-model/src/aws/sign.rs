//! AWS Signature Version 4: a keyed hash over a canonical form of the request. Tested with the
//! vectors that AWS publishes.

use ring::{digest, hmac};
use spelunk_types::hex;

use crate::Secret;

pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// As sent, escapes included.
    pub(crate) path: &'a str,
    /// As sent, with its parameters in order.
    pub(crate) query: &'a str,
    /// Names in lower case.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

pub(crate) struct Scope<'a> {
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    /// `20150830T123600Z`.
    pub(crate) stamp: &'a str,
}

pub(crate) fn authorization(
    request: &Request<'_>,
    scope: &Scope<'_>,
    access_key_id: &str,
    secret: &Secret,
) -> String {
    let (canonical, signed_headers) = canonical(request, scope.service);
    let date = scope.stamp.split('T').next().unwrap_or_default();
    let scope_text = format!("{date}/{}/{}/aws4_request", scope.region, scope.service);
    let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope_text}\n{}", scope.stamp, hash(canonical.as_bytes()));
    let mut key = mac(format!("AWS4{}", secret.expose()).as_bytes(), date.as_bytes());
    for part in [scope.region, scope.service, "aws4_request"] {
        key = mac(key.as_ref(), part.as_bytes());
    }
    let signature = hex(mac(key.as_ref(), to_sign.as_bytes()).as_ref());
    format!(
        "AWS4-HMAC-SHA256 Credential={access_key_id}/{scope_text}, SignedHeaders={signed_headers}, Signature={signature}"
    )
}

/// The canonical request and the names of its headers.
fn canonical(request: &Request<'_>, service: &str) -> (String, String) {
    let mut headers: Vec<(&str, String)> =
        request.headers.iter().map(|(name, value)| (*name, single_spaced(value))).collect();
    headers.sort();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let mut lines = String::new();
    for (name, value) in &headers {
        lines.push_str(&format!("{name}:{value}\n"));
    }
    let Request { method, path, query, body, .. } = request;
    // S3 is the one service that takes the path as it is.
    let path = if service == "s3" { (*path).to_owned() } else { encoded_path(path) };
    let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{}", hash(body));
    (canonical, names)
}

/// The path, percent-encoded a second time, as the service does with the path it receives.
fn encoded_path(path: &str) -> String {
    path.split('/').map(crate::http::percent_encoded).collect::<Vec<_>>().join("/")
}

fn single_spaced(value: &str) -> String {
    value.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn mac(key: &[u8], text: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text)
}

pub(super) fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

#[cfg(test)]
mod tests;
