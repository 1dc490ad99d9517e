//! Turns cuts into chunks: counts lines, finds overlaps and estimates tokens. One pass over the text.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::{Chunk, Prelude, Shell, Units};
use super::partition::estimate_tokens;
use super::plain;
use crate::lines::count_newlines;

#[derive(Default)]
pub(super) struct Draft {
    pub(super) end: usize,
    pub(super) units: u64,
    pub(super) overlap: Overlap,
    pub(super) scope: Option<String>,
    pub(super) shell: Option<Shell>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Overlap {
    #[default]
    None,
    Lines(u64),
    Bytes(usize),
}

pub(super) fn assemble(
    text: &str,
    drafts: Vec<Draft>,
    prelude: Option<Range<usize>>,
    overlap_bytes_max: usize,
) -> (Vec<Chunk>, u64) {
    let bytes = text.as_bytes();
    let prelude = prelude.map(|range| prelude_at(bytes, range));
    let mut chunks = Vec::with_capacity(drafts.len());
    let (mut start, mut start_before, mut line) = (0, 0, 1);
    for (draft, index) in drafts.into_iter().zip(0..) {
        let own = bytes.get(start..draft.end).unwrap_or_default();
        let n_newlines = count_newlines(own);
        let last_line = line + n_newlines - u64::from(own.ends_with(b"\n"));
        let overlap_start = overlap_start(text, start_before..start, draft.overlap, overlap_bytes_max);
        let overlap_lines = count_newlines(bytes.get(overlap_start..start).unwrap_or_default());
        let prelude = prelude.clone().filter(|prelude| prelude.span.end <= overlap_start as u64);
        let lines = match &draft.shell {
            Some(shell) => lines_of(bytes, &shell.body, start, line),
            None => line..=last_line,
        };
        let mut chunk = Chunk {
            document_idx: 0,
            document: Arc::from(""),
            index,
            n_chunks: 0,
            segment: None,
            span: start as u64..draft.end as u64,
            lines,
            prelude,
            overlap: overlap_start as u64..start as u64,
            overlap_lines,
            tokens_estimate: 0,
            units: Units::Lines(draft.units),
            scope: draft.scope,
            shell: draft.shell,
        };
        chunk.tokens_estimate = estimate_tokens(chunk.rendered_bytes());
        chunks.push(chunk);
        line += n_newlines;
        (start_before, start) = (start, draft.end);
    }
    let n_lines = line - 1 + u64::from(bytes.last().is_some_and(|&byte| byte != b'\n'));
    (chunks, n_lines)
}

fn lines_of(bytes: &[u8], body: &Range<u64>, start: usize, line: u64) -> std::ops::RangeInclusive<u64> {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    let first = line + count_newlines(bytes.get(start..at(body.start)).unwrap_or_default());
    let inner = bytes.get(at(body.start)..at(body.end)).unwrap_or_default();
    first..=first + count_newlines(inner) - u64::from(inner.ends_with(b"\n"))
}

fn prelude_at(bytes: &[u8], range: Range<usize>) -> Prelude {
    let span = range.start as u64..range.end as u64;
    Prelude { lines: lines_of(bytes, &span, 0, 1), span }
}

/// The start of the overlap with the previous chunk; the overlap is always shorter than that chunk.
fn overlap_start(text: &str, before: Range<usize>, overlap: Overlap, bytes_max: usize) -> usize {
    let start = before.end;
    match overlap {
        Overlap::None => start,
        Overlap::Bytes(bytes) => plain::overlap_start(text, start, (before.start + 1).min(start), bytes),
        Overlap::Lines(lines) => {
            let floor = before.start.max(start.saturating_sub(bytes_max));
            lines_back(text.as_bytes(), floor..start, lines)
        }
    }
}

/// The start of the line that is `n_lines` before the end of the range, or of the earliest line that begins inside it.
fn lines_back(bytes: &[u8], range: Range<usize>, n_lines: u64) -> usize {
    let mut start = range.end;
    for _ in 0..n_lines {
        let before = bytes.get(range.start..start.saturating_sub(1)).unwrap_or_default();
        match memchr::memrchr(b'\n', before) {
            Some(newline) => start = range.start + newline + 1,
            None => break,
        }
    }
    start
}
