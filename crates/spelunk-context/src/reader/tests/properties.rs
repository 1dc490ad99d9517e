//! Compares a reader with the simplest implementation, over arbitrary bytes.

use std::ops::Range;

use proptest::prelude::*;

use crate::reader::{Reader, split_lines};

fn reader(bytes: &[u8]) -> Reader {
    Reader::of_bytes("any", bytes.into()).with_redaction(false)
}

/// Bytes with many line ends, marks and invalid characters.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        3 => "[a-z ]{1,5}".prop_map(String::into_bytes),
        2 => "[äß€😀]{1,3}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
        1 => Just(vec![0xEF, 0xBB, 0xBF]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    any_bytes().prop_map(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.trim_start_matches('\u{feff}').to_owned()
    })
}

/// The text between two offsets, without the characters that they cut.
fn naive_slice(text: &str, range: Range<usize>) -> &str {
    let start = text.ceil_char_boundary(range.start.min(text.len()));
    let end = text.floor_char_boundary(range.end.min(text.len()));
    text.get(start..end).unwrap_or_default()
}

proptest! {
    #[test]
    fn pages_one_behind_the_other_are_the_text(text in any_text(), lines in 1_u64..7) {
        let reader = reader(text.as_bytes());
        let n_pages = reader.page(0, lines).unwrap().n_pages;
        let pages = (0..n_pages).map(|page| reader.page(page, lines).unwrap());
        prop_assert_eq!(pages.map(|page| page.text).collect::<String>(), text);
        prop_assert!(reader.page(n_pages, lines).is_err());
    }

    #[test]
    fn lines_are_those_of_the_text(text in any_text(), first in 1_u64..9, n_more in 0_u64..9) {
        let all: Vec<&str> = split_lines(&text).collect();
        let reader = reader(text.as_bytes());
        prop_assert_eq!(reader.n_lines().unwrap(), all.len() as u64);
        let skip = usize::try_from(first - 1).unwrap();
        match reader.lines(first..=first + n_more) {
            Ok(lines) => {
                let expected = all.iter().skip(skip).take(usize::try_from(n_more + 1).unwrap());
                prop_assert_eq!(lines, expected.map(|line| (*line).to_owned()).collect::<Vec<_>>());
            }
            Err(_) => prop_assert!(skip >= all.len()),
        }
    }

    #[test]
    fn slices_are_those_of_the_text(text in any_text(), start in 0_u64..60, end in 0_u64..90) {
        let slice = reader(text.as_bytes()).slice(start..end).unwrap();
        let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
        prop_assert_eq!(slice, naive_slice(&text, range));
    }

    #[test]
    fn a_peek_keeps_its_bounds_and_is_the_beginning(text in any_text(), lines in 1_u64..9, tokens in 1_u64..9) {
        let peek = reader(text.as_bytes()).peek(lines, tokens).unwrap();
        prop_assert!(peek.text.chars().count() as u64 <= tokens * 4);
        prop_assert!(peek.lines_shown <= lines);
        let all = split_lines(&text).collect::<Vec<_>>().join("\n");
        prop_assert!(all.starts_with(&peek.text));
        let n_lines = split_lines(&text).count() as u64;
        let more = match peek.more_lines {
            super::More::None => 0,
            super::More::Exactly(n) => n,
            super::More::AtLeast(_) => u64::MAX,
        };
        prop_assert_eq!(peek.lines_shown + more, n_lines);
        let is_all = peek.lines_shown == n_lines || peek.lines_shown == lines;
        prop_assert!(peek.truncated || is_all);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(
        bytes in any_bytes(), lines in 1_u64..9, start in 0_u64..90, n_bytes in 0_u64..90, redact: bool,
    ) {
        let reader = Reader::of_bytes("any", bytes.into()).with_redaction(redact);
        let n_lines = reader.n_lines().unwrap();
        prop_assert_eq!(reader.lines(1..=u64::MAX).map_or(0, |lines| lines.len() as u64), n_lines);
        prop_assert!(reader.peek(lines, lines).is_ok());
        prop_assert!(reader.page(0, lines).is_ok());
        prop_assert!(reader.slice(start..start + n_bytes).is_ok());
        prop_assert!(reader.load(1_000_000).is_ok());
    }
}
