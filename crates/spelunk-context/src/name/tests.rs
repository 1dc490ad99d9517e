use super::*;

#[test]
fn a_name_is_the_path_with_slashes_and_nothing_that_moves_the_cursor() {
    assert_eq!(printable(Path::new("./a/b.md")), "a/b.md");
    assert_eq!(printable(Path::new("a\nFrom: b\t\u{1b}[2J\u{202e}c")), "a\\nFrom: b\\t\\u{1b}[2J\\u{202e}c");
    assert_eq!(printable(Path::new("日本/é.txt")), "日本/é.txt");
    assert_eq!(printable_text("std\rin"), "std\\rin");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_still_a_name() {
    use std::os::unix::ffi::OsStrExt as _;
    assert_eq!(printable(Path::new(std::ffi::OsStr::from_bytes(b"a\xff/b"))), "a\u{fffd}/b");
}

#[test]
fn a_tail_is_the_end_of_the_path() {
    assert_eq!(tail(Path::new("/a/b/c"), 1), "c");
    assert_eq!(tail(Path::new("/a/b/c"), 2), "b/c");
    assert_eq!(tail(Path::new("/a"), 9), "a");
    assert_eq!(tail(Path::new("/"), 1), "");
}

#[test]
fn long_names_are_cut_by_characters() {
    assert_eq!(shortened("äbc", 3), "äbc");
    assert_eq!(shortened("äbcd", 3), "äb…");
}
