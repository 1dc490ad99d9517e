//! PDF: the text that is shown, page by page in the order of the content. `lopdf` reads the objects under limits; the
//! operators are followed here, to know where lines and words end. Text that is drawn as a picture is not seen.

use std::time::{Duration, Instant};

use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Document, Encoding, Error, LoadOptions, Object, ObjectId};

use super::OUTPUT_BYTES_MAX;
use crate::ExtractError;

/// What one stream in the file may unpack to.
const STREAM_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Where the mark of a PDF must stand; some producers put other bytes before it.
const HEAD_BYTES: usize = 1024;

/// Looked at between pages.
const TIME_MAX: Duration = Duration::from_mins(1);

/// A gap of this many thousandths of the font size is a space. Kerning is less.
const GAP_MIN: f32 = 180.0;

pub(super) fn extract(bytes: &[u8]) -> Result<String, ExtractError> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if memchr::memmem::find(head, b"%PDF-").is_none() {
        return Err(damaged("it does not begin like a PDF"));
    }
    let options = LoadOptions::with_max_decompressed_size(STREAM_BYTES_MAX);
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| explain(&error))?;
    if document.is_encrypted() {
        return Err(ExtractError::Encrypted);
    }
    let begun = Instant::now();
    let mut text = String::new();
    for page in document.page_iter() {
        if begun.elapsed() > TIME_MAX {
            return Err(ExtractError::TooSlow);
        }
        let mut lines = Lines::default();
        // A page that cannot be read costs that page only.
        drop(show_page(&document, page, &mut lines));
        let page = lines.finish();
        if !page.is_empty() {
            text += &page;
            text.push('\n');
        }
        if text.len() > OUTPUT_BYTES_MAX {
            return Err(ExtractError::TooLarge);
        }
    }
    Ok(text)
}

fn show_page(document: &Document, page: ObjectId, lines: &mut Lines) -> Result<(), Error> {
    let fonts = document.get_page_fonts(page)?;
    let encodings: Vec<(Vec<u8>, Encoding<'_>)> = fonts
        .into_iter()
        .filter_map(|(name, font)| {
            Some((name, font.get_font_encoding_with_limit(document, STREAM_BYTES_MAX).ok()?))
        })
        .collect();
    let content = document.get_page_content_with_limit(page, STREAM_BYTES_MAX)?;
    let content = Content::decode(&content)?;
    let mut encoding = None;
    for operation in &content.operations {
        match operation.operator.as_str() {
            "Tf" => {
                let font = operation.operands.first().and_then(|font| font.as_name().ok());
                encoding = encodings.iter().find(|(name, _)| Some(name.as_slice()) == font).map(|(_, it)| it);
            }
            _ => follow(operation, encoding, lines),
        }
    }
    Ok(())
}

/// The operators of PDF 32000-1, 9.4, as far as they show text or move to another line.
fn follow(operation: &Operation, encoding: Option<&Encoding<'_>>, lines: &mut Lines) {
    let number = |idx: usize| operation.operands.get(idx).and_then(|number| number.as_float().ok());
    match operation.operator.as_str() {
        "BT" => lines.y = 0.0,
        "ET" => lines.end_word(),
        "T*" => lines.end_line(),
        "Td" | "TD" => lines.move_by(number(1).unwrap_or_default()),
        "Tm" => lines.move_to(number(5).unwrap_or_default()),
        "Tj" => show(operation.operands.first(), encoding, lines),
        "'" => {
            lines.end_line();
            show(operation.operands.first(), encoding, lines);
        }
        "\"" => {
            lines.end_line();
            show(operation.operands.get(2), encoding, lines);
        }
        "TJ" => {
            let parts = operation.operands.first().and_then(|parts| parts.as_array().ok());
            for part in parts.into_iter().flatten() {
                match part.as_float() {
                    Ok(gap) if -gap >= GAP_MIN => lines.end_word(),
                    Ok(_) => {}
                    Err(_) => show(Some(part), encoding, lines),
                }
            }
        }
        _ => {}
    }
}

fn show(part: Option<&Object>, encoding: Option<&Encoding<'_>>, lines: &mut Lines) {
    let Some(Ok(bytes)) = part.map(Object::as_str) else { return };
    let text = match encoding {
        Some(encoding) => Document::decode_text(encoding, bytes).unwrap_or_default(),
        // A font that cannot be read is most likely Latin.
        None => bytes.iter().map(|&byte| char::from(byte)).collect(),
    };
    lines.push(&text);
}

/// Text as it is placed on a page.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    line: String,
    /// Where the baseline is, in whatever unit the page uses.
    y: f32,
    /// Where the baseline of `line` was when it began.
    y_of_line: Option<f32>,
}

impl Lines {
    fn push(&mut self, text: &str) {
        // Many producers place every word anew; only another baseline is another line.
        if self.y_of_line.is_some_and(|y| (y - self.y).abs() > 1.0) {
            self.end_line();
        }
        self.y_of_line = Some(self.y);
        self.line.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }

    fn end_word(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
    }

    fn move_by(&mut self, dy: f32) {
        self.y += dy;
        self.end_word();
    }

    fn move_to(&mut self, y: f32) {
        self.y = y;
        self.end_word();
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        self.y_of_line = None;
        if !line.is_empty() {
            self.text += line;
            self.text.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.text
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum of another crate, which may grow")]
fn explain(error: &Error) -> ExtractError {
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => ExtractError::TooLarge,
        Error::Decryption(_) | Error::InvalidPassword => ExtractError::Encrypted,
        error => damaged(&error.to_string()),
    }
}

fn damaged(what: &str) -> ExtractError {
    ExtractError::Damaged { what: what.to_owned() }
}
