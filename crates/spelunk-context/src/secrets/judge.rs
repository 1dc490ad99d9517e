//! What else must be true of a value before it is taken for a secret. Text is full of names, examples and numbers that
//! have the form of one.

/// Bits per byte, below which a value is not random. English words have about 3 at the length of a token.
const TOKEN_BITS_MIN: f64 = 3.0;

/// Words that stand where a secret would.
const PLACEHOLDERS: [&[u8]; 22] = [
    b"example",
    b"xxxx",
    b"changeme",
    b"change_me",
    b"change-me",
    b"your",
    b"placeholder",
    b"dummy",
    b"redacted",
    b"insert",
    b"****",
    b"....",
    b"sample",
    b"replace",
    b"fake",
    b"0000000",
    b"1234567890",
    b"abcdefgh",
    b"$(",
    b"${",
    b"%s",
    b"{{",
];

/// Words that are a value by themselves, in tutorials.
const WORDS: [&[u8]; 8] = [b"password", b"passwd", b"pass", b"secret", b"token", b"key", b"none", b"null"];

/// Whether the value only shows where a secret would stand.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS.contains(&lower.as_slice())
        || PLACEHOLDERS.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
        || lower.iter().all(|byte| Some(byte) == lower.first())
}

/// Whether a token looks drawn at random.
pub(super) fn is_random(value: &[u8]) -> bool {
    entropy_bits(value) >= TOKEN_BITS_MIN
}

/// Whether a value that was assigned to a name like `password` is one that a person would not want to see elsewhere.
pub(super) fn is_assigned_secret(value: &[u8]) -> bool {
    let n_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let n_letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let n_signs = value.iter().filter(|byte| b"!@#$%^&*+=?~".contains(byte)).count();
    let is_path =
        value.starts_with(b"/") || value.starts_with(b"./") || memchr::memmem::find(value, b"://").is_some();
    let is_mixed = n_letters > 0 && n_digits + n_signs > 0;
    // A short one must be a good password; a long one need only look random.
    let n_changes = value.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let is_dense = n_changes >= 3 || (value.len() >= 16 && n_digits >= 2);
    is_mixed && is_dense && !is_path && entropy_bits(value) >= 2.8 && !is_wordy(value)
}

/// Shannon's entropy of its bytes.
fn entropy_bits(value: &[u8]) -> f64 {
    let mut n_of = [0_u32; 256];
    for &byte in value {
        n_of[usize::from(byte)] += 1;
    }
    let n_all = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    n_of.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / n_all).map(|share| -share * share.log2()).sum()
}

/// Names in code and prose: every part between signs is letters with perhaps a short number behind them.
pub(super) fn is_wordy(value: &[u8]) -> bool {
    const NUMBER_DIGITS_MAX: usize = 4;
    // What operators in code leave of a name: `&self.owner_password`, `Token!`.
    let n_signs = value.iter().take_while(|byte| b"&!*@$".contains(byte)).count();
    let value = value[n_signs..].strip_suffix(b"!").unwrap_or(&value[n_signs..]);
    value.split(|byte| b"_-./:".contains(byte)).all(|part| {
        let n_digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let word = &part[..part.len() - n_digits];
        n_digits <= NUMBER_DIGITS_MAX
            && word.iter().all(u8::is_ascii_alphabetic)
            && n_case_changes(word) * 6 <= word.len()
    })
}

/// `camelCase` has one change per word; random letters have one every other letter.
fn n_case_changes(part: &[u8]) -> usize {
    part.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count()
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' | b'A'..=b'Z' => 1,
        _ => 2,
    }
}
