//! Packing: divides a text into spans of bounded size that cover it exactly, each cut at the best boundary of
//! its format. Every partition of every content type comes from `group`, so coverage, size, progress and
//! character boundaries are proved once, here. The splitter decides how good a boundary is.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

/// A range of bytes in the text of a document.
pub type Span = Range<u64>;

/// How good a cut is at a boundary, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Between two words.
    Word,
    /// Between two sentences or lines.
    Sentence,
    /// Between two paragraphs.
    Paragraph,
    /// Between two items of one list: rows, elements, records, methods.
    Item,
    /// Between two independent parts: sections, definitions.
    Section,
}

/// A position where a text can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// The offset of the first byte after the cut.
    pub at: u64,
    /// How good a cut is there.
    pub strength: Strength,
}

/// Spans of at most `bytes_max` that cover the text exactly, each cut at the strongest boundary available. Boundaries
/// must be ascending; those out of order, outside the text or inside a character are ignored. A character longer than
/// `bytes_max` becomes a span of its own.
pub fn pack(text: &str, boundaries: &[Boundary], bytes_max: u64) -> Vec<Span> {
    let room = SpanSizes::of_bytes(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    let marks = boundaries.iter().map(|boundary| Mark {
        at: usize::try_from(boundary.at).unwrap_or(usize::MAX),
        strength: boundary.strength,
        units: boundary.at,
    });
    let mut start = 0;
    let mut spans = Vec::new();
    for cut in group(text, marks, &room) {
        spans.push(start..cut.at as u64);
        start = cut.at as u64;
    }
    spans
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes: units equal the offset.
    Byte,
    /// Lines, rows or elements: things that are whole between two marks.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: usize,
    pub(crate) strength: Strength,
    pub(crate) units: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanSizes {
    pub(crate) unit: Unit,
    /// Below this, a boundary is too close to be preferred for its strength.
    pub(crate) units_tiny: u64,
    /// From here on, the strongest boundary wins.
    pub(crate) units_min: u64,
    /// Of two equally strong boundaries, the one closer to this wins.
    pub(crate) units_target: u64,
    pub(crate) units_max: u64,
    pub(crate) bytes_max: usize,
}

impl SpanSizes {
    /// As many bytes as possible, counted in bytes.
    pub(crate) fn of_bytes(bytes_max: usize) -> Self {
        let bytes = bytes_max as u64;
        Self {
            unit: Unit::Byte,
            units_tiny: bytes / 8,
            units_min: bytes / 2,
            units_target: bytes,
            units_max: u64::MAX,
            bytes_max,
        }
    }

    /// Exactly this many units in each span except the last.
    pub(crate) fn exactly(units: u64, bytes_max: usize) -> Self {
        let units = units.max(1);
        Self {
            unit: Unit::Whole,
            units_tiny: 0,
            units_min: units,
            units_target: units,
            units_max: units,
            bytes_max,
        }
    }

    /// From half the target up to the target.
    pub(crate) fn up_to(units: u64, bytes_max: usize) -> Self {
        let units = units.max(1);
        Self { units_tiny: units / 8, units_min: units.div_ceil(2), ..Self::exactly(units, bytes_max) }
    }

    /// From 3/4 to 3/2 of the target: 150 to 300 around 200.
    pub(crate) fn around(units: u64, bytes_max: usize) -> Self {
        let units = units.max(1);
        let units_max = units.saturating_add(units / 2);
        let (units_tiny, units_min) = (units / 8, units - units / 4);
        Self { units_tiny, units_min, units_max, ..Self::exactly(units, bytes_max) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) at: usize,
    /// None if no boundary was in reach, and at the end of the text.
    pub(crate) strength: Option<Strength>,
    pub(crate) units: u64,
}

/// Cuts a text at some of its marks. The last cut is its end; an empty text has none. Linear in the number of marks:
/// each one waits in a window of at most one span, and two cuts together consume a window.
pub(crate) fn group(text: &str, marks: impl Iterator<Item = Mark>, room: &SpanSizes) -> Vec<Cut> {
    let mut grouping = Grouping {
        text,
        room: SpanSizes { bytes_max: room.bytes_max.max(1), ..*room },
        start: 0,
        start_units: 0,
        last: Mark { at: 0, strength: Strength::Word, units: 0 },
        waiting: VecDeque::new(),
        cuts: Vec::new(),
    };
    for mark in marks {
        grouping.take(mark);
    }
    grouping.finish()
}

struct Grouping<'t> {
    text: &'t str,
    room: SpanSizes,
    start: usize,
    start_units: u64,
    last: Mark,
    /// Marks after `start` that fit into the span that begins there.
    waiting: VecDeque<Mark>,
    cuts: Vec<Cut>,
}

impl Grouping<'_> {
    fn take(&mut self, mark: Mark) {
        let is_usable = mark.at > self.last.at && self.text.is_char_boundary(mark.at);
        if !is_usable || mark.units < self.last.units {
            return;
        }
        self.last = mark;
        // Each iteration cuts after the previous cut, so this terminates.
        while !self.fits(mark) {
            match self.best() {
                Some(idx) => self.cut_at(idx),
                None => self.cut_before(mark),
            }
        }
        if mark.at > self.start {
            self.waiting.push_back(mark);
        }
    }

    fn finish(mut self) -> Vec<Cut> {
        let end = self.text.len();
        if self.last.at < end {
            let units = if self.room.unit == Unit::Byte { end as u64 } else { self.last.units };
            self.take(Mark { at: end, strength: Strength::Section, units });
        }
        if self.start < end {
            let units = self.last.units.saturating_sub(self.start_units);
            self.cuts.push(Cut { at: end, strength: None, units });
        }
        self.cuts
    }

    fn fits(&self, mark: Mark) -> bool {
        let units = mark.units.saturating_sub(self.start_units);
        // A single unit always fits, whatever its size.
        mark.at - self.start <= self.room.bytes_max
            && (units <= self.room.units_max || self.waiting.is_empty())
    }

    /// The waiting mark to cut at. A strong one justifies a span shorter than the target; a weak one does not.
    fn best(&self) -> Option<usize> {
        let rank = |mark: &Mark| {
            let units = mark.units.saturating_sub(self.start_units);
            let is_full = units >= self.room.units_min;
            let is_strong = mark.strength >= Strength::Item && units >= self.room.units_tiny;
            let strength = if is_full { mark.strength } else { Strength::Word };
            (is_strong, is_full, strength, Reverse(units.abs_diff(self.room.units_target)), mark.at)
        };
        let best = self.waiting.iter().enumerate().max_by_key(|(_, mark)| rank(mark))?;
        Some(best.0)
    }

    fn cut_at(&mut self, idx: usize) {
        let mark = self.waiting[idx];
        let units = mark.units.saturating_sub(self.start_units);
        self.cuts.push(Cut { at: mark.at, strength: Some(mark.strength), units });
        self.waiting.drain(..=idx);
        self.start = mark.at;
        self.start_units = mark.units;
    }

    /// Cuts inside a unit that is longer than a span.
    fn cut_before(&mut self, mark: Mark) {
        let at = hard_cut(self.text, self.start..mark.at, self.room.bytes_max);
        let units = match self.room.unit {
            Unit::Byte => (at - self.start) as u64,
            // A single character longer than a span ends at the mark itself.
            Unit::Whole if at == mark.at => mark.units.saturating_sub(self.start_units),
            Unit::Whole => 0,
        };
        self.cuts.push(Cut { at, strength: None, units });
        self.start = at;
        self.start_units += units;
    }
}

/// A cut in the range, at most `bytes_max` after its start: after whitespace in the last half, otherwise between two
/// characters, or after the first character if that alone is too long.
pub(crate) fn hard_cut(text: &str, range: Range<usize>, bytes_max: usize) -> usize {
    let reach = text.floor_char_boundary(range.start.saturating_add(bytes_max).min(range.end));
    if reach <= range.start {
        return text.ceil_char_boundary(range.start + 1);
    }
    if reach == range.end {
        return reach;
    }
    let half = reach - (reach - range.start) / 2;
    let blank = memchr::memrchr3(b' ', b'\n', b'\t', &text.as_bytes()[half..reach]);
    blank.map_or(reach, |offset| half + offset + 1)
}

#[cfg(test)]
mod tests;
