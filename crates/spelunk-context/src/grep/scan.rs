//! Scans one range of a document for the lines that begin in it. Adjacent ranges cover a document without gap or
//! overlap, so threads need to agree only on where ranges end. A line is searched whole up to a limit; a longer one in
//! overlapping pieces, so memory is bounded and a match longer than the overlap may be missed. A matching line is
//! searched again without its secrets, unless the reader does not redact.

use std::ops::{ControlFlow, Range};

use super::pattern::{Choice, Pattern, without_end};
use super::secret_mask::{MaskedText, Secrets, secrets_of_piece};
use super::units::Sizes;
use crate::lines::count_newlines;
use crate::{ReadError, Reader};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) n_matches: u64,
    pub(super) places: Vec<MatchedLine>,
    pub(super) n_line_ends: u64,
    pub(super) bytes_read: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MatchedLine {
    /// Its number: from 0 within a range, from 1 once it is reported.
    pub(super) line: u64,
    /// The offset of its first byte.
    pub(super) line_start: u64,
    pub(super) found: Range<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ScanRequest {
    pub(super) places_max: usize,
    pub(super) matches_max: u64,
    pub(super) line_ends: bool,
}

/// Scans ranges of documents on one thread. The buffer is reused.
pub(super) struct Scanner<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) sizes: Sizes,
    pub(super) buffer: Vec<u8>,
}

