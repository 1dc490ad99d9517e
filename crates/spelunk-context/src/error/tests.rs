use expect_test::{Expect, expect};

use super::*;
use crate::testing::explain;

fn check(error: &SourceError, expected: &Expect) {
    expected.assert_eq(&explain(error));
}

#[test]
fn every_error_says_what_and_what_to_try() {
    let path = || PathBuf::from("notes/a.md");
    check(
        &SourceError::NotFound { path: path(), nearest: Nearest::Sibling("notes/b.md".into()) },
        &expect![[r"
            source-not-found: `notes/a.md` does not exist
            hint: try `notes/b.md`, which does exist"]],
    );
    check(
        &SourceError::NotFound { path: path(), nearest: Nearest::Parent("notes".into()) },
        &expect![[r"
            source-not-found: `notes/a.md` does not exist
            hint: look in `notes`, the nearest directory that exists"]],
    );
    check(
        &SourceError::NotText { name: "a.png".into(), why: NotText::Binary },
        &expect![[r"
            source-unreadable: `a.png` is not text: it is a binary file
            hint: extract its text first and pass that file"]],
    );
    check(
        &SourceError::NotText { name: "a.txt".into(), why: NotText::Encoding },
        &expect![[r"
            source-unreadable: `a.txt` is not text: its encoding is neither UTF-8 nor UTF-16 with a byte order mark
            hint: convert it to UTF-8 first, for example with `iconv`"]],
    );
    check(
        &SourceError::Secret { path: ".env".into() },
        &expect![[r"
            source-unreadable: `.env` may contain secrets and was not read
            hint: exclude it, or pass `--allow-secrets` if it must be read"]],
    );
    check(
        &SourceError::Special { path: "/dev/null".into() },
        &expect![[r"
            source-unreadable: `/dev/null` is neither a file nor a directory
            hint: write it to a file first, or pipe it in as standard input"]],
    );
    check(
        &SourceError::Scratch { source: io::Error::from_raw_os_error(28) },
        &expect![[r"
            source-unreadable: could not write unpacked text to the temporary directory
              caused by: No space left on device (os error 28)
            hint: free some space there, or set `TMPDIR` to another directory"]],
    );
    check(
        &SourceError::Changed { name: "a.md".into() },
        &expect![[r"
            corpus-changed: `a.md` changed since it was scanned
            hint: start a new run with the current text"]],
    );
}

#[test]
fn an_empty_corpus_names_what_was_skipped_and_how_often() {
    let skipped = BTreeMap::from([("binary".to_owned(), 12), ("secret".to_owned(), 1)]);
    let sources = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    check(
        &SourceError::Empty { sources, skipped },
        &expect![[r"
            source-empty: no readable documents in `a`, `b`, `c` and 2 more: skipped 12 binary, 1 secret
            hint: pass `--allow-secrets` if they must be read"]],
    );
    check(
        &SourceError::Empty {
            sources: vec!["a".into()],
            skipped: BTreeMap::from([("excluded".to_owned(), 1), ("filtered".to_owned(), 2)]),
        },
        &expect![[r"
            source-empty: no readable documents in `a`: skipped 1 excluded, 2 filtered
            hint: loosen the globs, or pass a skipped file itself to read it"]],
    );
    check(
        &SourceError::Empty { sources: vec!["a".into()], skipped: BTreeMap::new() },
        &expect![[r"
            source-empty: no readable documents in `a`
            hint: pass a path that contains text files"]],
    );
    check(
        &SourceError::Empty { sources: vec![], skipped: BTreeMap::new() },
        &expect![[r"
            source-empty: no readable documents in no sources
            hint: pass a path that contains text files"]],
    );
}

#[test]
fn io_errors_keep_their_cause_and_absence_is_its_own_kind() {
    check(
        &SourceError::from_io(Path::new("/x/a"), io::Error::from_raw_os_error(13)),
        &expect![[r"
            source-unreadable: could not read `/x/a`
              caused by: Permission denied (os error 13)
            hint: run as a user who may read it, or exclude it"]],
    );
    check(
        &SourceError::from_io(Path::new("/x/a"), io::Error::from_raw_os_error(5)),
        &expect![[r"
            source-unreadable: could not read `/x/a`
              caused by: Input/output error (os error 5)
            hint: check that it is readable, or exclude it"]],
    );
    check(
        &SourceError::from_io(Path::new("/no-such-directory/a"), io::Error::from_raw_os_error(2)),
        &expect![[r"
            source-not-found: `/no-such-directory/a` does not exist
            hint: look in `/`, the nearest directory that exists"]],
    );
}
