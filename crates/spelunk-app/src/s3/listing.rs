//! The XML of S3: a page of a list of objects, and the code of an error. It is read by its marks, without a parser: lists
//! have one form, and what is not of that form is no list.

use spelunk_context::ObjectEntry;
use spelunk_types::percent_decoded;

/// Codes and regions have fewer letters.
const WORD_CHARS_MAX: usize = 64;
/// The longest key that S3 allows.
const KEY_BYTES_MAX: usize = 1024;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Objects, with their whole keys.
    pub objects: Vec<ObjectEntry>,
    pub next: Option<String>,
}

/// The objects of a page; `None` if it is none.
pub fn read_listing(text: &str) -> Option<Listing> {
    let is_list = text.contains("<ListBucketResult") && text.trim_end().ends_with("</ListBucketResult>");
    if !is_list {
        return None;
    }
    let is_encoded = between(text, "EncodingType") == Some("url");
    let entry = |part: &str| {
        let key = unescaped(between(part, "Key")?);
        let key = if is_encoded { percent_decoded(&key.replace('+', " "))? } else { key };
        let etag = unescaped(between(part, "ETag").unwrap_or_default());
        let bytes = between(part, "Size")?.trim().parse().ok()?;
        (key.len() <= KEY_BYTES_MAX).then(|| ObjectEntry { key, bytes, etag: bare(&etag).to_owned() })
    };
    // One that cannot be read makes the page no list: nothing is left out unnoticed.
    let parts = text.split("<Contents>").skip(1).map(|part| part.split("</Contents>").next().unwrap_or(part));
    let objects = parts.map(entry).collect::<Option<Vec<_>>>()?;
    let is_cut = between(text, "IsTruncated").is_some_and(|word| word.trim() == "true");
    let next = between(text, "NextContinuationToken").filter(|_| is_cut).map(unescaped);
    if is_cut && next.is_none() {
        return None;
    }
    Some(Listing { objects, next })
}

pub(super) fn code(text: &str) -> Option<String> {
    Some(word(between(text, "Code")?)).filter(|code| !code.is_empty())
}

/// Only letters, digits and `-`: safe to show, and nothing that a server could quote.
pub(super) fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(WORD_CHARS_MAX).collect()
}

pub(super) fn bare(etag: &str) -> &str {
    etag.trim().trim_matches('"')
}

fn between<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let known = after.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        let (c, after) = known.unwrap_or(('&', after));
        plain.push(c);
        rest = after;
    }
    plain + rest
}

fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests;
