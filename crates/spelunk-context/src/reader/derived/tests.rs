//! Files that are opened as their readable text.

use expect_test::expect;

use super::*;
use crate::source::archive::tests::{gzipped, tarred, zipped};
use crate::testing::{put, tree};

const ENTRIES: [(&str, &str); 4] =
    [("b.md", "# B\nlast"), ("a/x.txt", "first\n"), ("a/.env", "KEY=1\n"), ("c.html", "<h1>Page</h1>")];

/// Opens a file with this name and these bytes.
fn opened(name: &str, bytes: &[u8], allow_secrets: bool) -> Derived {
    let root = tree(&[]);
    put(root.path(), name, bytes);
    let derived = Reader::open_derived(&root.path().join(name), allow_secrets).unwrap();
    // Read while the file exists: a reader of a removed file is stale.
    let text = derived.reader.load(u64::MAX).unwrap();
    Derived { reader: Reader::of_bytes(name, text.into_bytes().into()), ..derived }
}

fn text(derived: &Derived) -> String {
    derived.reader.load(u64::MAX).unwrap()
}

#[test]
fn an_archive_is_its_documents_each_under_its_name() {
    for (name, bytes) in [
        ("x.zip", zipped(&ENTRIES)),
        ("x.tar", tarred(&ENTRIES)),
        ("x.tar.gz", gzipped(&tarred(&ENTRIES))),
        ("X.TGZ", gzipped(&tarred(&ENTRIES))),
    ] {
        let derived = opened(name, &bytes, false);
        let expected = "==> a/x.txt <==\nfirst\n\n==> b.md <==\n# B\nlast\n\n==> c.html <==\n# Page\n";
        assert_eq!(text(&derived), expected, "{name}");
        assert_eq!((derived.is_made, derived.n_documents), (true, Some(3)));
        assert_eq!(derived.left_out.as_deref(), Some("1 secret"));
    }
    let all = opened("x.zip", &zipped(&ENTRIES), true);
    assert_eq!(text(&all).lines().next(), Some("==> a/.env <=="));
    assert_eq!((all.n_documents, all.left_out), (Some(4), None));
}

#[test]
fn a_single_compressed_file_is_that_file() {
    let derived = opened("notes.md.gz", &gzipped(b"# Notes\nend"), false);
    assert_eq!((text(&derived).as_str(), derived.n_documents), ("# Notes\nend", Some(1)));
}

#[test]
fn a_page_is_its_text_and_an_empty_one_has_none() {
    let page = opened("a.html", b"<h1>Hi</h1><p>there</p>", false);
    assert_eq!((text(&page).as_str(), page.is_made, page.n_documents), ("# Hi\n\nthere\n", true, None));
    let empty = opened("a.html", b"", false);
    assert_eq!((text(&empty).as_str(), empty.is_made), ("", false));
    let plain = opened("a.md", b"<h1>Hi</h1>", false);
    assert_eq!((text(&plain).as_str(), plain.is_made), ("<h1>Hi</h1>", false));
}

#[cfg(feature = "extract")]
#[test]
fn documents_are_their_text() {
    use crate::extract::tests::{docx, pdf};
    let paper = opened("paper.pdf", &pdf::pdf(&["BT /F1 12 Tf (Hello) Tj ET"]), false);
    assert_eq!((text(&paper).as_str(), paper.is_made), ("Hello\n\n", true));
    let letter = opened("letter.docx", &docx::docx("<w:p><w:r><w:t>Hi</w:t></w:r></w:p>"), false);
    assert_eq!(text(&letter), "Hi\n\n");
}

#[test]
fn what_cannot_be_made_text_says_why() {
    let root = tree(&[("not.zip", "just text\n"), ("hollow.html", "<script>x</script>")]);
    put(root.path(), "images.zip", &zipped(&[("a.png", "x"), ("b.bin", "\0\0")]));
    let why = |name: &str| {
        use std::error::Error as _;
        let error = Reader::open_derived(&root.path().join(name), false).unwrap_err();
        format!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default())
    };
    expect!["could not open the archive `not.zip`: invalid Zip archive: Could not find EOCD"]
        .assert_eq(&why("not.zip"));
    expect!["no readable documents in `images.zip`: skipped 1 binary, 1 excluded: "]
        .assert_eq(&why("images.zip"));
    expect!["could not extract text from `hollow.html`: it contains no text"].assert_eq(&why("hollow.html"));
    assert_eq!(why("absent.zip"), format!("`{}` does not exist: ", root.path().join("absent.zip").display()));
}

#[test]
fn an_archive_that_unpacks_to_more_than_is_held_is_refused() {
    let root = tree(&[]);
    put(root.path(), "x.zip", &zipped(&[("a.txt", "12345"), ("b.txt", "67890")]));
    let path = root.path().join("x.zip");
    // Two headers, a gap between them and an end for each text.
    assert_eq!(Reader::open_derived_within(&path, false, 41).unwrap().reader.bytes(), 41);
    for bytes_max in [40, 9, 0] {
        let error = Reader::open_derived_within(&path, false, bytes_max).unwrap_err();
        let told = format!(
            "the text of `{}` has 10 bytes; at most {bytes_max} can be unpacked for one context",
            path.display()
        );
        assert_eq!(error.to_string(), told);
    }
}

#[test]
fn a_made_text_goes_stale_with_its_file() {
    let root = tree(&[("a.html", "<p>one</p>")]);
    let derived = Reader::open_derived(&root.path().join("a.html"), false).unwrap();
    put(root.path(), "a.html", b"<p>another</p>");
    assert_eq!(derived.reader.load(100).unwrap_err().to_string().rsplit(' ').next(), Some("open"));
}
