//! How extracted documents enter a corpus.

use expect_test::expect;

use super::*;
use crate::testing::{explain, names, put, scan, skipped, tree};
use crate::{Corpus, SourceInput, View};

#[cfg(feature = "extract")]
#[test]
fn a_pdf_that_is_named_is_read_as_its_text() {
    let root = tree(&[]);
    put(root.path(), "paper.pdf", &pdf::pdf(&["BT /F1 12 Tf (Hello) Tj ET"]));
    let view = View::of(scan(&[&root.path().join("paper.pdf")]).unwrap().into());
    let document = view.find("paper.pdf").unwrap();
    assert_eq!((document.extracted, document.bytes), (true, 7));
    assert_eq!(view.read_owned(document).unwrap(), "Hello\n\n");
    let again = scan(&[&root.path().join("paper.pdf")]).unwrap();
    assert_eq!(*again.digest(), view.digest());
}

#[cfg(feature = "extract")]
#[test]
fn in_a_directory_they_are_left_out_unless_a_glob_asks_for_them() {
    let root = tree(&[("a.md", "x")]);
    put(root.path(), "b.pdf", &pdf::pdf(&["BT /F1 12 Tf (Hello) Tj ET"]));
    put(root.path(), "c.pdf", &pdf::pdf(&["0 0 1 1 re f"]));
    put(root.path(), "d.pdf", b"%PDF-1.4 and nothing else");
    put(root.path(), "e.docx", &docx::docx("<w:p><w:r><w:t>Hi</w:t></w:r></w:p>"));
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!(
        (names(&corpus).as_str(), skipped(&corpus).as_str()),
        ("a.md\n", "4 excluded: b.pdf c.pdf d.pdf e.docx\n")
    );
    let include = ["*.pdf", "*.docx"].map(str::to_owned).to_vec();
    let options = ScanOptions { include, ..ScanOptions::default() };
    let corpus = Corpus::scan(&[SourceInput::Path(root.path().to_owned())], &options, &mut |_| {}).unwrap();
    assert_eq!(names(&corpus), "b.pdf\ne.docx\n");
    assert_eq!(skipped(&corpus), "1 damaged: d.pdf\n1 filtered: a.md\n1 no-text: c.pdf\n");
}

#[cfg(feature = "extract")]
#[test]
fn a_named_document_without_text_is_an_error_with_a_hint() {
    let root = tree(&[]);
    put(root.path(), "scan.pdf", &pdf::pdf(&["0 0 1 1 re f"]));
    expect![[r"
        source-unreadable: could not extract text from `scan.pdf`
          caused by: it holds no text
        hint: run text recognition (OCR) over it first"]]
    .assert_eq(&explain(&scan(&[&root.path().join("scan.pdf")]).unwrap_err()));
}

#[test]
fn html_is_read_as_it_is_unless_asked_for_as_text() {
    let root = tree(&[("a.html", "<h1>Hi</h1>")]);
    let read = |options: &ScanOptions| {
        let corpus =
            Corpus::scan(&[SourceInput::Path(root.path().to_owned())], options, &mut |_| {}).unwrap();
        let view = View::of(corpus.into());
        let document = view.find("a.html").unwrap();
        (document.extracted, view.read_owned(document).unwrap())
    };
    assert_eq!(read(&ScanOptions::default()), (false, "<h1>Hi</h1>".to_owned()));
    let options = ScanOptions { extract_html: true, ..ScanOptions::default() };
    assert_eq!(read(&options), (true, "# Hi\n".to_owned()));
}

#[test]
fn a_secret_in_extracted_text_is_kept_back_and_counted() {
    let root = tree(&[("a.html", "<p>one</p><p>password=x9!kQ2#vL</p>"), ("b.txt", "password=x9!kQ2#vL")]);
    let read = |globs: &[&str]| {
        let allow_secret_globs = globs.iter().map(|&glob| glob.to_owned()).collect();
        let options = ScanOptions { extract_html: true, allow_secret_globs, ..ScanOptions::default() };
        let corpus =
            Corpus::scan(&[SourceInput::Path(root.path().to_owned())], &options, &mut |_| {}).unwrap();
        let examples =
            corpus.reports()[0].redactions_examples.values().flatten().cloned().collect::<Vec<_>>();
        let view = View::of(corpus.into());
        let texts: Vec<_> = view.documents().map(|document| view.read_owned(document).unwrap()).collect();
        (texts.join("|"), examples.join(" "))
    };
    let marked = "password=[secret:assigned-secret]";
    assert_eq!(read(&[]), (format!("one\n\n{marked}\n|{marked}"), "a.html:3 b.txt:1".to_owned()));
    assert_eq!(read(&["b.txt"]), (format!("one\n\n{marked}\n|password=x9!kQ2#vL"), "a.html:3".to_owned()));
}
