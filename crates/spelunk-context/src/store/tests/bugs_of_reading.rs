//! One test for each bug that requirements 7.1 lists in the seed's reading: B4.10 to B4.12, B4.14 and B4.19, as seen
//! through the store.

use std::sync::atomic::AtomicBool;

use expect_test::expect;

use super::*;
use crate::GrepQuery;
use crate::store::Navigator;
use crate::testing::{put, tree};

fn navigator(texts: &[(&str, &str)]) -> Navigator {
    let store = Arc::new(in_memory());
    for (name, text) in texts {
        store.register(of_text(name, text)).unwrap();
    }
    Navigator::new(store)
}

// B4.10: the final newline counted as a line, in peeks and in chunks.
#[test]
fn a_final_newline_is_no_line() {
    let ten = "line\n".repeat(10);
    let navigator = navigator(&[("ten", &ten), ("long", &format!("{}\nb\nc\n", "x".repeat(500)))]);
    assert_eq!(navigator.peek("ten", 10).unwrap().peek.to_string(), ten.trim_end());
    assert_eq!(
        navigator.peek("ten", 9).unwrap().peek.to_string(),
        format!("{}\n[1 more line]", "line\n".repeat(9).trim_end())
    );
    let page = navigator.page("ten", 0, 5).unwrap().page;
    assert_eq!((page.n_pages, page.place().as_str(), page.prev, page.next), (2, "1-5 of 10", None, Some(1)));
    // Truncated by tokens in its first line: the other two are not shown, and both are counted.
    let peek = navigator.peek("long", 2).unwrap().peek.to_string();
    assert_eq!(peek, format!("{}... [truncated]\n[2 more lines]", "x".repeat(400)));
}

// B4.11: negative, zero and huge numbers gave nonsense. Negative ones do not compile here; the rest is refused.
#[test]
fn numbers_out_of_range_are_refused() {
    let navigator = navigator(&[("a", &"line\n".repeat(11))]);
    let refused = |error: StoreError| explain(&error);
    expect![[r"
        usage-wrong: lines of a peek must be between 1 and 50, not 0
        hint: give a value from 1 to 50"]]
    .assert_eq(&refused(navigator.peek("a", 0).unwrap_err()));
    expect![[r"
        usage-wrong: lines of a peek must be between 1 and 50, not 51
        hint: give a value from 1 to 50"]]
    .assert_eq(&refused(navigator.peek("a", 51).unwrap_err()));
    expect![[r"
        usage-wrong: lines of a page must be between 1 and 200, not 0
        hint: give a value from 1 to 200"]]
    .assert_eq(&refused(navigator.page("a", 0, 0).unwrap_err()));
    expect![[r"
        usage-wrong: lines of a page must be between 1 and 200, not 201
        hint: give a value from 1 to 200"]]
    .assert_eq(&refused(navigator.page("a", 0, 201).unwrap_err()));
    expect![[r"
        usage-wrong: `a` has no page 99: the last page is 2
        hint: ask for a page from 0 to 2"]]
    .assert_eq(&refused(navigator.page("a", 99, 5).unwrap_err()));
    expect![[r"
        usage-wrong: lines of context must be between 0 and 10, not 11
        hint: give a value from 0 to 10"]]
    .assert_eq(&refused(navigator.grep("a", &navigator.query("line", 11)).unwrap_err()));
    assert!(navigator.page("a", u64::MAX, 200).is_err());
}

// B4.12: an invalid pattern crashed, a hostile one ran forever, all matches were collected before 20 were shown, case
// could not matter, and indentation was lost.
#[test]
fn a_pattern_is_checked_bounded_and_matched_as_it_is() {
    let navigator = navigator(&[("a", &format!("{}\n{}", "    Indented\n".repeat(30), "a".repeat(5000)))]);
    let error = navigator.grep("a", &navigator.query("(unclosed", 0)).unwrap_err();
    expect![[r#"
        usage-wrong: the pattern is not a valid regular expression: unclosed group
            (unclosed
            ^
        hint: correct it, or search for a literal string (`literal`)"#]]
    .assert_eq(&explain(&error));
    let found = navigator.grep("a", &navigator.query("indented", 0)).unwrap();
    assert_eq!((found.matches.len(), found.n_matches, found.truncated), (20, 30, true));
    assert_eq!(found.matches[0].text, "    Indented");
    let exact = GrepQuery { case_sensitive: true, ..navigator.query("indented", 0) };
    assert_eq!(navigator.grep("a", &exact).unwrap().n_matches, 0);
    assert_eq!(navigator.grep("a", &navigator.query("(a+)+b", 0)).unwrap().n_matches, 0);
    let greedy = GrepQuery { matches_max: 1000, ..navigator.query("indented", 0) };
    assert_eq!(navigator.grep("a", &greedy).unwrap().matches.len(), 20);
}

// B4.14: any encoding other than the locale's crashed.
#[test]
fn other_encodings_are_read_and_binary_files_are_refused_by_name() {
    let files = tree(&[]);
    put(files.path(), "utf16", b"\xff\xfeh\x00i\x00");
    put(files.path(), "latin1", b"caf\xe9 and more words\n");
    put(files.path(), "binary", b"\x7fELF\x00\x00\x01\x02\x03\x04");
    let store = in_memory();
    for name in ["utf16", "latin1"] {
        store.register(of_file(name, &files.path().join(name))).unwrap();
    }
    let refused = store.register(of_file("binary", &files.path().join("binary"))).unwrap_err();
    assert_eq!(&*store.load("utf16").unwrap(), "hi");
    assert_eq!(&*store.load("latin1").unwrap(), "caf\u{fffd} and more words\n");
    let root = files.path().display().to_string();
    expect![[r"
        source-unreadable: could not read the context `binary`
          caused by: `ROOT/binary` is not text: it is a binary file
        hint: extract its text first and pass that file"]]
    .assert_eq(&explain(&refused).replace(&root, "ROOT"));
}

// B4.19: the seed claimed that searching is faster than reading. It is not, and the report says how much was read.
#[test]
fn a_search_reads_the_whole_text_once() {
    let navigator = navigator(&[("a", &"0123456789\n".repeat(1000))]);
    let found =
        navigator.store().grep("a", &GrepQuery::new("nothing like it"), &AtomicBool::new(false)).unwrap();
    assert_eq!((found.n_matches, found.bytes_scanned), (0, 11_000));
}
