//! DOCX: a zip with the text in `word/document.xml`. Paragraphs become lines with an empty line between them, headings
//! begin with `#`, the cells of a table row are separated by tabs. Deleted text, field codes and fallbacks are skipped,
//! and so are footnotes, headers and comments, which are in other parts of the zip.

use std::io::{Cursor, Read as _};

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use zip::ZipArchive;

use super::{OUTPUT_BYTES_MAX, damaged};
use crate::ExtractError;
use crate::unpack_limits::UnpackLimits;

const PART: &str = "word/document.xml";

pub(super) fn extract(bytes: &[u8]) -> Result<String, ExtractError> {
    let xml = read_part(bytes)?;
    let mut reader = Reader::from_str(&xml);
    let mut page = Page::default();
    loop {
        let event = reader.read_event().map_err(damaged)?;
        match event {
            Event::Start(tag) => page.open(&tag),
            Event::Empty(tag) => {
                page.open(&tag);
                page.close(local(tag.name().as_ref()));
            }
            Event::End(tag) => page.close(local(tag.name().as_ref())),
            Event::Text(text) => page.push(&text),
            Event::GeneralRef(reference) => page.push_reference(&reference),
            Event::Eof => break,
            Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if page.text.len() > OUTPUT_BYTES_MAX {
            return Err(ExtractError::TooLarge);
        }
    }
    Ok(page.text)
}

fn read_part(bytes: &[u8]) -> Result<String, ExtractError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.index_for_name(PART).is_none() {
        return Err(damaged("it has no `word/document.xml`"));
    }
    let part = archive.by_name(PART).map_err(damaged)?;
    // The declared size may exceed what is there.
    let packed = part.compressed_size().min(bytes.len() as u64);
    let mut xml = Vec::new();
    let n_read = part.take(OUTPUT_BYTES_MAX as u64 + 1).read_to_end(&mut xml).map_err(damaged)? as u64;
    if n_read > OUTPUT_BYTES_MAX as u64 || UnpackLimits::default().is_bomb(n_read, packed) {
        return Err(ExtractError::TooLarge);
    }
    String::from_utf8(xml).map_err(|_| damaged("its text is not UTF-8"))
}

#[derive(Debug, Default)]
struct Page {
    text: String,
    paragraph: String,
    heading: usize,
    is_text: bool,
    /// Enclosing tables; only the outermost makes rows.
    n_tables: usize,
    row: Vec<String>,
    cell: String,
    /// Enclosing elements whose content is skipped.
    n_skipped: usize,
}

impl Page {
    fn open(&mut self, tag: &BytesStart<'_>) {
        match local(tag.name().as_ref()) {
            "Fallback" => self.n_skipped += 1,
            "t" => self.is_text = true,
            "tab" => self.push_sign('\t'),
            "br" | "cr" => self.push_sign('\n'),
            "tbl" => self.n_tables += 1,
            "pStyle" => self.heading = heading_of(tag),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "Fallback" => self.n_skipped = self.n_skipped.saturating_sub(1),
            "t" => self.is_text = false,
            "p" => self.end_paragraph(),
            "tc" if self.n_tables == 1 => self.row.push(std::mem::take(&mut self.cell)),
            "tr" if self.n_tables == 1 => {
                self.text += &std::mem::take(&mut self.row).join("\t");
                self.text.push('\n');
            }
            "tbl" => {
                self.n_tables = self.n_tables.saturating_sub(1);
                if self.n_tables == 0 {
                    self.text.push('\n');
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let heading = std::mem::take(&mut self.heading);
        let paragraph = paragraph.trim();
        if paragraph.is_empty() {
            return;
        }
        if self.n_tables > 0 {
            if !self.cell.is_empty() {
                self.cell.push(' ');
            }
            self.cell += &paragraph.replace(['\n', '\t'], " ");
            return;
        }
        if heading > 0 {
            self.text += &"#".repeat(heading);
            self.text.push(' ');
        }
        self.text += paragraph;
        self.text += "\n\n";
    }

    fn push(&mut self, text: &str) {
        if self.is_text && self.n_skipped == 0 {
            self.paragraph += text;
        }
    }

    fn push_sign(&mut self, sign: char) {
        if self.n_skipped == 0 {
            self.paragraph.push(sign);
        }
    }

    /// Only the five entities of XML and numeric ones: a document cannot define its own.
    fn push_reference(&mut self, reference: &BytesRef<'_>) {
        if let Ok(Some(c)) = reference.resolve_char_ref() {
            self.push(c.encode_utf8(&mut [0; 4]));
        } else if let Some(text) = quick_xml::escape::resolve_xml_entity(reference) {
            self.push(text);
        }
    }
}

/// `Heading2` is 2 in every language that Word saves; `Title` is 1.
fn heading_of(tag: &BytesStart<'_>) -> usize {
    let Ok(Some(style)) = tag.try_get_attribute("w:val") else { return 0 };
    let style = style.value.to_ascii_lowercase();
    let level = style.strip_prefix("heading").map(|level| level.trim().parse().unwrap_or(1));
    match level {
        Some(level) => usize::clamp(level, 1, 6),
        None => usize::from(style == "title"),
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
