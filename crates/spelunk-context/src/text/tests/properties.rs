//! Compares every method of `str` with the simplest implementation, over arbitrary bytes.

use proptest::prelude::*;

use super::raw;
use crate::MatchCursor;

/// Bytes with many line ends of every sort, and multi-byte and invalid characters.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        2 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => "[\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}]".prop_map(String::into_bytes),
        3 => "[ab ,]{1,5}".prop_map(String::into_bytes),
        2 => "[äß€😀]{1,3}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
        1 => Just(vec![0xE2, 0x82]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| {
        let bytes = pieces.concat();
        // The reader handles a mark or UTF-16 at the beginning.
        if bytes.starts_with(&[0xEF, 0xBB, 0xBF])
            || bytes.starts_with(&[0xFF, 0xFE])
            || bytes.starts_with(&[0xFE, 0xFF])
        {
            [b"x".to_vec(), bytes].concat()
        } else {
            bytes
        }
    })
}

fn any_needle() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ab, ]{1,2}",
        Just("\n".to_owned()),
        "[äß€😀]{1,2}",
        Just("\u{fffd}".to_owned())
    ]
}

fn chars_of(bytes: &[u8]) -> Vec<char> {
    String::from_utf8_lossy(bytes).chars().collect()
}

/// The part that Python selects for bounds from the beginning, if it exists.
fn part(chars: &[char], start: u64, end: u64) -> Option<(usize, String)> {
    let (start, end) = (usize::try_from(start).unwrap(), usize::try_from(end).unwrap().min(chars.len()));
    (start <= chars.len() && start <= end).then(|| (start, chars[start..end].iter().collect()))
}

fn char_offset(text: &str, byte: usize) -> u64 {
    text.get(..byte).unwrap().chars().count() as u64
}

/// `str.splitlines`, character by character.
fn naive_lines(chars: &[char], keeps_ends: bool) -> Vec<String> {
    let is_end = |c: char| "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}".contains(c);
    let (mut lines, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let end = (at..chars.len()).find(|&idx| is_end(chars[idx])).unwrap_or(chars.len());
        let next = match chars.get(end..) {
            Some(['\r', '\n', ..]) => end + 2,
            Some([_, ..]) => end + 1,
            _ => end,
        };
        lines.push(chars[at..if keeps_ends { next } else { end }].iter().collect());
        at = next;
    }
    lines
}

