//! Shows a match: its line and the lines around it, read again from the document. Lines are truncated to fit a screen,
//! the matching one around its first match. All shown text is redacted by the reader.

use std::ops::Range;

use super::GrepMatch;
use super::pattern::Pattern;
use super::scan::MatchedLine;
use super::secret_mask::MaskedText;
use crate::{ReadError, Reader};

const SHOWN_BYTES_MAX: usize = 500;

/// How much of that comes before the first match.
const LEAD_BYTES: usize = 100;
const LOOK_BYTES: u64 = 64 * 1024;
const RANGES_MAX: usize = 100;
const CUT: &str = "…";

impl Reader {
    pub(super) fn show_all(
        &self,
        pattern: &Pattern,
        places: &[MatchedLine],
        context_lines: u64,
    ) -> Result<Vec<GrepMatch>, ReadError> {
        let shown = places.iter().map(|place| self.show(pattern, place, context_lines));
        self.fresh(shown.collect::<Result<_, _>>()?)
    }

    fn show(
        &self,
        pattern: &Pattern,
        place: &MatchedLine,
        context_lines: u64,
    ) -> Result<GrepMatch, ReadError> {
        let line_end = self.line_end_from(place.found.end.max(place.line_start), LOOK_BYTES)?;
        let line_end = match line_end {
            Some(line_end) => line_end,
            None if self.bytes() - place.found.end <= LOOK_BYTES => self.bytes(),
            None => return self.show_alone(pattern, place),
        };
        if line_end - place.line_start > LOOK_BYTES {
            return self.show_alone(pattern, place);
        }
        let (start, n_before) = self.back_lines(place.line_start, context_lines)?;
        let end = self.forward_lines(line_end, context_lines)?;
        let redacted = self.redacted_with_map(start..end)?;
        // Redaction preserves line ends: the original and the shown text have the same line numbers.
        let (plain, shown) = (lines_of(&redacted.plain), lines_of(&redacted.text));
        let line_at = |lines: &[Range<usize>]| lines.get(n_before).cloned().unwrap_or(0..0);
        let (plain_line, shown_line) = (line_at(&plain), line_at(&shown));
        let line = MaskedText::new(
            &redacted.plain.as_bytes()[plain_line.clone()],
            &redacted.secrets_in(&plain_line),
        );
        let found = line.ranges(pattern, RANGES_MAX);
        let ranges = found.into_iter().map(|range| {
            let range = redacted.shown(&(range.start + plain_line.start..range.end + plain_line.start));
            range.start.saturating_sub(shown_line.start)..range.end.saturating_sub(shown_line.start)
        });
        let text_of = |line: &Range<usize>| redacted.text.get(line.clone()).unwrap_or_default();
        let (text, ranges) = cut_around(text_of(&shown_line), ranges.collect());
        let cut_all = |lines: Option<&[Range<usize>]>| {
            lines.unwrap_or_default().iter().map(|line| cut_around(text_of(line), Vec::new()).0).collect()
        };
        Ok(GrepMatch {
            line: place.line,
            text,
            ranges,
            before: cut_all(shown.get(..n_before)),
            after: cut_all(shown.get(n_before + 1..)),
        })
    }

    /// Shows a match in a very long line by reading only the text around the match.
    fn show_alone(&self, pattern: &Pattern, place: &MatchedLine) -> Result<GrepMatch, ReadError> {
        let start = place.found.start.saturating_sub(LEAD_BYTES as u64).max(place.line_start);
        let end = (place.found.start + (SHOWN_BYTES_MAX - LEAD_BYTES) as u64).min(self.bytes());
        let line_end = self.line_end_from(place.found.start, end - place.found.start)?;
        let shown = self.cut_to_chars(start..line_end.unwrap_or(end))?;
        let redacted = self.redacted_with_map(shown.clone())?;
        let lead = if shown.start > place.line_start { CUT } else { "" };
        let tail = if line_end.is_none() && shown.end < self.bytes() { CUT } else { "" };
        let at = usize::try_from(place.found.start - shown.start).unwrap_or(0);
        let text =
            MaskedText::new(redacted.plain.as_bytes(), &redacted.secrets_in(&(0..redacted.plain.len())));
        let first = text.first(pattern, at.min(redacted.plain.len()));
        let range = first.map(|first| redacted.shown(&first)).filter(|range| !range.is_empty());
        let range = range.map(|range| range.start + lead.len()..range.end + lead.len());
        Ok(GrepMatch {
            line: place.line,
            text: format!("{lead}{}{tail}", redacted.text),
            ranges: range.into_iter().collect(),
            before: Vec::new(),
            after: Vec::new(),
        })
    }

    /// The start of the lines before a line, and their number: fewer if they are too long to search.
    fn back_lines(&self, line_start: u64, n_lines: u64) -> Result<(u64, usize), ReadError> {
        let lowest = line_start.saturating_sub(LOOK_BYTES);
        let (mut start, mut n_found) = (line_start, 0);
        for _ in 0..n_lines {
            if start <= lowest {
                break;
            }
            match self.line_end_before(start - 1, start - 1 - lowest)? {
                Some(line_end) => start = line_end + 1,
                None if lowest == 0 => start = 0,
                None => break,
            }
            n_found += 1;
        }
        Ok((start, n_found))
    }

    /// The end of the last of the lines after a line that ends at `line_end`.
    fn forward_lines(&self, line_end: u64, n_lines: u64) -> Result<u64, ReadError> {
        let highest = line_end.saturating_add(LOOK_BYTES).min(self.bytes());
        let mut end = line_end;
        for _ in 0..n_lines {
            // No line follows a final line end.
            if end + 1 >= highest {
                break;
            }
            match self.line_end_from(end + 1, highest - end - 1)? {
                Some(line_end) => end = line_end,
                None if highest == self.bytes() => end = highest,
                None => break,
            }
        }
        Ok(end)
    }
}

/// The lines of a text without their ends. The last line has no end.
fn lines_of(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split('\n').map(|line| {
        let from = start;
        start += line.len() + 1;
        from..from + line.strip_suffix('\r').unwrap_or(line).len()
    });
    lines.collect()
}

/// A line truncated for display, from a little before the first range, and the ranges still in it.
fn cut_around(line: &str, ranges: Vec<Range<usize>>) -> (String, Vec<Range<usize>>) {
    if line.len() <= SHOWN_BYTES_MAX {
        return (line.to_owned(), ranges);
    }
    let first = ranges.first().map_or(0, |range| range.start);
    let start = if first + LEAD_BYTES <= SHOWN_BYTES_MAX { 0 } else { first - LEAD_BYTES };
    let start = line.ceil_char_boundary(start.min(line.len()));
    let end = line.floor_char_boundary((start + SHOWN_BYTES_MAX).min(line.len()));
    let lead = if start > 0 { CUT } else { "" };
    let tail = if end < line.len() { CUT } else { "" };
    let moved = ranges.into_iter().filter_map(|range| {
        let (from, to) = (range.start.max(start), range.end.min(end));
        (from < to).then(|| from - start + lead.len()..to - start + lead.len())
    });
    (format!("{lead}{}{tail}", line.get(start..end).unwrap_or_default()), moved.collect())
}

#[cfg(test)]
mod tests;
