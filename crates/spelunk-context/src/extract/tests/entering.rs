//! How text extracted on request becomes part of a corpus.

use super::*;
use crate::testing::tree;
use crate::{Corpus, SourceInput, View};

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
