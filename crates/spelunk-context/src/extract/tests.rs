use super::*;

#[cfg(feature = "extract")]
pub(crate) mod docx;
mod entering;
#[cfg(feature = "extract")]
mod entering_documents;
mod html;
#[cfg(feature = "extract")]
pub(crate) mod pdf;

#[track_caller]
fn check(kind: ExtractKind, bytes: &[u8], expected: &str) {
    assert_eq!(extract(kind, bytes).as_deref(), Ok(expected));
}

#[test]
fn the_kind_follows_the_extension_and_html_only_on_request() {
    let plain = ScanOptions::default();
    let with_html = ScanOptions { extract_html: true, ..ScanOptions::default() };
    for (path, without, with) in [
        ("a.pdf", Some(ExtractKind::Pdf), Some(ExtractKind::Pdf)),
        ("b/A.PDF", Some(ExtractKind::Pdf), Some(ExtractKind::Pdf)),
        ("a.docx", Some(ExtractKind::Docx), Some(ExtractKind::Docx)),
        ("a.html", None, Some(ExtractKind::Html)),
        ("a.HTM", None, Some(ExtractKind::Html)),
        ("a.doc", None, None),
        ("pdf", None, None),
        ("a.pdf/notes", None, None),
    ] {
        assert_eq!(
            (ExtractKind::of(path, &plain), ExtractKind::of(path, &with_html)),
            (without, with),
            "{path}"
        );
    }
}

#[test]
fn a_document_over_the_limit_is_not_looked_at() {
    let huge = vec![b' '; usize::try_from(INPUT_BYTES_MAX).unwrap() + 1];
    assert_eq!(extract(ExtractKind::Html, &huge), Err(ExtractError::TooLarge));
}

#[test]
fn every_error_has_a_reason_and_a_hint() {
    let damaged = ExtractError::Damaged { what: "a comma".to_owned() };
    assert_eq!(damaged.to_string(), "it is damaged: a comma");
    for (error, reason) in [
        (damaged, SkipReason::Damaged),
        (ExtractError::Encrypted, SkipReason::Encrypted),
        (ExtractError::NoText, SkipReason::NoText),
        (ExtractError::TooLarge, SkipReason::TooLarge),
        (ExtractError::TooSlow, SkipReason::TooLarge),
        (ExtractError::NotBuilt, SkipReason::Binary),
    ] {
        assert_eq!((error.reason(), error.hint().is_empty()), (reason, false));
    }
}
