//! Chunks: spans produced by partitioning for analysis, and the text an analyst reads for one. The spans of a
//! document cover it exactly; imports, a header or repeated lines shown before a span are not part of it.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::slice;
use crate::pack::Span;

/// Part of a document, for one analyst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The document's index in its corpus.
    pub document_idx: u32,
    /// The document's name.
    pub document: Arc<str>,
    /// Its index in the document, from 0.
    pub index: u32,
    /// The number of chunks of the document.
    pub n_chunks: u32,
    /// The part of a long document that the spans refer to; `None` if they refer to the whole text.
    pub segment: Option<Segment>,
    /// The bytes that belong to this chunk.
    pub span: Span,
    /// The lines of these bytes, from 1.
    pub lines: RangeInclusive<u64>,
    /// What is shown before every chunk of this document, unless it is part of the chunk.
    pub prelude: Option<Prelude>,
    /// The bytes of the previous chunk that are repeated; empty if none are.
    pub overlap: Span,
    /// Lines before `lines` that contain the overlap.
    pub overlap_lines: u64,
    /// The estimated number of tokens of the rendered text.
    pub tokens_estimate: u64,
    /// The size of the chunk in the unit of its format.
    pub units: Units,
    /// Its position in the document: a JSON path, a heading, an enclosing definition.
    pub scope: Option<String>,
    /// The brackets around JSON that was cut out of them.
    pub shell: Option<Shell>,
}

/// Part of a document that is too long to be held. Its text is read by [`View::read_part`](crate::View::read_part).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its range in the document, in bytes as stored.
    pub bytes: Range<u64>,
    /// The document's prelude, with which the text of every segment but the first begins; otherwise empty.
    pub prelude: Arc<str>,
}

/// Lines that are shown before each chunk: imports, a header row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prelude {
    /// Their span in the text.
    pub span: Span,
    /// Their lines in the document, from 1.
    pub lines: RangeInclusive<u64>,
}

/// What turns a piece of JSON into a value again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// Brackets and keys before it, on one line.
    pub open: String,
    /// The piece without the commas around it.
    pub body: Span,
    /// Brackets after it.
    pub close: String,
}

/// A quantity in the unit of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// Lines of text.
    Lines(u64),
    /// Rows of a table, without its header.
    Rows(u64),
    /// Elements of an array, or keys of an object.
    Elements(u64),
}

impl Units {
    /// The number of units.
    pub fn count(self) -> u64 {
        match self {
            Self::Lines(count) | Self::Rows(count) | Self::Elements(count) => count,
        }
    }

    /// The name of the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines(_) => "lines",
            Self::Rows(_) => "rows",
            Self::Elements(_) => "elements",
        }
    }
}

impl Chunk {
    /// Maps a line of the rendered text to a line of the document, both from 1.
    pub fn line_of(&self, rendered_line: u64) -> Option<u64> {
        let before = self.prelude.as_ref().map_or(0, |prelude| n_lines(&prelude.lines));
        let idx = rendered_line.checked_sub(1)?;
        if let Some(prelude) = self.prelude.as_ref().filter(|_| idx < before) {
            return Some(prelude.lines.start() + idx);
        }
        let first = self.lines.start().saturating_sub(self.overlap_lines);
        let line = first + (idx - before);
        (line <= *self.lines.end()).then_some(line)
    }

    pub(crate) fn rendered_bytes(&self) -> u64 {
        if let Some(Shell { open, body, close }) = &self.shell {
            return open.len() as u64 + (body.end - body.start) + close.len() as u64;
        }
        let prelude = self.prelude.as_ref().map_or(0, |prelude| prelude.span.end - prelude.span.start);
        prelude + (self.span.end - self.overlap.start)
    }
}

fn n_lines(lines: &RangeInclusive<u64>) -> u64 {
    (lines.end() + 1).saturating_sub(*lines.start())
}

/// The exact text that an analyst reads of a chunk. `text` is the whole text of its document or segment.
pub fn render(chunk: &Chunk, text: &str) -> String {
    if let Some(Shell { open, body, close }) = &chunk.shell {
        return [open, part(text, body), close].concat();
    }
    let prelude = chunk.prelude.as_ref().map_or("", |prelude| part(text, &prelude.span));
    let line_end = if prelude.is_empty() || prelude.ends_with('\n') { "" } else { "\n" };
    [prelude, line_end, part(text, &chunk.overlap), part(text, &chunk.span)].concat()
}

pub(crate) fn part<'t>(text: &'t str, span: &Span) -> &'t str {
    let to_usize = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let range: Range<usize> = to_usize(span.start)..to_usize(span.end);
    slice(text, range)
}
