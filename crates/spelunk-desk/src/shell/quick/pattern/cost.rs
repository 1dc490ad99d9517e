//! The cost of a pattern: how much it is once its repetitions are written out, and how slowly it may go over a text. Most
//! patterns are turned into a table while they run and cost the same for every byte; one with many open places has too
//! many tables, and is then held against each byte part by part.

use super::Piece;

/// A set of characters is made of about so many parts.
const SET_PARTS: u64 = 8;
/// Every pattern takes at least this.
const LEAST_PARTS: u64 = 4;
/// With no more open places than this a pattern is sure to have few tables.
const OPEN_MAX: u64 = 12;
/// How many times longer a byte and one part take than a byte of a table.
const PART_TIMES: u64 = 16;

/// What a pattern, or a part of it, is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    chars: u64,
    sets: u64,
    branches: u64,
}

impl Cost {
    pub(super) fn of_text(text: &str) -> Self {
        Self { chars: text.len() as u64, ..Self::default() }
    }

    pub(super) fn n_parts(self) -> u64 {
        LEAST_PARTS + self.chars + self.sets.saturating_mul(SET_PARTS)
    }

    /// How many times it goes over a text.
    pub(super) fn n_times(self) -> u64 {
        if self.sets <= OPEN_MAX { 1 } else { (self.chars + self.sets).saturating_mul(PART_TIMES) }
    }

    fn add(&mut self, more: Self) {
        self.chars = self.chars.saturating_add(more.chars);
        self.sets = self.sets.saturating_add(more.sets);
        self.branches = self.branches.saturating_add(more.branches);
    }

    /// The same, written out so many times.
    fn times(self, n_times: u64) -> Self {
        Self {
            chars: self.chars.saturating_mul(n_times),
            // A choice that is repeated is as open as a set.
            sets: self.sets.saturating_add(self.branches).saturating_mul(n_times),
            branches: 0,
        }
    }
}

/// The costs of the groups that are open, and of what was read last.
#[derive(Debug, Default)]
pub(super) struct Costs {
    open: Vec<Cost>,
    /// Of the innermost group, without what was read last.
    here: Cost,
    last: Cost,
}

impl Costs {
    pub(super) fn add(&mut self, piece: &Piece) {
        match piece {
            Piece::Repeat(_, n_times) => self.last = self.last.times(u64::from(*n_times)),
            Piece::Open => {
                self.settle();
                self.open.push(std::mem::take(&mut self.here));
            }
            Piece::Close => {
                self.settle();
                self.last = std::mem::replace(&mut self.here, self.open.pop().unwrap_or_default());
            }
            Piece::Or => {
                self.settle();
                self.here.branches = self.here.branches.saturating_add(1);
            }
            Piece::Char(c) => {
                self.settle();
                self.last.chars = c.len_utf8() as u64;
            }
            Piece::Class(..) => {
                self.settle();
                self.last.sets = 1;
            }
            Piece::Start | Piece::End | Piece::Edge(_) => self.settle(),
        }
    }

    /// The cost of it all.
    pub(super) fn whole(mut self) -> Cost {
        self.settle();
        for open in self.open {
            self.here.add(open);
        }
        self.here
    }

    fn settle(&mut self) {
        let last = std::mem::take(&mut self.last);
        self.here.add(last);
    }
}

#[cfg(test)]
mod tests;
