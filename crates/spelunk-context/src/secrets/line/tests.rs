//! Compares secrets found line by line with those found in the whole text.
#![expect(clippy::single_range_in_vec_init, reason = "a line may have one secret")]

use proptest::prelude::*;

use super::*;
use crate::secrets::find_secrets;

const TOKEN: &str = "ghp_R8sK2mV0qLx7TzYw4NdJ6bHcU1aE9fGi3oPz";
const KEY_LINE: &str = "MIIEpAIBAAKCAQEA7zX2bQ0vN9mK4sT1yR8wC5uJ3hL6gFqPdEoIaVnBxZkWtYcM";

/// Pieces of text in which secrets begin, end, meet and are cut short.
const PIECES: [&str; 22] = [
    TOKEN,
    KEY_LINE,
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "-----BEGIN ",
    "\n",
    "\n",
    "\n",
    "\r\n",
    " ",
    "password = ",
    "s3cr3t-P4ssw0rd",
    "https://bob:",
    "@host/",
    "bearer ",
    "\u{fffd}",
    "ä",
    "example",
    "[secret:",
    "-----",
    "\\n",
    "x_",
];

/// Compares the result for each byte of the whole text with the results for its lines and keys.
fn check(text: &str) -> Result<(), TestCaseError> {
    let mut expected = vec![false; text.len()];
    for span in find_secrets(text) {
        expected[span.bytes].fill(true);
    }
    let mut found = vec![false; text.len()];
    for key in key_bodies(text.as_bytes()) {
        found[key].fill(true);
    }
    let mut start = 0;
    for line in text.as_bytes().split_inclusive(|&byte| byte == b'\n') {
        let end = line.strip_suffix(b"\n").unwrap_or(line);
        let end = end.strip_suffix(b"\r").unwrap_or(end);
        for secret in secrets_in_line(end) {
            found[start + secret.start..start + secret.end].fill(true);
        }
        start += line.len();
    }
    prop_assert_eq!(found, expected, "{}", text);
    Ok(())
}

proptest! {
    #[test]
    fn lines_and_keys_hold_what_the_whole_text_does(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..30),
    ) {
        check(&pieces.concat())?;
    }

    #[test]
    fn places_are_those_of_the_bytes_where_some_are_no_text(
        parts in prop::collection::vec((prop::sample::select(PIECES.to_vec()), 0_u8..4), 0..12),
    ) {
        let (mut bytes, mut text) = (Vec::new(), String::new());
        let mut raw_of = Vec::new();
        for (piece, n_invalid) in parts {
            for byte in piece.bytes() {
                raw_of.push(bytes.len());
                bytes.push(byte);
            }
            text += piece;
            for _ in 0..n_invalid {
                raw_of.extend([bytes.len(); 3]);
                bytes.push(0xFF);
                text.push('\u{fffd}');
            }
        }
        raw_of.push(bytes.len());
        let expected: Vec<_> =
            find_secrets(&text).into_iter().map(|span| raw_of[span.bytes.start]..raw_of[span.bytes.end]).collect();
        prop_assert_eq!(secrets_in(&bytes), expected);
    }
}

#[test]
fn a_line_gives_its_token_and_not_the_key_around_it() {
    assert_eq!(secrets_in_line(format!("see {TOKEN}").as_bytes()), [4..44]);
    assert_eq!(secrets_in_line(b"\xff\xfe no text"), <[Range<usize>; 0]>::default());
    let key = format!("-----BEGIN PRIVATE KEY-----\n{KEY_LINE}\n-----END PRIVATE KEY-----\n");
    assert_eq!(key_bodies(key.as_bytes()), [28..92]);
    assert_eq!(secrets_in_line(KEY_LINE.as_bytes()), <[Range<usize>; 0]>::default());
}
