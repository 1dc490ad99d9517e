//! Extracts text from PDF, DOCX and HTML, cuts pages out of PDF, and describes SQLite databases. The input is
//! hostile: sizes are limited, and PDF and DOCX are read in a worker, so that a failure costs only that document.

mod apart;
#[cfg(feature = "extract")]
mod docx;
mod html;
#[cfg(feature = "extract")]
mod pdf;
#[cfg(feature = "extract")]
mod pdf_pages;
#[cfg(feature = "extract")]
mod quiet;
pub(crate) mod sqlite;

use spelunk_types::ScanOptions;

pub use self::apart::{EXTRACT_TASK, serve_extract};
pub(crate) use self::apart::{extract_apart, pages_apart};
use crate::{SkipReason, name};

pub(crate) const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Characters kept of a library's message about a document.
#[cfg(feature = "extract")]
const WHAT_CHARS_MAX: usize = 200;

/// A kind of document whose text has to be extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtractKind {
    /// Portable Document Format.
    Pdf,
    /// Word, since 2007.
    Docx,
    /// A web page, as Markdown.
    Html,
}

impl ExtractKind {
    /// The kind by the extension of the name. HTML is already text, so it is extracted only on request.
    pub(crate) fn of(path: &str, options: &ScanOptions) -> Option<Self> {
        let (_, extension) = name::file_name(path).rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "pdf" => Some(Self::Pdf),
            "docx" => Some(Self::Docx),
            "html" | "htm" | "xhtml" if options.extract_html => Some(Self::Html),
            _ => None,
        }
    }
}

/// Why no text could be extracted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ExtractError {
    #[error("it is damaged: {what}")]
    Damaged { what: String },
    #[error("it is encrypted")]
    Encrypted,
    #[error("it contains no text")]
    NoText,
    #[error("it is too large")]
    TooLarge,
    #[error("it takes too long")]
    TooSlow,
    #[error("reading it takes more than {} MB of memory", bytes_max >> 20)]
    TooCostly { bytes_max: u64 },
    #[error("its reader crashed: {how}")]
    Crashed { how: String },
    #[error("this program cannot read the format in its own process, and could not start another: {why}")]
    NoWorker { why: String },
    #[error("it is in use, or a write to it was interrupted: {what}")]
    InUse { what: String },
    #[error("this build cannot read the format")]
    NotBuilt,
}

impl ExtractError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "check that it opens in another program, or convert it to text first",
            Self::Encrypted => "save a copy without a password first",
            Self::NoText => {
                "run text recognition (OCR) over it first, or ask a model that reads PDF about it: `spelunk model show NAME` lists `pdf`"
            }
            Self::TooLarge | Self::TooSlow | Self::TooCostly { .. } | Self::Crashed { .. } => {
                "convert it to text first and pass that file"
            }
            Self::NoWorker { .. } => {
                "call `spelunk::serve_worker()` at the start of `main`, or convert it to text first"
            }
            Self::InUse { .. } => {
                "close the program that writes it, or open it once with `sqlite3`, which finishes the write"
            }
            Self::NotBuilt => "build with the feature `extract`, or convert it to text first",
        }
    }

    pub(crate) fn reason(&self) -> SkipReason {
        match self {
            Self::Damaged { .. } | Self::Crashed { .. } => SkipReason::Damaged,
            Self::Encrypted => SkipReason::Encrypted,
            Self::NoText => SkipReason::NoText,
            Self::TooLarge => SkipReason::TooLarge,
            Self::TooSlow | Self::TooCostly { .. } => SkipReason::TooCostly,
            Self::NoWorker { .. } => SkipReason::NoWorker,
            Self::InUse { .. } => SkipReason::Unreadable,
            Self::NotBuilt => SkipReason::Binary,
        }
    }
}

/// Extracts the text of a document in this process, as a worker does. Pure: the same bytes give the same text.
pub fn extract(kind: ExtractKind, bytes: &[u8]) -> Result<String, ExtractError> {
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    let text = match kind {
        ExtractKind::Html => html::extract(bytes),
        #[cfg(feature = "extract")]
        ExtractKind::Pdf => quiet::catch(|| pdf::extract(bytes))?,
        #[cfg(feature = "extract")]
        ExtractKind::Docx => quiet::catch(|| docx::extract(bytes))?,
        #[cfg(not(feature = "extract"))]
        ExtractKind::Pdf | ExtractKind::Docx => return Err(ExtractError::NotBuilt),
    };
    if text.len() > OUTPUT_BYTES_MAX {
        Err(ExtractError::TooLarge)
    } else if text.trim().is_empty() {
        Err(ExtractError::NoText)
    } else {
        Ok(text)
    }
}

/// Pages of a PDF, the first being 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRange {
    /// The first.
    pub first: u32,
    /// The last, included.
    pub last: u32,
}

/// Pages of a PDF as a PDF.
#[derive(Debug, PartialEq, Eq)]
pub struct PdfPages {
    /// How many pages the whole file has.
    pub n_of_file: u32,
    /// How many pages these are.
    pub n_pages: u32,
    /// The widest, in pixels at 150 per inch.
    pub width: u32,
    /// The highest, in pixels at 150 per inch.
    pub height: u32,
    /// The PDF; empty if there is no such page.
    pub bytes: Vec<u8>,
}

/// Cuts pages out of a PDF in this process, as a worker does; all pages without a range.
pub fn pdf_pages(bytes: &[u8], range: Option<PageRange>) -> Result<PdfPages, ExtractError> {
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    #[cfg(feature = "extract")]
    return quiet::catch(|| pdf_pages::cut(bytes, range));
    #[cfg(not(feature = "extract"))]
    return Err(ExtractError::NotBuilt);
}

/// Libraries quote the input in their messages, so those may contain anything.
#[cfg(feature = "extract")]
fn damaged(what: impl std::fmt::Display) -> ExtractError {
    ExtractError::Damaged { what: name::shortened(&name::printable_text(&what.to_string()), WHAT_CHARS_MAX) }
}

#[cfg(test)]
pub(crate) mod tests;
