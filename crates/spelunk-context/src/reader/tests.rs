//! Reading documents: what each operation returns, what it refuses, and that a changed file is detected.
#![expect(clippy::disallowed_methods, reason = "tests make and change the files that are read")]

mod properties;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use spelunk_types::Explain as _;
use tempfile::TempDir;

use super::{More, Page, Peek, ReadError, Reader};
use crate::testing::{tree, view};

fn reader(text: &str) -> Reader {
    Reader::of_bytes("text", text.as_bytes().into())
}

fn file(bytes: &[u8]) -> (TempDir, Reader) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    fs::write(&path, bytes).unwrap();
    let reader = Reader::open(&path).unwrap();
    (directory, reader)
}

/// The error as a user sees it, without the directory.
fn refused<T: std::fmt::Debug>(result: Result<T, ReadError>, directory: &Path, expected: &Expect) {
    use std::error::Error as _;
    let error = result.unwrap_err();
    let cause = error.source().map(|cause| format!("\n  caused by: {cause}")).unwrap_or_default();
    let text = format!("{}: {error}{cause}\nhint: {}", error.code(), error.hint().unwrap_or_default());
    expected.assert_eq(&text.replace(&*directory.to_string_lossy(), "DIR"));
}

fn page_of(text: &str, page: u64, lines: u64) -> (String, String) {
    let page = reader(text).page(page, lines).unwrap();
    (
        page.text.clone(),
        format!("{} p{}/{} {:?} {:?}", page.place(), page.page, page.n_pages, page.prev, page.next),
    )
}

