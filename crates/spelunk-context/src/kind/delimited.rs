//! Rows and cells of delimited text: CSV, TSV and similar formats. A row is a record, not a line: a quoted field may
//! contain newlines. A quote counts only at the beginning of a field, so an inch sign inside one is harmless.

use std::ops::Range;

/// A longer quoted field was never closed; its quote is treated as an ordinary character.
const QUOTED_BYTES_MAX: usize = 256 * 1024;

/// Rows sampled to find the delimiter and whether a table is sparse.
const SAMPLE_ROWS: usize = 100;
const SAMPLE_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) delimiter: u8,
    pub(crate) header: Range<usize>,
    pub(crate) n_columns: u64,
    /// Whether at least half of the cells in the sample are empty.
    pub(crate) is_sparse: bool,
}

impl Shape {
    pub(crate) fn of(text: &str) -> Self {
        let delimiter = delimiter_of(text).unwrap_or(b',');
        let bytes = text.as_bytes();
        let header = 0..Rows::from(text, delimiter, 0).next().unwrap_or(0);
        let n_columns = cells(bytes.get(header.clone()).unwrap_or_default(), delimiter).count() as u64;
        let (mut n_cells, mut n_empty, mut start) = (0, 0, header.end);
        for end in Rows::from(text, delimiter, start).take(SAMPLE_ROWS) {
            let row = bytes.get(start..end).unwrap_or_default();
            start = end;
            for cell in cells(row, delimiter) {
                n_cells += 1;
                n_empty += usize::from(matches!(cell, b"" | b"\"\""));
            }
        }
        Self { delimiter, header, n_columns, is_sparse: n_cells > 0 && n_empty * 2 >= n_cells }
    }
}

/// The delimiter between cells: the one that gives the first rows the same width, and the widest of those.
pub(crate) fn delimiter_of(text: &str) -> Option<u8> {
    const SAMPLE: usize = 5;
    let head = text.get(..text.floor_char_boundary(SAMPLE_BYTES)).unwrap_or_default();
    let is_cut = head.len() < text.len();
    let score = |delimiter: u8| {
        let widths: Vec<usize> = widths(head, delimiter, is_cut).take(SAMPLE).collect();
        let width = widths.first().copied().unwrap_or(0);
        (widths.iter().all(|&other| other == width), width)
    };
    let scored = [b'|', b';', b'\t', b','].into_iter().map(|delimiter| (score(delimiter), delimiter));
    let best = scored.filter(|((_, width), _)| *width >= 2).max_by_key(|(score, _)| *score)?;
    Some(best.1)
}

/// The number of cells in each row, without blank rows. The last row of a truncated text is left out too.
pub(crate) fn widths(text: &str, delimiter: u8, is_cut: bool) -> impl Iterator<Item = usize> {
    let mut start = 0;
    Rows::from(text, delimiter, 0).filter_map(move |end| {
        let row = text.as_bytes().get(start..end).unwrap_or_default();
        start = end;
        let is_whole = !is_cut || end < text.len() || row.ends_with(b"\n");
        (is_whole && !is_line_end(row)).then(|| cells(row, delimiter).count())
    })
}

pub(crate) fn is_line_end(row: &[u8]) -> bool {
    matches!(row, b"\n" | b"\r\n")
}

pub(crate) fn cells(row: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let cell = rest?;
        let quoted = if cell.first() == Some(&b'"') { quoted_end(cell, 0).unwrap_or(0) } else { 0 };
        let end = memchr::memchr(delimiter, cell.get(quoted..).unwrap_or_default());
        let end = end.map_or(cell.len(), |offset| quoted + offset);
        rest = cell.get(end + 1..);
        cell.get(..end)
    })
}

pub(crate) struct Rows<'t> {
    bytes: &'t [u8],
    at: usize,
    delimiter: u8,
}

impl<'t> Rows<'t> {
    pub(crate) fn from(text: &'t str, delimiter: u8, at: usize) -> Self {
        Self { bytes: text.as_bytes(), at, delimiter }
    }

    /// Whether a quote at `at` opens a field of the row that begins at `start`.
    fn opens(&self, at: usize, start: usize) -> bool {
        at == start || self.bytes.get(at - 1) == Some(&self.delimiter)
    }
}

impl Iterator for Rows<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let start = self.at;
        if start >= self.bytes.len() {
            return None;
        }
        let mut at = start;
        // Each iteration moves past a quote or a newline.
        while let Some(offset) = memchr::memchr2(b'"', b'\n', self.bytes.get(at..).unwrap_or_default()) {
            let found = at + offset;
            at = found + 1;
            if self.bytes.get(found) == Some(&b'\n') {
                self.at = at;
                return Some(at);
            }
            if self.opens(found, start)
                && let Some(end) = quoted_end(self.bytes, found)
            {
                at = end;
            }
        }
        self.at = self.bytes.len();
        Some(self.at)
    }
}

/// The offset after the quote that closes the one at `start`; `None` if it is not closed within reach.
fn quoted_end(bytes: &[u8], start: usize) -> Option<usize> {
    let reach = start.saturating_add(QUOTED_BYTES_MAX).min(bytes.len());
    let mut at = start + 1;
    while let Some(offset) = memchr::memchr(b'"', bytes.get(at..reach)?) {
        at += offset + 1;
        if bytes.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
    None
}
