//! PDF: the visible text, page by page in content order. `lopdf` parses the objects under limits; the operators are
//! interpreted here, to find where lines and words end. Text in images is not recognised.

use std::time::{Duration, Instant};

use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Dictionary, Document, Encoding, Error, LoadOptions, Object, ObjectId, Stream};

use super::{OUTPUT_BYTES_MAX, damaged};
use crate::ExtractError;

const STREAM_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How far from the start the PDF header may be; some producers write other bytes before it.
const HEAD_BYTES: usize = 1024;
/// Checked between pages and forms only.
const TIME_MAX: Duration = Duration::from_mins(1);
const FORM_DEPTH_MAX: usize = 8;
const FORMS_MAX: u32 = 10_000;

/// A gap of this many thousandths of the font size is a space. Kerning is less.
const GAP_MIN: f32 = 180.0;

pub(super) fn load(bytes: &[u8]) -> Result<Document, ExtractError> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if memchr::memmem::find(head, b"%PDF-").is_none() {
        return Err(damaged("it does not begin with a PDF header"));
    }
    let options = LoadOptions::with_max_decompressed_size(STREAM_BYTES_MAX);
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| explain(&error))?;
    if document.is_encrypted() { Err(ExtractError::Encrypted) } else { Ok(document) }
}

pub(super) fn extract(bytes: &[u8]) -> Result<String, ExtractError> {
    let document = load(bytes)?;
    let mut canvas = Canvas {
        document: &document,
        begun: Instant::now(),
        forms_left: FORMS_MAX,
        forms_around: Vec::new(),
        lines: Lines::default(),
    };
    let mut text = String::new();
    for page in document.page_iter() {
        // A page that cannot be read costs only that page.
        drop(canvas.show_page(page));
        let page = std::mem::take(&mut canvas.lines).finish();
        if !page.is_empty() {
            text += &page;
            text.push('\n');
        }
        if canvas.begun.elapsed() > TIME_MAX {
            return Err(ExtractError::TooSlow);
        }
        if text.len() > OUTPUT_BYTES_MAX {
            return Err(ExtractError::TooLarge);
        }
    }
    Ok(text)
}

struct Canvas<'a> {
    document: &'a Document,
    begun: Instant,
    /// Forms may use each other, so a few of them can be drawn very often.
    forms_left: u32,
    /// The form being drawn, and those that contain it.
    forms_around: Vec<&'a Stream>,
    lines: Lines,
}

type Encodings<'a> = Vec<(Vec<u8>, Encoding<'a>)>;

impl<'a> Canvas<'a> {
    fn show_page(&mut self, page: ObjectId) -> Result<(), Error> {
        let document = self.document;
        let encodings = encodings_of(document, document.get_page_fonts(page)?);
        let content = document.get_page_content_with_limit(page, STREAM_BYTES_MAX)?;
        let (direct, inherited) = document.get_page_resources(page)?;
        let resources = direct.or_else(|| document.get_dictionary(*inherited.first()?).ok());
        self.show(&content, &encodings, resources, FORM_DEPTH_MAX)
    }

    fn show(
        &mut self,
        content: &[u8],
        encodings: &Encodings<'_>,
        resources: Option<&'a Dictionary>,
        depth_left: usize,
    ) -> Result<(), Error> {
        let mut encoding = None;
        for operation in &Content::decode(content)?.operations {
            let name = operation.operands.first().and_then(|name| name.as_name().ok());
            match operation.operator.as_str() {
                "Tf" => {
                    let font = encodings.iter().find(|(font, _)| Some(font.as_slice()) == name);
                    encoding = font.map(|(_, encoding)| encoding);
                }
                "Do" => {
                    let form = name.and_then(|name| form_of(self.document, resources?, name));
                    // A form that cannot be read costs only that form.
                    drop(form.map(|form| self.draw(form, depth_left)));
                }
                _ => follow(operation, encoding, &mut self.lines),
            }
        }
        Ok(())
    }

