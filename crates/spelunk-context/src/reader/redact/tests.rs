//! No secret leaks, however the text around it is cut.

use super::RedactedText;
use crate::Reader;

const TOKEN: &str = "ghp_R8sK2mV0qLx7TzYw4NdJ6bHcU1aE9fGi3oPz";

fn key() -> String {
    let line = "MIIEpAIBAAKCAQEA7zX2bQ0vN9mK4sT1yR8wC5uJ3hL6gFqPdEoIaVnBxZkWtYcM";
    let body = format!("{line}\n").repeat(24);
    format!("before\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nafter\n")
}

#[test]
fn a_token_is_replaced_in_its_line() {
    let text = Reader::of_bytes("a", format!("x\nkey: {TOKEN} end\ny\n").into_bytes().into());
    assert_eq!(text.lines(2..=2).unwrap(), ["key: [secret:github-token] end"]);
    assert_eq!(text.with_redaction(false).lines(2..=2).unwrap(), [format!("key: {TOKEN} end")]);
}

#[test]
fn a_slice_through_a_token_shows_no_part_of_it() {
    let text = format!("key: {TOKEN} end");
    let reader = Reader::of_bytes("a", text.clone().into_bytes().into());
    for at in 6..text.len() as u64 - 5 {
        assert_eq!(reader.slice(at..at + 1).unwrap(), "[secret:github-token]");
    }
}

#[test]
fn a_private_key_over_several_pages_leaks_no_line() {
    let text = key();
    let reader = Reader::of_bytes("a", text.clone().into_bytes().into());
    assert_eq!(reader.n_lines().unwrap(), text.lines().count() as u64);
    let pages: String = (0..7).map(|page| reader.page(page, 4).unwrap().text).collect();
    let masked = "[secret:private-key]\n".repeat(24);
    let expected =
        format!("before\n-----BEGIN RSA PRIVATE KEY-----\n{masked}-----END RSA PRIVATE KEY-----\nafter\n");
    assert_eq!(pages, expected);
    assert_eq!(reader.peek(3, 100).unwrap().text.lines().last(), Some("[secret:private-key]"));
}

#[test]
fn ranges_are_found_again_in_what_is_shown() {
    let redacted = RedactedText::masked("ab SECRET cd".to_owned(), [(3..9, "r")].into_iter());
    assert_eq!(redacted.text, "ab [secret:r] cd");
    assert_eq!(
        [redacted.shown(&(0..2)), redacted.shown(&(10..12)), redacted.shown(&(1..5))],
        [0..2, 14..16, 1..13]
    );
    assert_eq!(
        [redacted.shown(&(4..5)), redacted.shown(&(3..3)), redacted.shown(&(12..12))],
        [3..13, 3..3, 16..16]
    );
}
