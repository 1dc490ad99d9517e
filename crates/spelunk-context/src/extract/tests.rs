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
fn what_a_worker_says_is_read_as_it_was_meant() {
    let damaged = |what: &str| Err(ExtractError::Damaged { what: what.to_owned() });
    let crashed = |how: &str| Err(ExtractError::Crashed { how: how.to_owned() });
    for outcome in [
        Ok("text\n".to_owned()),
        Ok(String::new()),
        damaged("a comma"),
        Err(ExtractError::Encrypted),
        Err(ExtractError::NoText),
        Err(ExtractError::TooLarge),
        Err(ExtractError::TooSlow),
        Err(ExtractError::NotBuilt),
    ] {
        assert_eq!(apart::decode(apart::encode(outcome.clone())), outcome);
    }
    assert_eq!(apart::decode(vec![0xff, b't']), crashed("its output is not text"));
    assert_eq!(apart::decode(vec![]), crashed("its output is empty"));
    assert_eq!(apart::decode([vec![b'x'; 1000], vec![b'd']].concat()), damaged(&"x".repeat(200)));
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
        (ExtractError::TooSlow, SkipReason::TooCostly),
        (ExtractError::TooCostly { bytes_max: 1 << 20 }, SkipReason::TooCostly),
        (ExtractError::Crashed { how: "killed by signal 11".to_owned() }, SkipReason::Damaged),
        (ExtractError::NoWorker { why: "there is none".to_owned() }, SkipReason::NoWorker),
        (ExtractError::NotBuilt, SkipReason::Binary),
    ] {
        assert_eq!((error.reason(), error.hint().is_empty()), (reason, false));
    }
}