impl Scanner<'_> {
    pub(super) fn scan(
        &mut self,
        reader: &Reader,
        range: Range<u64>,
        want: ScanRequest,
    ) -> Result<Tally, ReadError> {
        // The byte before the range tells whether its first byte begins a line.
        let from = range.start.saturating_sub(1);
        let mut buffer = std::mem::take(&mut self.buffer);
        let lines = self.read_lines(reader, range.clone(), &mut buffer);
        let tally = lines.and_then(|lines| {
            let head = usize::try_from(range.start - from).unwrap_or(1).min(buffer.len());
            let body_end = usize::try_from(range.end - from).unwrap_or(usize::MAX).min(buffer.len());
            let mut tally = Tally { bytes_read: buffer.len() as u64, ..Tally::default() };
            if want.line_ends {
                tally.n_line_ends = count_newlines(&buffer[head..body_end]);
            }
            let mut sweep =
                BufferScan { reader, buffer: &buffer, from, want, tally, counted_to: head, line: 0 };
            let is_over = self.scan_whole_lines(lines.whole, &mut sweep)?;
            if let (false, Some(giant)) = (is_over, lines.giant) {
                sweep.count_lines_to(giant);
                let (line, line_start) = (sweep.line, sweep.at(giant));
                self.scan_giant(reader, line, line_start, want, &mut sweep.tally)?;
            }
            Ok(sweep.tally)
        });
        self.buffer = buffer;
        tally
    }

    /// Searches the lines that are whole in the buffer. Returns whether enough was found.
    fn scan_whole_lines(&self, whole: Range<usize>, sweep: &mut BufferScan<'_>) -> Result<bool, ReadError> {
        let (buffer, choice) = (sweep.buffer, choice_for(sweep.reader));
        let (mut secrets, mut failure) = (Secrets::default(), None);
        let flow = self.pattern.each_line(&buffer[whole.clone()], choice, |found| {
            let start = whole.start + found.start;
            let line = start..start + without_end(&buffer[whole.start..whole.end][found]).len();
            match self.first_match(line.clone(), sweep, &mut secrets) {
                Ok(None) => ControlFlow::Continue(()),
                Ok(Some(first)) => sweep.note(start, &first),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        failure.map_or(Ok(flow.is_break()), Err)
    }

    /// A selected line's first match, relative to it; empty if not needed. `None` if only secrets match.
    fn first_match(
        &self,
        line: Range<usize>,
        sweep: &BufferScan<'_>,
        secrets: &mut Secrets,
    ) -> Result<Option<Range<usize>>, ReadError> {
        let text = &sweep.buffer[line.clone()];
        let mut is_sure = true;
        if sweep.reader.redacts() {
            let secrets = secrets.of_line(sweep.reader, sweep.buffer, sweep.from, line)?;
            if !secrets.is_empty() {
                return Ok(MaskedText::new(text, &secrets).first(self.pattern, 0));
            }
            is_sure = self.pattern.loose.is_none();
        }
        if is_sure && !sweep.wants_place() {
            return Ok(Some(0..0));
        }
        let first = self.pattern.find(text);
        Ok(if is_sure { first.or(Some(0..0)) } else { first })
    }

    /// Reads the range and the rest of its last line into the buffer.
    fn read_lines(
        &self,
        reader: &Reader,
        range: Range<u64>,
        buffer: &mut Vec<u8>,
    ) -> Result<Lines, ReadError> {
        let from = range.start.saturating_sub(1);
        reader.read(from..range.end, buffer)?;
        let first = match range.start {
            0 => 0,
            _ => memchr::memchr(b'\n', buffer).map_or(buffer.len(), |idx| idx + 1),
        };
        let mut lines = Lines { whole: first..buffer.len(), giant: None };
        if first == buffer.len() || buffer.ends_with(b"\n") {
            return Ok(lines);
        }
        let last = memchr::memrchr(b'\n', buffer).map_or(0, |idx| idx + 1).max(first);
        let mut rest = Vec::new();
        loop {
            let at = from + buffer.len() as u64;
            let n_more = self.sizes.step_bytes.min(reader.bytes() - at);
            if n_more == 0 {
                break;
            }
            if (buffer.len() - last) as u64 > self.sizes.line_bytes_max {
                lines.giant = Some(last);
                lines.whole.end = last;
                return Ok(lines);
            }
            reader.read(at..at + n_more, &mut rest)?;
            let line_end = memchr::memchr(b'\n', &rest);
            buffer.extend_from_slice(&rest[..line_end.map_or(rest.len(), |idx| idx + 1)]);
            if line_end.is_some() {
                break;
            }
        }
        lines.whole.end = buffer.len();
        Ok(lines)
    }

    /// Searches a line that is too long to hold, piece by piece, until it matches or ends.
    fn scan_giant(
        &self,
        reader: &Reader,
        line: u64,
        line_start: u64,
        want: ScanRequest,
        tally: &mut Tally,
    ) -> Result<(), ReadError> {
        const BYTES_BEFORE: u64 = 4;
        let Sizes { line_bytes_max, overlap_bytes, .. } = self.sizes;
        let (mut at, mut piece) = (line_start, Vec::new());
        loop {
            let from = at.saturating_sub(BYTES_BEFORE).max(line_start);
            let end = (at + line_bytes_max).min(reader.bytes());
            reader.read(from..end, &mut piece)?;
            tally.bytes_read += piece.len() as u64;
            let line_end = memchr::memchr(b'\n', &piece);
            let is_last = line_end.is_some() || end == reader.bytes();
            let text = without_end(&piece[..line_end.map_or(piece.len(), |idx| idx + 1)]);
            let next = end.saturating_sub(overlap_bytes).max(at + 1);
            let skip = usize::try_from(at - from).unwrap_or(0).min(text.len());
            let found = self.pattern.find_from(text, skip, choice_for(reader));
            let found = match found {
                Some(_) if reader.redacts() => {
                    let secrets = secrets_of_piece(reader, from..from + text.len() as u64)?;
                    MaskedText::new(text, &secrets).first(self.pattern, skip)
                }
                found => found,
            };
            let found = found.map(|found| from + found.start as u64..from + found.end as u64);
            // A match that ends at the cut may end elsewhere: the next piece decides if it contains it.
            let found = found.filter(|found| is_last || found.end < end || found.start < next);
            if let Some(found) = found {
                tally.n_matches += 1;
                if tally.places.len() < want.places_max {
                    tally.places.push(MatchedLine { line, line_start, found });
                }
                return Ok(());
            }
            if is_last {
                return Ok(());
            }
            at = next;
        }
    }
}

struct BufferScan<'a> {
    reader: &'a Reader,
    buffer: &'a [u8],
    /// The offset of the buffer in the document.
    from: u64,
    want: ScanRequest,
    tally: Tally,
    /// Line ends are counted up to this offset; `line` is their number.
    counted_to: usize,
    line: u64,
}

impl BufferScan<'_> {
    fn at(&self, idx: usize) -> u64 {
        self.from + idx as u64
    }

    fn wants_place(&self) -> bool {
        self.tally.places.len() < self.want.places_max
    }

    fn count_lines_to(&mut self, idx: usize) {
        if idx > self.counted_to {
            self.line += count_newlines(&self.buffer[self.counted_to..idx]);
            self.counted_to = idx;
        }
    }

    /// Counts the line that begins at `start` and first matches at `first`.
    fn note(&mut self, start: usize, first: &Range<usize>) -> ControlFlow<()> {
        self.tally.n_matches += 1;
        if self.wants_place() {
            self.count_lines_to(start);
            let found = self.at(start + first.start)..self.at(start + first.end);
            self.tally.places.push(MatchedLine { line: self.line, line_start: self.at(start), found });
        }
        if self.tally.n_matches < self.want.matches_max {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

fn choice_for(reader: &Reader) -> Choice {
    if reader.redacts() { Choice::MayMatch } else { Choice::Matching }
}

struct Lines {
    whole: Range<usize>,
    giant: Option<usize>,
}