#[test]
fn a_missing_file_and_an_empty_one_are_told_apart() {
    let directory = tree(&[("empty.txt", "")]);
    let empty = Reader::open(&directory.path().join("empty.txt")).unwrap();
    assert_eq!(empty.peek(10, 100).unwrap().to_string(), "[empty]");
    assert_eq!((empty.bytes(), empty.n_lines().unwrap()), (0, 0));
    refused(
        Reader::open(&directory.path().join("emty.txt")),
        directory.path(),
        &expect![[r#"
            source-not-found: `DIR/emty.txt` does not exist
            hint: try `DIR/empty.txt`, which does exist"#]],
    );
}

#[test]
fn a_file_that_appears_later_is_seen() {
    let directory = tree(&[]);
    let path = directory.path().join("later.txt");
    assert_eq!(Reader::open(&path).unwrap_err().code().name(), "source-not-found");
    fs::write(&path, "here").unwrap();
    assert_eq!(Reader::open(&path).unwrap().load(10).unwrap(), "here");
}

#[test]
fn what_is_no_text_file_is_refused_by_name() {
    let directory = tree(&[("sub/a.txt", "a")]);
    refused(
        Reader::open(&directory.path().join("sub")),
        directory.path(),
        &expect![[r#"
            source-unreadable: `DIR/sub` is a directory, not a file
            hint: pass one file in it"#]],
    );
    fs::write(directory.path().join("a.bin"), b"\x7fELF\0\0\0").unwrap();
    refused(
        Reader::open(&directory.path().join("a.bin")),
        directory.path(),
        &expect![[r#"
            source-unreadable: `DIR/a.bin` is not text: it is a binary file
            hint: extract its text first and pass that file"#]],
    );
    refused(
        Reader::open(Path::new("/dev/null")),
        directory.path(),
        &expect![[r#"
            source-unreadable: `/dev/null` is neither a file nor a directory
            hint: write it to a file first, or pipe it in as standard input"#]],
    );
}

#[test]
fn ten_lines_with_a_final_newline_have_no_more_lines() {
    let peek = reader(&"x\n".repeat(10)).peek(10, 100).unwrap();
    let text = ["x"; 10].join("\n");
    assert_eq!(peek, Peek { text: text.clone(), truncated: false, lines_shown: 10, more_lines: More::None });
    assert_eq!(peek.to_string(), text);
}

#[test]
fn a_peek_counts_the_lines_behind_those_it_shows_even_when_cut_by_tokens() {
    let text = "abcdefgh\n".repeat(5);
    assert_eq!(reader(&text).peek(2, 100).unwrap().to_string(), "abcdefgh\nabcdefgh\n[3 more lines]");
    assert_eq!(
        reader(&text).peek(4, 100).unwrap().to_string(),
        "abcdefgh\nabcdefgh\nabcdefgh\nabcdefgh\n[1 more line]"
    );
    assert_eq!(reader(&text).peek(4, 3).unwrap().to_string(), "abcdefgh\nabc... [truncated]\n[3 more lines]");
    assert_eq!(reader("äöüäöü").peek(1, 1).unwrap().to_string(), "äöüä... [truncated]");
    assert_eq!(reader("\n\n\n").peek(2, 9).unwrap().to_string(), "\n\n[1 more line]");
}

#[test]
fn a_peek_at_a_long_document_reads_its_head_only() {
    let text = "0123456789\n".repeat(20_000);
    let long = reader(&text);
    let peek = long.peek(2, 100).unwrap();
    assert_eq!(
        (peek.more_lines, peek.to_string().as_str()),
        (More::AtLeast(5956), "0123456789\n0123456789\n[at least 5956 more lines]")
    );
    assert_eq!(long.n_lines().unwrap(), 20_000);
    assert_eq!(long.peek(2, 100).unwrap().more_lines, More::Exactly(19_998));
}

#[test]
fn bounds_are_checked_and_named() {
    let text = reader("a\nb\nc\n");
    let nowhere = Path::new("nowhere");
    refused(
        text.peek(0, 100),
        nowhere,
        &expect![[r#"
        usage-wrong: lines of a peek must be between 1 and 1000000, not 0
        hint: give a value from 1 to 1000000"#]],
    );
    refused(
        text.page(0, 0),
        nowhere,
        &expect![[r#"
        usage-wrong: lines of a page must be between 1 and 1000000, not 0
        hint: give a value from 1 to 1000000"#]],
    );
    refused(
        text.page(99, 2),
        nowhere,
        &expect![[r#"
        usage-wrong: `text` has no page 99: the last page is 1
        hint: ask for a page from 0 to 1"#]],
    );
    refused(
        text.page(u64::MAX, 2),
        nowhere,
        &expect![[r#"
        usage-wrong: `text` has no page 18446744073709551615: the last page is 1
        hint: ask for a page from 0 to 1"#]],
    );
    refused(
        text.lines(0..=1),
        nowhere,
        &expect![[r#"
        usage-wrong: `text` has no line 0: it has 3, counted from 1
        hint: ask for lines from 1 to 3"#]],
    );
    refused(
        text.lines(4..=9),
        nowhere,
        &expect![[r#"
        usage-wrong: `text` has no line 4: it has 3, counted from 1
        hint: ask for lines from 1 to 3"#]],
    );
    refused(
        text.load(5),
        nowhere,
        &expect![[r#"
        usage-wrong: that part of `text` has 6 bytes; at most 5 can be read at once
        hint: read it in pages, search it, or read a smaller part"#]],
    );
}

#[test]
fn pages_count_no_phantom_line() {
    assert_eq!(page_of("a\nb\nc\nd\n", 1, 2), ("c\nd\n".into(), "3-4 of 4 p1/2 Some(0) None".into()));
    assert_eq!(page_of("a\nb\nc", 1, 2), ("c".into(), "3-3 of 3 p1/2 Some(0) None".into()));
    assert_eq!(page_of("a\nb\nc", 0, 2), ("a\nb\n".into(), "1-2 of 3 p0/2 None Some(1)".into()));
    assert_eq!(page_of("", 0, 50), (String::new(), "0-0 of 0 p0/1 None None".into()));
}

#[test]
fn a_page_of_giant_lines_is_cut_and_says_so() {
    let text = "x".repeat(3_000_000);
    let page = reader(&text).page(0, 50).unwrap();
    assert_eq!((page.text.len() as u64, page.truncated, page.n_pages), (Page::BYTES_MAX, true, 1));
}

#[test]
fn line_ends_are_kept_in_pages_and_slices_and_not_in_lines() {
    let text = reader("a\r\nb\r\n\r\nc");
    assert_eq!(text.lines(1..=9).unwrap(), ["a", "b", "", "c"]);
    assert_eq!(text.peek(2, 100).unwrap().text, "a\nb");
    assert_eq!(text.page(0, 2).unwrap().text, "a\r\nb\r\n");
    assert_eq!(text.slice(0..4).unwrap(), "a\r\nb");
}

#[test]
fn slices_are_bytes_cut_to_whole_characters() {
    let text = reader("aä€😀z");
    assert_eq!(text.slice(0..2).unwrap(), "a");
    assert_eq!(text.slice(2..6).unwrap(), "€");
    assert_eq!(text.slice(4..99).unwrap(), "😀z");
    assert_eq!(text.slice(7..9).unwrap(), "");
    #[expect(clippy::reversed_empty_ranges, reason = "a caller may send one")]
    let backwards = text.slice(5..3).unwrap();
    assert_eq!(backwards, "");
}

#[test]
fn other_encodings_are_read_as_text() {
    let utf16: Vec<u8> = "\u{feff}häh\n2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (_directory, text) = file(&utf16);
    assert_eq!((text.bytes(), text.n_lines().unwrap()), (7, 2));
    assert_eq!(text.lines(1..=2).unwrap(), ["häh", "2"]);
    let (_directory, marked) = file(b"\xEF\xBB\xBFone\ntwo");
    assert_eq!((marked.bytes(), marked.slice(0..3).unwrap().as_str()), (7, "one"));
    let (_directory, latin) = file(b"caf\xe9\nok\n");
    assert_eq!((latin.bytes(), latin.lines(1..=2).unwrap()), (8, vec!["caf\u{fffd}".into(), "ok".into()]));
}

#[test]
fn a_file_that_changed_shrank_or_vanished_gives_a_typed_error() {
    let changes: [fn(&Path); 4] = [
        |path| fs::write(path, "other and longer").unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| fs::remove_file(path).unwrap(),
        |path| {
            fs::File::options().write(true).open(path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        },
    ];
    for change in changes {
        let (directory, text) = file(b"one\ntwo\n");
        assert_eq!((text.n_lines().unwrap(), text.is_stale()), (2, false));
        change(&directory.path().join("a.txt"));
        assert!(text.is_stale());
        let errors = [
            text.peek(1, 1).map(drop),
            text.page(0, 1).map(drop),
            text.lines(1..=1).map(drop),
            text.slice(0..1).map(drop),
            text.load(100).map(drop),
            text.n_lines().map(drop),
        ];
        for error in errors {
            refused(
                error,
                directory.path(),
                &expect![[r#"
                corpus-changed: `DIR/a.txt` changed while it was open
                hint: read it again"#]],
            );
        }
    }
}

#[test]
fn a_document_of_a_view_is_read_under_its_name_and_only_at_its_size() {
    let directory = tree(&[("a.txt", "one\ntwo\n")]);
    let corpus = Arc::new(crate::testing::scan(&[directory.path()]).unwrap());
    let documents = crate::View::of(Arc::clone(&corpus));
    let document = &corpus.documents()[0];
    let text = Reader::of_document(&documents, document).unwrap();
    assert_eq!((text.name(), text.lines(2..=2).unwrap()), ("a.txt", vec!["two".to_owned()]));
    let narrowed = documents.narrow(|_| false);
    assert_eq!(
        Reader::of_document(&narrowed, document).unwrap_err().to_string(),
        "`a.txt` changed while it was open"
    );
    fs::write(directory.path().join("a.txt"), "three").unwrap();
    assert_eq!(Reader::of_document(&documents, document).unwrap_err().code().name(), "corpus-changed");
    let inline = view(&[("note", "hello")]);
    let document = inline.find("note").unwrap();
    assert_eq!(Reader::of_document(&inline, document).unwrap().load(9).unwrap(), "hello");
}

#[test]
fn a_log_is_read_as_far_as_it_was_scanned_while_it_grows() {
    let directory = tree(&[("a.log", "one\ntwo\n")]);
    let documents = crate::View::of(Arc::new(crate::testing::scan(&[directory.path()]).unwrap()));
    let document = documents.find("a.log").unwrap();
    let opened_before = Reader::of_document(&documents, document).unwrap();
    crate::testing::append(directory.path(), "a.log", b"three\n");
    let opened_after = Reader::of_document(&documents, document).unwrap();
    crate::testing::append(directory.path(), "a.log", b"four\n");
    for text in [opened_before, opened_after] {
        assert_eq!((text.bytes(), text.n_lines().unwrap(), text.is_stale()), (8, 2, false));
        assert_eq!(text.load(100).unwrap(), "one\ntwo\n");
        assert_eq!(text.slice(4..100).unwrap(), "two\n");
    }
}

#[test]
fn a_log_that_was_rotated_or_rewritten_is_not_read() {
    let changes: [fn(&Path); 3] = [
        |path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            fs::write(path, "the next one, and longer\n").unwrap();
        },
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, "ONE\nTWO\nTHREE\nFOUR\n").unwrap(),
    ];
    for change in changes {
        let directory = tree(&[("a.log", "one\ntwo\n")]);
        let documents = crate::View::of(Arc::new(crate::testing::scan(&[directory.path()]).unwrap()));
        let document = documents.find("a.log").unwrap();
        let opened_before = Reader::of_document(&documents, document).unwrap();
        crate::testing::append(directory.path(), "a.log", b"three\n");
        assert_eq!(opened_before.load(100).unwrap(), "one\ntwo\n");
        change(&directory.path().join("a.log"));
        let errors = [opened_before.load(100).map(drop), Reader::of_document(&documents, document).map(drop)];
        for error in errors {
            assert_eq!(error.unwrap_err().to_string(), "`a.log` changed while it was open");
        }
    }
}
