//! How documents that are not text become part of a corpus.

use expect_test::expect;

use super::*;
use crate::testing::{explain, names, put, scan, skipped, tree};
use crate::{Corpus, SourceInput, View};

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

#[test]
fn a_named_document_without_text_is_an_error_with_a_hint() {
    let root = tree(&[]);
    put(root.path(), "scan.pdf", &pdf::pdf(&["0 0 1 1 re f"]));
    expect![[r"
        source-unreadable: could not extract text from `scan.pdf`
          caused by: it contains no text
        hint: run text recognition (OCR) over it first, or ask a model that reads PDF about it: `spelunk model show NAME` lists `pdf`"]]
    .assert_eq(&explain(&scan(&[&root.path().join("scan.pdf")]).unwrap_err()));
}
