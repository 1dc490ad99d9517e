//! Packing: spans of a bounded size that cover a text exactly, each cut where the format likes to be cut. Every
//! partition of every content type comes out of `group`, so cover, size, progress and character boundaries are proved
//! once, here. What a boundary is worth is the splitter's knowledge, not this file's.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

/// A range of bytes in the text of a document.
pub type Span = Range<u64>;

/// How well a text can be cut at a place, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Between two words.
    Word,
    /// Between two sentences or lines.
    Sentence,
    /// Between two paragraphs.
    Paragraph,
    /// Between two things of one list: rows, elements, records, methods.
    Item,
    /// Between two parts that stand alone: sections, definitions.
    Section,
}

/// A place where a text can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// The offset of the first byte behind the cut.
    pub at: u64,
    /// How well it can be cut there.
    pub strength: Strength,
}

/// Spans of at most `bytes_max` that cover the text exactly, each cut at the strongest boundary available. Boundaries
/// are ascending; one that is out of order, outside the text or inside a character is ignored. A character that is
/// longer than `bytes_max` is a span of its own.
pub fn pack(text: &str, boundaries: &[Boundary], bytes_max: u64) -> Vec<Span> {
    let room = Room {
        unit: Unit::Byte,
        units_tiny: bytes_max / 8,
        units_min: bytes_max / 2,
        units_target: bytes_max,
        units_max: u64::MAX,
        bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
    };
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

/// What `Mark::units` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The offset itself.
    Byte,
    /// Lines, rows, elements: something that is whole between two marks.
    Whole,
}

/// A boundary that knows how many units lie before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: usize,
    pub(crate) strength: Strength,
    /// From the start of the text.
    pub(crate) units: u64,
}

/// How large a span may and should become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) unit: Unit,
    /// Below this, a boundary is too near to count as strong.
    pub(crate) units_tiny: u64,
    /// From here on, the strongest boundary wins.
    pub(crate) units_min: u64,
    /// Of two equally strong boundaries, the one nearer to this wins.
    pub(crate) units_target: u64,
    pub(crate) units_max: u64,
    pub(crate) bytes_max: usize,
}

impl Room {
    /// Exactly so many units in each span but the last.
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

    /// From half of the target up to it.
    pub(crate) fn up_to(units: u64, bytes_max: usize) -> Self {
        let units = units.max(1);
        Self { units_tiny: units / 8, units_min: units.div_ceil(2), ..Self::exactly(units, bytes_max) }
    }

    /// From three quarters of the target to three halves of it: 150 to 300 around 200.
    pub(crate) fn around(units: u64, bytes_max: usize) -> Self {
        let units = units.max(1);
        let units_max = units.saturating_add(units / 2);
        let (units_tiny, units_min) = (units / 8, units - units / 4);
        Self { units_tiny, units_min, units_max, ..Self::exactly(units, bytes_max) }
    }
}

/// The end of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) at: usize,
    /// None where no boundary was in reach, and at the end of the text.
    pub(crate) strength: Option<Strength>,
    /// Units that end in this span.
    pub(crate) units: u64,
}

/// Cuts a text at some of its marks. The last cut is its end; an empty text has none. Linear in the number of marks:
/// each one waits in a window of at most one span, and two cuts together use up a window.
pub(crate) fn group(text: &str, marks: impl Iterator<Item = Mark>, room: &Room) -> Vec<Cut> {
    let mut grouping = Grouping {
        text,
        room: Room { bytes_max: room.bytes_max.max(1), ..*room },
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
    room: Room,
    start: usize,
    start_units: u64,
    last: Mark,
    /// Marks behind `start` that fit into the span that begins there.
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
        // Each round cuts, and each cut is behind the one before: this ends.
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
        // One unit is never too many, whatever it counts as.
        mark.at - self.start <= self.room.bytes_max
            && (units <= self.room.units_max || self.waiting.is_empty())
    }

    /// The waiting mark to cut at. A strong one is worth a span that is shorter than wanted; a weak one is not.
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

    /// Cuts inside something that is longer than a span.
    fn cut_before(&mut self, mark: Mark) {
        let at = hard_cut(self.text, self.start..mark.at, self.room.bytes_max);
        let units = match self.room.unit {
            Unit::Byte => (at - self.start) as u64,
            // One character longer than a span ends at the mark itself.
            Unit::Whole if at == mark.at => mark.units.saturating_sub(self.start_units),
            Unit::Whole => 0,
        };
        self.cuts.push(Cut { at, strength: None, units });
        self.start = at;
        self.start_units += units;
    }
}

/// A place in the range, at most `bytes_max` behind its start: behind a blank in the last half, or else between two
/// characters. Behind the first character if that alone is too long.
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