proptest! {
    #[test]
    fn characters_are_counted_and_sliced(bytes in any_bytes(), start in 0_u64..90, end in 0_u64..90) {
        let (chars, text) = (chars_of(&bytes), raw(&bytes));
        prop_assert_eq!(text.chars().unwrap(), chars.len() as u64);
        let expected = part(&chars, start, end).map_or(String::new(), |(_, part)| part);
        prop_assert_eq!(text.slice(start..end).unwrap(), expected);
        prop_assert_eq!(text.to_string_bounded(1000).unwrap(), chars.iter().collect::<String>());
    }

    #[test]
    fn text_is_found_from_both_ends(
        bytes in any_bytes(), needle in any_needle(), start in 0_u64..60, end in 0_u64..90,
    ) {
        let (chars, text) = (chars_of(&bytes), raw(&bytes));
        let found = |offset: Option<usize>, from: usize, part: &str| offset.map(|at| from as u64 + char_offset(part, at));
        let within = part(&chars, start, end);
        let first = within.as_ref().and_then(|(from, part)| found(part.find(&needle), *from, part));
        let last = within.as_ref().and_then(|(from, part)| found(part.rfind(&needle), *from, part));
        let n_found = within.as_ref().map_or(0, |(_, part)| part.matches(&needle).count() as u64);
        prop_assert_eq!(text.find(&needle, start..end).unwrap(), first);
        prop_assert_eq!(text.rfind(&needle, start..end).unwrap(), last);
        prop_assert_eq!(text.count(&needle, start..end).unwrap(), n_found);
        let all: String = chars.iter().collect();
        prop_assert_eq!(text.contains(&needle).unwrap(), all.contains(&needle));
        prop_assert_eq!(text.starts_with(&needle).unwrap(), all.starts_with(&needle));
        prop_assert_eq!(text.ends_with(&needle).unwrap(), all.ends_with(&needle));
    }

    #[test]
    fn the_text_begins_and_ends_with_its_own_ends(bytes in any_bytes(), n_chars in 0_usize..9) {
        let (chars, text) = (chars_of(&bytes), raw(&bytes));
        let head: String = chars.iter().take(n_chars).collect();
        let tail: String = chars[chars.len().saturating_sub(n_chars)..].iter().collect();
        prop_assert!(text.starts_with(&head).unwrap());
        prop_assert!(text.ends_with(&tail).unwrap());
    }

    #[test]
    fn splits_in_batches_are_those_of_the_text(
        bytes in any_bytes(), needle in any_needle(), max in 0_u64..4, bytes_max in 1_u64..200,
    ) {
        prop_assume!(!needle.is_empty());
        let (all, text) = (String::from_utf8_lossy(&bytes).into_owned(), raw(&bytes));
        let (mut cursor, mut parts) = (MatchCursor::default(), Vec::new());
        loop {
            let some = text.split(Some(&needle), max, cursor, bytes_max).unwrap();
            parts.extend(some.items);
            match some.next {
                Some(next) => cursor = next,
                None => break,
            }
        }
        let n_parts = if max == 0 { usize::MAX } else { usize::try_from(max + 1).unwrap() };
        let expected: Vec<String> = all.splitn(n_parts, &needle).map(str::to_owned).collect();
        prop_assert_eq!(parts, expected);
    }

    #[test]
    fn lines_in_batches_are_those_of_the_text(bytes in any_bytes(), bytes_max in 0_u64..40, keeps_ends: bool) {
        let (chars, text) = (chars_of(&bytes), raw(&bytes));
        let (mut cursor, mut lines) = (Some(0), Vec::new());
        while let Some(from) = cursor {
            let some = text.lines(from, bytes_max, keeps_ends).unwrap();
            lines.extend(some.items);
            cursor = some.next;
        }
        prop_assert_eq!(lines, naive_lines(&chars, keeps_ends));
    }

    #[test]
    fn characters_and_lines_find_each_other(bytes in any_bytes(), at in 0_usize..90) {
        let (chars, text) = (chars_of(&bytes), raw(&bytes));
        let at = at.min(chars.len());
        let line = chars[..at].iter().filter(|&&c| c == '\n').count() as u64 + 1;
        prop_assert_eq!(text.line_of_char(at as u64).unwrap(), line);
        let ends = chars.iter().enumerate().filter(|(_, c)| **c == '\n').map(|(idx, _)| idx as u64 + 1);
        let start = std::iter::once(0).chain(ends).nth(usize::try_from(line - 1).unwrap()).unwrap();
        prop_assert_eq!(text.char_of_line(line).unwrap(), start);
    }
}

#[test]
fn the_index_is_right_over_many_blocks_whatever_was_asked_first() {
    // Characters of 1 to 4 bytes and invalid ones, so that blocks end inside all of them.
    let pieces: [&[u8]; 7] =
        [b"a", "ä".as_bytes(), "€".as_bytes(), "😀".as_bytes(), b"\xE2\x82", b"\xFF", b"line\n"];
    let mut bytes = Vec::new();
    let mut state = 7_u32;
    while bytes.len() < 600_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.extend_from_slice(pieces[usize::try_from(state >> 16).unwrap() % pieces.len()]);
    }
    let chars = chars_of(&bytes);
    let offsets = [0, 1, chars.len() / 2, 17, chars.len() - 1, chars.len() / 3, chars.len()];
    for n_first in 0..offsets.len() {
        let text = raw(&bytes);
        for &at in offsets.iter().cycle().skip(n_first).take(offsets.len()) {
            let expected: String = chars[at..].iter().take(50).collect();
            assert_eq!(text.slice(at as u64..at as u64 + 50).unwrap(), expected, "at {at}");
        }
        assert_eq!(text.chars().unwrap(), chars.len() as u64);
    }
}
