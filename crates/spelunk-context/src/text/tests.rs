//! Compares a lazy text with a `String` of the same text.

mod properties;
mod records;
mod secrets;

use std::sync::Arc;

use super::{LazyText, MatchCursor, Sizes};
use crate::testing::{put, scan, tree, view};
use crate::{ReadError, Reader, TextError, View};

impl LazyText {
    /// Other window sizes: results do not depend on them.
    pub(crate) fn with_sizes(mut self, sizes: Sizes) -> Self {
        self.sizes = sizes;
        self
    }
}

/// The text of these bytes without masking, in windows of a few bytes.
pub(super) fn raw(bytes: &[u8]) -> LazyText {
    let reader = Reader::of_bytes("any", bytes.into()).with_redaction(false);
    let sizes = Sizes {
        window_bytes: 16,
        backtracking_bytes: 16,
        window_bytes_max: 1 << 20,
        lead_bytes: 9,
        windows_alone: u64::MAX,
    };
    LazyText::over(reader).with_sizes(sizes)
}

#[test]
fn a_document_of_a_view_is_what_the_view_reads() {
    let directory = tree(&[("a.txt", "Ünïcödé\r\nzwei\n")]);
    put(directory.path(), "b.txt", b"\xEF\xBB\xBFmark\n");
    put(directory.path(), "c.txt", b"\xFF\xFEa\0\xE4\0\n\0");
    put(directory.path(), "d.txt", b"broken \xE4 here \xE2\x82\n");
    let view = View::of(Arc::new(scan(&[directory.path()]).unwrap()));
    let mut texts = Vec::new();
    for document in view.documents() {
        let text = LazyText::open(&view, document).unwrap();
        let whole = text.to_string_bounded(1000).unwrap();
        assert_eq!(whole, *view.read(document).unwrap());
        assert_eq!(text.chars().unwrap(), whole.chars().count() as u64);
        assert_eq!(text.slice(0..u64::MAX).unwrap(), whole);
        texts.push(whole);
    }
    assert_eq!(texts, ["Ünïcödé\r\nzwei\n", "mark\n", "aä\n", "broken \u{fffd} here \u{fffd}\n"]);
}

#[test]
fn a_file_that_changed_gives_nothing() {
    let directory = tree(&[("a.txt", "one two three\n")]);
    let view = View::of(Arc::new(scan(&[directory.path()]).unwrap()));
    let text = LazyText::open(&view, view.find("a.txt").unwrap()).unwrap();
    assert_eq!(text.slice(4..7).unwrap(), "two");
    put(directory.path(), "a.txt", b"another text that is longer\n");
    let is_changed = |error: TextError| matches!(error, TextError::Read(ReadError::Changed { .. }));
    assert!(is_changed(text.slice(4..7).unwrap_err()));
    assert!(is_changed(text.chars().unwrap_err()));
    assert!(is_changed(text.find("two", 0..100).unwrap_err()));
    assert!(is_changed(text.lines(0, 100, false).unwrap_err()));
    assert!(is_changed(LazyText::open(&view, view.find("a.txt").unwrap()).unwrap_err()));
}

#[test]
fn a_document_of_another_view_is_not_opened() {
    let (one, two) = (view(&[("a", "text")]), view(&[("b", "text")]));
    let error = LazyText::open(&one, two.find("b").unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "`b` changed while it was open");
}

#[test]
fn a_string_keeps_its_byte_order_mark() {
    let text = LazyText::of_string("s", "\u{feff}a");
    assert_eq!((text.chars().unwrap(), text.slice(0..1).unwrap()), (2, "\u{feff}".to_owned()));
}

#[test]
fn the_empty_text_has_one_empty_part_and_no_line() {
    let text = raw(b"");
    assert_eq!(text.chars().unwrap(), 0);
    assert_eq!(text.find("", 0..9).unwrap(), Some(0));
    assert_eq!(text.find("a", 0..9).unwrap(), None);
    assert_eq!(text.count("", 0..9).unwrap(), 1);
    assert_eq!(text.lines(0, 10, true).unwrap().items, Vec::<String>::new());
    assert_eq!(text.split(Some(","), 0, MatchCursor::default(), 10).unwrap().items, [""]);
    assert_eq!(text.split(None, 0, MatchCursor::default(), 10).unwrap().items, Vec::<String>::new());
    let error = text.split(Some(""), 0, MatchCursor::default(), 10).unwrap_err();
    assert_eq!(error.to_string(), "empty separator");
}

#[test]
fn splitting_at_blanks_keeps_the_rest_when_it_stops() {
    let text = raw(b" a b  c \n");
    let split = |max| text.split(None, max, MatchCursor::default(), 1000).unwrap().items;
    assert_eq!(split(0), ["a", "b", "c"]);
    assert_eq!(split(1), ["a", "b  c \n"]);
    assert_eq!(split(2), ["a", "b", "c \n"]);
    assert_eq!(split(3), ["a", "b", "c"]);
}

#[test]
fn a_slice_that_is_too_large_is_refused() {
    let text = raw(&b"x".repeat(300));
    let error = text.to_string_bounded(100).unwrap_err();
    assert_eq!(error.to_string(), "that part of `any` has 300 bytes; at most 100 can be read at once");
}
