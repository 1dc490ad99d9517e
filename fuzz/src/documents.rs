//! Documents that are not text: whatever they contain, there is some text or a reason why not, and the same each time.

use std::io::{Cursor, Write as _};

use spelunk_context::{ExtractError, ExtractKind, ImageHeader, PageRange, extract, pdf_pages};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::check_message;
use crate::choice::{body_of, number_of};

/// More text per byte would be a bomb.
const BYTES_PER_BYTE_MAX: usize = 200;
/// Less text than this is not a bomb.
const TEXT_BYTES_MIN: usize = 1 << 20;

/// PDF: its text, and pages that can be read like the file itself.
pub(crate) fn pdf(data: &[u8]) {
    let body = body_of(data);
    check(ExtractKind::Pdf, body);
    let first = u32::try_from(number_of(data) % 4).expect("a small number");
    let range = PageRange { first, last: first + 1 };
    let (Ok(all), Ok(cut)) = (pdf_pages(body, None), pdf_pages(body, Some(range))) else { return };
    assert!(cut.n_pages <= all.n_pages.min(2), "{cut:?}");
    if !cut.bytes.is_empty() {
        let again = pdf_pages(&cut.bytes, None).expect("pages are a PDF");
        assert_eq!((again.n_of_file, again.width, again.height), (cut.n_pages, cut.width, cut.height));
    }
}

/// DOCX: the bytes as they are, and as the text of a document with valid checksums.
pub(crate) fn docx(data: &[u8]) {
    let body = body_of(data);
    check(ExtractKind::Docx, body);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("word/document.xml", stored).expect("memory can be written to");
    zip.write_all(body).expect("memory can be written to");
    let packed = zip.finish().expect("memory can be written to").into_inner();
    check(ExtractKind::Docx, &packed);
}

/// HTML.
pub(crate) fn html(data: &[u8]) {
    check(ExtractKind::Html, body_of(data));
}

/// The header of an image: a plausible size, or a reason why not.
pub(crate) fn image(data: &[u8]) {
    match ImageHeader::read(body_of(data)) {
        Ok(ImageHeader { width, height, .. }) => {
            assert!((1..=8_000).contains(&width) && (1..=8_000).contains(&height), "{width} x {height}");
        }
        Err(error) => check_message(&error.to_string()),
    }
}

fn check(kind: ExtractKind, bytes: &[u8]) {
    let text = extract(kind, bytes);
    assert_eq!(text, extract(kind, bytes), "the same bytes give the same text");
    match text {
        Ok(text) => {
            assert!(!text.trim().is_empty(), "there is text");
            assert!(text.len() <= TEXT_BYTES_MIN.max(bytes.len() * BYTES_PER_BYTE_MAX), "no bomb");
        }
        Err(ExtractError::Damaged { what }) => check_message(&what),
        Err(error) => assert_ne!(error, ExtractError::NotBuilt, "the reader is built in"),
    }
}
