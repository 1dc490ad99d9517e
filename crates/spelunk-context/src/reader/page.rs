//! Pages: a document in screenfuls of lines, from 0. All pages concatenated are the text.

use super::{ReadError, Reader};

/// One screenful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The text with its original line ends.
    pub text: String,
    /// Whether `text` ends before the page does, because its lines are too long. `slice` returns the rest.
    pub truncated: bool,
    /// The page number, from 0.
    pub page: u64,
    /// The number of pages; 1 for an empty document.
    pub n_pages: u64,
    /// Its first line, from 1; 0 in an empty document.
    pub line_start: u64,
    /// Its last line.
    pub line_end: u64,
    /// The number of lines in the whole document.
    pub n_lines: u64,
    /// The offset of its text.
    pub offset: u64,
    /// The previous page.
    pub prev: Option<u64>,
    /// The next page.
    pub next: Option<u64>,
}

impl Page {
    /// The maximum text of one page.
    pub const BYTES_MAX: u64 = 1024 * 1024;

    /// The line range for display: `51-100 of 120`.
    pub fn place(&self) -> String {
        format!("{}-{} of {}", self.line_start, self.line_end, self.n_lines)
    }
}

impl Reader {
    /// A page of `lines` lines. Builds the line index if necessary.
    pub fn page(&self, page: u64, lines: u64) -> Result<Page, ReadError> {
        ReadError::check("lines of a page", lines, 1, Self::LINES_MAX)?;
        let index = self.index()?;
        let n_lines = index.n_lines;
        let n_pages = n_lines.div_ceil(lines).max(1);
        if page >= n_pages {
            return Err(ReadError::PageOutOfRange { name: self.name.clone(), page, n_pages });
        }
        let (first_idx, behind_idx) = (page * lines, (page * lines).saturating_add(lines).min(n_lines));
        let read = self.read_range();
        let range = index.start_of(first_idx, &read)?..index.start_of(behind_idx, &read)?;
        let shown = range.start..range.end.min(range.start + Page::BYTES_MAX);
        let shown = self.cut_to_chars(shown)?;
        let text = self.fresh(self.redacted(shown.clone())?)?;
        Ok(Page {
            text,
            truncated: shown.end < range.end,
            page,
            n_pages,
            line_start: (first_idx + 1).min(n_lines),
            line_end: behind_idx,
            n_lines,
            offset: range.start,
            prev: page.checked_sub(1),
            next: Some(page + 1).filter(|&next| next < n_pages),
        })
    }
}
