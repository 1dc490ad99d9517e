//! Cuts documents into passages for the index: by the same rules as the tasks of a plan, only smaller, so that a hit
//! locates the answer. A large document is read in windows and never held in memory whole.

use std::ops::Range;

use spelunk_context::{Detected, DocEntry, DocText, Mode, Partitioner, Reader, SourceError, View};
use spelunk_types::Limits;

/// Changes whenever passages are cut differently.
pub(crate) const CUT_VERSION: &str = "cut-2";

/// Documents up to this size are read whole and verified against their digest.
pub(crate) const WHOLE_BYTES_MAX: u64 = 16 << 20;
const WINDOW_BYTES: u64 = 256 << 10;

/// How far past a window to search for the end of its last line.
const LINE_REACH_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Byte range in the text of its window.
    pub(crate) span: Range<usize>,
    /// From 1.
    pub(crate) line_start: u64,
    pub(crate) line_end: u64,
    pub(crate) scope: Option<String>,
}

/// For passages of about a kilobyte.
pub(crate) fn passage_limits() -> Limits {
    Limits {
        chunk_code_lines: 30,
        chunk_narrow_rows: 20,
        chunk_wide_dense_rows: 8,
        chunk_wide_sparse_rows: 12,
        chunk_json_elements: 12,
        chunk_jsonl_lines: 8,
        chunk_jsonl_narrow_lines: 12,
        chunk_jsonl_wide_lines: 4,
        chunk_log_lines: 16,
        chunk_prose_lines: 24,
        chunk_other_lines: 24,
        overlap_log_lines: 0,
        overlap_prose_lines: 0,
        overlap_other_lines: 0,
        chunk_tokens_max: 360,
        ..Limits::default()
    }
}

/// The passages of one text, in order. Passages of only whitespace are omitted.
pub(crate) fn cut(
    text: &str,
    name: &str,
    detected: &Detected,
    limits: &Limits,
    lines_before: u64,
) -> Vec<Cut> {
    let partitioner = Partitioner::new(limits, Mode::ByType);
    let cutting = partitioner.cut(DocText { idx: 0, name, text, detected });
    let to_usize = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let cuts = cutting.chunks.into_iter().map(|chunk| Cut {
        span: to_usize(chunk.span.start)..to_usize(chunk.span.end),
        line_start: lines_before + *chunk.lines.start(),
        line_end: lines_before + *chunk.lines.end(),
        scope: chunk.scope,
    });
    cuts.filter(|cut| text.get(cut.span.clone()).is_some_and(|part| !part.trim().is_empty())).collect()
}

/// Calls `on_window` with the index, the text and the lines before each window, while it returns true.
pub(crate) fn windows(
    view: &View,
    document: &DocEntry,
    on_window: &mut dyn FnMut(u64, &str, u64) -> bool,
) -> Result<(), SourceError> {
    if document.bytes <= WHOLE_BYTES_MAX {
        on_window(0, &view.read_owned(document)?, 0);
        return Ok(());
    }
    let large = LargeDocument::open(view, document)?;
    let mut lines_before = 0;
    for window in 0..large.n_windows() {
        let text = large.window(window)?;
        if !text.is_empty() && !on_window(window, &text, lines_before) {
            return Ok(());
        }
        lines_before += text.bytes().filter(|&byte| byte == b'\n').count() as u64;
    }
    Ok(())
}

pub(crate) fn window_start(window: u64) -> usize {
    usize::try_from(window.saturating_mul(WINDOW_BYTES)).unwrap_or(usize::MAX)
}

pub(crate) struct LargeDocument {
    reader: Reader,
    name: String,
}

impl LargeDocument {
    pub(crate) fn open(view: &View, document: &DocEntry) -> Result<Self, SourceError> {
        let name = document.name.clone();
        let reader = Reader::of_document(view, document).map_err(|error| error.of_document(&name))?;
        Ok(Self { reader, name })
    }

    fn n_windows(&self) -> u64 {
        self.reader.bytes().div_ceil(WINDOW_BYTES)
    }

    /// From the first line that begins in the window to the end of the last such line.
    pub(crate) fn window(&self, window: u64) -> Result<String, SourceError> {
        let start = window.saturating_mul(WINDOW_BYTES);
        let end = start.saturating_add(WINDOW_BYTES);
        let mut text = self.slice(start..end)?;
        if window > 0 {
            let head = head_bytes(&text);
            text.drain(..head);
        }
        let behind = self.slice(end..end.saturating_add(LINE_REACH_BYTES))?;
        text.push_str(behind.get(..head_bytes(&behind)).unwrap_or_default());
        Ok(text)
    }

    fn slice(&self, range: Range<u64>) -> Result<String, SourceError> {
        self.reader.slice(range).map_err(|error| error.of_document(&self.name))
    }
}

/// The length of the rest of a line that began earlier; 0 if its end is out of reach.
fn head_bytes(text: &str) -> usize {
    let reach = usize::try_from(LINE_REACH_BYTES).unwrap_or(usize::MAX);
    text.bytes().take(reach).position(|byte| byte == b'\n').map_or(0, |idx| idx + 1)
}

#[cfg(test)]
mod tests;
