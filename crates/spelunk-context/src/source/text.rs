//! Text sent with the request: standard input, a field of a body, an upload. It has a name but no path, and is copied
//! wherever a run keeps its sources, so its secrets are removed before it is used.

use std::borrow::Cow;

use spelunk_types::ScanOptions;

use super::Filter;
use crate::decode::{self, HEAD_BYTES, MARK};
use crate::extract::{self, ExtractKind};
use crate::name::printable_text;
use crate::secrets::redact;

/// The name a text is cited by; `text` if it has none.
pub(crate) fn name(given: &str) -> String {
    let name = printable_text(given.trim());
    if name.is_empty() { "text".to_owned() } else { name }
}

/// The form in which text from a request is kept: without its secrets, unless they are allowed. For a document that
/// needs extraction, its extracted text is kept. Idempotent.
pub fn given_text<'a>(given: &str, bytes: &'a [u8], options: &ScanOptions) -> Cow<'a, [u8]> {
    let name = name(given);
    // Invalid globs are refused by the scan, and allow nothing here.
    if Filter::compile(options).is_ok_and(|filter| filter.allows_secrets_in(&name)) {
        return Cow::Borrowed(bytes);
    }
    if let Some(kind) = extract_kind(&name, bytes, options)
        && let Ok(text) = extract::extract(kind, bytes)
    {
        return Cow::Owned(redact(&text).0.into_owned().into_bytes());
    }
    if decode::sniff(&bytes[..bytes.len().min(HEAD_BYTES)]).is_err() {
        return Cow::Borrowed(bytes);
    }
    match str::from_utf8(bytes) {
        Ok(text) => match redact(text).0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        Err(_) => match redact(&decode::decode(bytes.to_vec())) {
            (_, redactions) if redactions.is_empty() => Cow::Borrowed(bytes),
            // A second mark would become the first and be dropped.
            (text, _) if text.starts_with(MARK) => Cow::Owned(format!("{MARK}{text}").into_bytes()),
            (text, _) => Cow::Owned(text.into_owned().into_bytes()),
        },
    }
}

/// How the text is extracted, if it is not read directly. A kept PDF is already text under its old name.
pub(crate) fn extract_kind(name: &str, bytes: &[u8], options: &ScanOptions) -> Option<ExtractKind> {
    let kind = ExtractKind::of(name, options)?;
    let is_text = match kind {
        ExtractKind::Pdf | ExtractKind::Docx => decode::sniff(&bytes[..bytes.len().min(HEAD_BYTES)]).is_ok(),
        ExtractKind::Html => false,
    };
    (!is_text).then_some(kind)
}
