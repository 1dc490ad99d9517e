//! Further conditions on secrets: text is full of names, examples and numbers that have the same form.

use super::words::is_wordlike;

/// The minimum entropy in bits per byte of a random value. English words have about 3 at the length of a token.
const TOKEN_BITS_MIN: f64 = 3.0;

/// Placeholders for a secret, anywhere in the value.
const PLACEHOLDERS: &str = "example xxxx changeme change_me change-me placeholder redacted **** .... sample replace 0000000 \
    1234567890 abcdefgh $( ${ {{";

/// Placeholders only at the start of a word: they are short enough to occur by chance.
const SHORT_PLACEHOLDERS: &str = "your dummy fake insert todo";

/// Words that are a whole value, in tutorials and in code.
const WORDS: &str = "password passwd pass secret token key none null required optional undefined disabled enabled \
    username protected forgotten incorrect varchar nullable textarea";

pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS.split(' ').any(|word| word.as_bytes() == lower)
        || PLACEHOLDERS.split(' ').any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
        || SHORT_PLACEHOLDERS.split(' ').any(|word| begins_in(value, &lower, word.as_bytes()))
        || lower.ends_with(b"%s")
        || lower.iter().all(|byte| Some(byte) == lower.first())
}

fn begins_in(value: &[u8], lower: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find_iter(lower, word).any(|at| {
        let before = at.checked_sub(1).map(|before| value[before]);
        before.is_none_or(|before| {
            !before.is_ascii_alphanumeric() || (before.is_ascii_lowercase() && value[at].is_ascii_uppercase())
        })
    })
}

pub(super) fn is_random(value: &[u8]) -> bool {
    entropy_bits(value) >= TOKEN_BITS_MIN
}

/// Whether a value is a location or a message: a path, an address, a template, a sentence.
pub(super) fn is_label(value: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(value, part).is_some();
    let is_path = has(b"://")
        || (value.starts_with(b"/") && is_wordlike(value))
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/");
    let is_variable = value.first().is_some_and(|sign| b"$&*!@%<{[(".contains(sign)) && {
        let n_signs = value.iter().take_while(|byte| byte.is_ascii_punctuation()).count();
        is_wordlike(&value[n_signs..])
    };
    let is_tag = value.starts_with(b"<") && value.ends_with(b">");
    let is_template = has(b"{}") || has(b"[secret:") || has_field(value);
    let is_version = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') && has(b".");
    let parts = || value.split(u8::is_ascii_whitespace);
    let is_sentence = parts().nth(1).is_some() && parts().all(|part| part.len() < 8 || is_wordlike(part));
    is_path || is_variable || is_tag || is_template || is_version || is_sentence || names_itself(value)
}

/// Whether it contains a field in braces: `{name}`, `{name:?}`.
fn has_field(value: &[u8]) -> bool {
    let Some(open) = memchr::memchr(b'{', value) else { return false };
    let behind = &value[open + 1..];
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let (name, behind) = behind.split_at(behind.iter().take_while(is_part).count());
    name.len() > 1 && is_wordlike(name) && matches!(behind.first(), Some(b'}' | b':' | b'!'))
}

/// Whether a value says little more than its own name: `my-token`, `user_password1`.
fn names_itself(value: &[u8]) -> bool {
    const OWN: &str = "password passwd passphrase secret token apikey api_key api-key credential key";
    const REST_BYTES_MAX: usize = 5;
    let lower = value.to_ascii_lowercase();
    let found = OWN.split(' ').find(|own| memchr::memmem::find(&lower, own.as_bytes()).is_some());
    found.is_some_and(|own| value.len() - own.len() <= REST_BYTES_MAX)
}

/// Whether a cookie is usable: one of its values looks random.
pub(super) fn is_cookie(value: &[u8]) -> bool {
    let pairs = value.split(|byte| *byte == b';').filter_map(|pair| {
        let at = memchr::memchr(b'=', pair)?;
        Some(&pair[at + 1..])
    });
    pairs
        .into_iter()
        .any(|value| value.len() >= 8 && !is_wordlike(value) && !is_placeholder(value) && !is_label(value))
}

fn entropy_bits(value: &[u8]) -> f64 {
    let mut n_of = [0_u32; 256];
    for &byte in value {
        n_of[usize::from(byte)] += 1;
    }
    let n_all = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    n_of.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / n_all).map(|share| -share * share.log2()).sum()
}