    fn draw(&mut self, form: &'a Stream, depth_left: usize) -> Result<(), Error> {
        // A form that contains itself is invalid, and following it would take long.
        let is_in_itself = self.forms_around.iter().any(|around| std::ptr::eq(*around, form));
        if is_in_itself || depth_left == 0 || self.forms_left == 0 || self.begun.elapsed() > TIME_MAX {
            return Ok(());
        }
        self.forms_left -= 1;
        let document = self.document;
        let resources = dictionary_in(document, &form.dict, b"Resources");
        let fonts = resources.and_then(|resources| dictionary_in(document, resources, b"Font"));
        let fonts = fonts.into_iter().flat_map(Dictionary::iter);
        let fonts =
            fonts.filter_map(|(name, font)| Some((name.clone(), deref(document, font)?.as_dict().ok()?)));
        let encodings = encodings_of(document, fonts);
        let content = form.decompressed_content_with_limit(STREAM_BYTES_MAX)?;
        self.forms_around.push(form);
        let shown = self.show(&content, &encodings, resources, depth_left - 1);
        self.forms_around.pop();
        shown
    }
}

fn encodings_of<'a>(
    document: &'a Document,
    fonts: impl IntoIterator<Item = (Vec<u8>, &'a Dictionary)>,
) -> Encodings<'a> {
    let read = |font: &'a Dictionary| font.get_font_encoding_with_limit(document, STREAM_BYTES_MAX).ok();
    fonts.into_iter().filter_map(|(name, font)| Some((name, read(font)?))).collect()
}

fn form_of<'a>(document: &'a Document, resources: &'a Dictionary, name: &[u8]) -> Option<&'a Stream> {
    let object = dictionary_in(document, resources, b"XObject")?.get(name).ok()?;
    let stream = deref(document, object)?.as_stream().ok()?;
    let is_form = stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Form");
    is_form.then_some(stream)
}

fn dictionary_in<'a>(
    document: &'a Document,
    dictionary: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Dictionary> {
    deref(document, dictionary.get(key).ok()?)?.as_dict().ok()
}

fn deref<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Object> {
    document.dereference(object).ok().map(|(_, object)| object)
}

/// The operators of PDF 32000-1, 9.4, that show text or move to another line.
fn follow(operation: &Operation, encoding: Option<&Encoding<'_>>, lines: &mut Lines) {
    let number = |idx: usize| operation.operands.get(idx).and_then(|number| number.as_float().ok());
    match operation.operator.as_str() {
        "BT" => lines.y = 0.0,
        "ET" => lines.end_word(),
        "T*" => lines.end_line(),
        "Td" | "TD" => lines.move_to(lines.y + number(1).unwrap_or_default()),
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
        // If the font cannot be read, the text is most likely Latin.
        None => bytes.iter().map(|&byte| char::from(byte)).collect(),
    };
    lines.push(&text);
}

/// U+FB00 and the next six: one glyph on paper, but several letters in a search.
const LIGATURES: [&str; 7] = ["ff", "fi", "fl", "ffi", "ffl", "st", "st"];

#[derive(Debug, Default)]
struct Lines {
    text: String,
    line: String,
    /// The current baseline, in the unit of the page.
    y: f32,
    /// The baseline of `line` when it began.
    y_of_line: Option<f32>,
}

impl Lines {
    fn push(&mut self, text: &str) {
        // Many producers position every word; only a new baseline begins a new line.
        if self.y_of_line.is_some_and(|y| (y - self.y).abs() > 1.0) {
            self.end_line();
        }
        self.y_of_line = Some(self.y);
        for c in text.chars() {
            match c {
                '\u{fb00}'..='\u{fb06}' => self.line += LIGATURES[c as usize - 0xfb00],
                c if c.is_control() => self.line.push(' '),
                c => self.line.push(c),
            }
        }
    }

    fn end_word(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
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
        error => damaged(error),
    }
}
