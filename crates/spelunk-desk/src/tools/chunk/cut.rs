//! Where a text is cut: units (lines, paragraphs, sections) are packed into pieces up to a size, and each piece begins
//! with the end of the previous one. Pieces cover the text, start at increasing offsets and at character boundaries; a
//! unit too long for a piece is split.

use spelunk_context::Heading;

use super::super::wire::ChunkBy;

const TOKEN_BYTES: u64 = 4;
/// A line or paragraph longer than this is split into several units.
const UNIT_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkRule {
    pub(super) by: ChunkBy,
    /// In tokens, lines or paragraphs; for sections, the maximum tokens.
    pub(super) size: u64,
    /// In the same unit, at most half of `size`.
    pub(super) overlap: u64,
}

/// A part of a text. Lines are numbered from 1; the last is the one that contains its last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkRange {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) start_line: u64,
    pub(super) end_line: u64,
}

/// Cuts a text. `headings` are used when cutting by section. `None` if there would be more than `n_max` pieces.
pub(super) fn pieces(
    text: &str,
    cut: ChunkRule,
    headings: &[Heading],
    n_max: usize,
) -> Option<Vec<ChunkRange>> {
    let token_bytes = |tokens: u64| usize::try_from(tokens.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX);
    let mut ranges = Ranges { all: Vec::new(), n_max };
    match cut.by {
        ChunkBy::Lines => {
            ranges.pack(&units(text, 0, UNIT_BYTES_MAX, is_line), cut.size, cut.overlap, |_| 1)?;
        }
        ChunkBy::Paragraphs => {
            ranges.pack(&units(text, 0, UNIT_BYTES_MAX, is_paragraph), cut.size, cut.overlap, |_| 1)?;
        }
        ChunkBy::Tokens => {
            let size = token_bytes(cut.size);
            // Units are a quarter of a piece: pieces are nearly full, and an overlap is possible within a long line.
            let longest = (size / 4).max(4);
            let units = units(text, 0, longest, is_line);
            ranges.pack(&units, size as u64, token_bytes(cut.overlap) as u64, weight)?;
        }
        ChunkBy::Headings => {
            ranges.sections(text, headings, token_bytes(cut.size), token_bytes(cut.overlap))?;
        }
    }
    Some(with_lines(text, &ranges.all))
}

fn weight(unit: &Unit) -> u64 {
    (unit.1 - unit.0) as u64
}

type Unit = (usize, usize);

struct Ranges {
    all: Vec<Unit>,
    n_max: usize,
}

impl Ranges {
    fn push(&mut self, range: Unit) -> Option<()> {
        self.all.push(range);
        (self.all.len() <= self.n_max).then_some(())
    }

    /// One piece per section; one that is too long is cut like plain text.
    fn sections(
        &mut self,
        text: &str,
        headings: &[Heading],
        bytes_max: usize,
        overlap_bytes: usize,
    ) -> Option<()> {
        let starts = headings.iter().map(|heading| usize::try_from(heading.at).unwrap_or(usize::MAX));
        let mut starts: Vec<usize> = std::iter::once(0).chain(starts).chain([text.len()]).collect();
        starts.dedup();
        for pair in starts.windows(2) {
            let &[start, end] = pair else { continue };
            let section = text.get(start..end).unwrap_or_default();
            if section.len() <= bytes_max {
                self.push((start, end))?;
            } else {
                let units = units(section, start, (bytes_max / 4).max(4), is_line);
                self.pack(&units, bytes_max as u64, overlap_bytes as u64, weight)?;
            }
        }
        Some(())
    }

    /// Packs units into pieces. Each piece takes at least one unit and begins after the start of the previous one, so
    /// this terminates for any sizes; since pieces overlap by at most half, no unit is visited often.
    fn pack(&mut self, units: &[Unit], size: u64, overlap: u64, weigh: impl Fn(&Unit) -> u64) -> Option<()> {
        let mut first = 0;
        while let Some(begin) = units.get(first) {
            let (mut end, mut held) = (first, 0_u64);
            while let Some(unit) = units.get(end) {
                let more = weigh(unit);
                if end > first && held.saturating_add(more) > size {
                    break;
                }
                held = held.saturating_add(more);
                end += 1;
            }
            self.push((begin.0, units.get(end - 1).map_or(begin.1, |unit| unit.1)))?;
            let Some(behind) = units.get(end) else { break };
            let (mut next, mut shared) = (end, 0_u64);
            while next > first + 1 {
                let more = units.get(next - 1).map_or(u64::MAX, &weigh);
                if shared.saturating_add(more) > overlap {
                    break;
                }
                shared += more;
                next -= 1;
            }
            // The overlap must leave room for the next unit, or the next piece would contain nothing new.
            let room = size.saturating_sub(weigh(behind));
            while let Some(unit) = units.get(next).filter(|_| next < end && shared > room) {
                shared -= weigh(unit);
                next += 1;
            }
            first = next;
        }
        Some(())
    }
}

/// Splits a text into units: one ends at a line for which `ends` is true, and where it gets too long.
fn units(text: &str, shift: usize, bytes_max: usize, ends: impl Fn(&str, Option<&str>) -> bool) -> Vec<Unit> {
    let mut units = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        at += line.len();
        if ends(line, lines.peek().copied()) || lines.peek().is_none() {
            push_unit(text, (start, at), shift, bytes_max, &mut units);
            start = at;
        }
    }
    units
}

/// Adds a unit, or several if it is too long: split after a space if there is one in the second half.
fn push_unit(text: &str, (mut start, end): Unit, shift: usize, bytes_max: usize, units: &mut Vec<Unit>) {
    while end - start > bytes_max {
        let rest = text.get(start..end).unwrap_or_default();
        let room = rest.floor_char_boundary(bytes_max);
        // A character may be longer than the remaining room.
        let room = if room == 0 { rest.ceil_char_boundary(1) } else { room };
        let head = rest.get(..room).unwrap_or_default();
        let space = head.rfind([' ', '\n', '\t']).map(|at| at + 1).filter(|at| at * 2 > room);
        let taken = space.unwrap_or(room);
        units.push((shift + start, shift + start + taken));
        start += taken;
    }
    if start < end {
        units.push((shift + start, shift + end));
    }
}

fn is_line(_: &str, _: Option<&str>) -> bool {
    true
}

/// A paragraph includes the blank lines after it.
fn is_paragraph(line: &str, next: Option<&str>) -> bool {
    line.trim().is_empty() && next.is_some_and(|next| !next.trim().is_empty())
}

/// The line numbers of the ranges, counted in one pass over the text.
fn with_lines(text: &str, ranges: &[Unit]) -> Vec<ChunkRange> {
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let line_of = |at: usize| ends.partition_point(|&end| end < at) as u64 + 1;
    let piece = |&(start, end): &Unit| ChunkRange {
        start,
        end,
        start_line: line_of(start),
        end_line: line_of(end.saturating_sub(1)),
    };
    ranges.iter().map(piece).collect()
}

#[cfg(test)]
mod tests;
