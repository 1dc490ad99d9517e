//! Readers over text that must be produced first: extracted from a PDF, DOCX or HTML file, or unpacked from an archive.
//! The text is produced from the file at each open and held in memory, so it is never older than the file. The limits
//! on unpacking and extraction are those of a scan, which does the work.

use std::path::Path;
use std::sync::Arc;

use super::raw::Raw;
use super::{ReadError, Reader};
use crate::extract::{ExtractKind, INPUT_BYTES_MAX};
use crate::source::Format;
use crate::{Corpus, ScanOptions, SourceInput, View, name};

#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) reader: Reader,
    /// Whether the text was produced, so that it differs from the bytes of the file.
    pub(crate) is_made: bool,
    pub(crate) n_documents: Option<u64>,
    /// What was left out of an archive, by reason: `1 binary, 2 secret`.
    pub(crate) left_out: Option<String>,
}

impl Reader {
    /// The maximum text produced from one file; it is held in memory.
    pub const MADE_BYTES_MAX: u64 = 64 * 1024 * 1024;

    /// Opens a file according to its name. An archive is one text: its documents in name order, each after a line
    /// `==> name <==`, because a user who adds an archive adds one thing, and ten thousand entries would bury the other
    /// contexts. A single compressed file is that file. `allow_secrets` includes files whose names say secret.
    pub(crate) fn open_derived(path: &Path, allow_secrets: bool) -> Result<Derived, ReadError> {
        Self::open_derived_within(path, allow_secrets, Self::MADE_BYTES_MAX)
    }

    fn open_derived_within(path: &Path, allow_secrets: bool, bytes_max: u64) -> Result<Derived, ReadError> {
        // By the name as given: a link called `a.pdf` is a PDF.
        let file_name = name::tail(path, 1);
        let options =
            ScanOptions { extract_html: true, allow_secrets, files_max: 0, ..ScanOptions::default() };
        let format = Format::of(&file_name);
        let kind = ExtractKind::of(&file_name, &options);
        if format.is_none() && kind.is_none() {
            return Self::open(path).map(Derived::as_it_is);
        }
        let raw = Raw::open(path)?;
        // Empty is empty in every format except an archive. A web page too long to convert is still text.
        let bytes = raw.bytes();
        let is_long_page = kind == Some(ExtractKind::Html) && bytes > INPUT_BYTES_MAX;
        if format.is_none() && (bytes == 0 || is_long_page) {
            return Self::open(path).map(Derived::as_it_is);
        }
        let printable = name::printable_text(&path.to_string_lossy());
        let corpus = Corpus::scan(&[SourceInput::Path(path.to_owned())], &options, &mut |_| {})?;
        let n_documents = format.map(|_| corpus.documents().len() as u64);
        let left_out = corpus.reports().first().and_then(|report| {
            let reasons = report.skipped.iter().map(|(reason, count)| format!("{count} {reason}"));
            Some(reasons.collect::<Vec<_>>().join(", ")).filter(|reasons| !reasons.is_empty())
        });
        let view = View::of(Arc::new(corpus));
        let too_large = ReadError::MadeTooLarge { name: printable.clone(), bytes: view.bytes(), bytes_max };
        let text = text_of(&view, format, &file_name, bytes_max)?.ok_or(too_large)?;
        let reader = Self::over(printable, raw.decoded(text), 0);
        Ok(Derived { reader, is_made: true, n_documents, left_out })
    }
}

impl Derived {
    fn as_it_is(reader: Reader) -> Self {
        Self { reader, is_made: false, n_documents: None, left_out: None }
    }
}

/// All text of a scanned file; `None` if it exceeds the limit. Its secrets are redacted by the reader.
fn text_of(
    view: &View,
    format: Option<Format>,
    file_name: &str,
    bytes_max: u64,
) -> Result<Option<String>, ReadError> {
    let has_headers = match format {
        Some(Format::Zip | Format::Tar | Format::TarGz) => true,
        Some(Format::Gz) | None => false,
    };
    let mut text = String::new();
    for document in view.documents() {
        if (text.len() as u64).saturating_add(document.bytes) > bytes_max {
            return Ok(None);
        }
        if has_headers {
            let entry = document.name.strip_prefix(file_name).and_then(|rest| rest.strip_prefix('/'));
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}==> {} <==\n", entry.unwrap_or(&document.name));
        }
        let reader = Reader::of_document(view, document)?.with_redaction(false);
        text += &reader.load(u64::MAX)?;
        if has_headers && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    // UTF-16 may be longer once it is decoded, and headers add to the length.
    Ok(Some(text).filter(|text| text.len() as u64 <= bytes_max))
}

#[cfg(test)]
mod tests;
