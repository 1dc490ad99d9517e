//! Counts secrets in a stream, without holding more of it than a rule can reach.

use std::collections::BTreeMap;

use super::Redaction;
use super::find::{LOOK_BACK_BYTES, REDACT_REACH_BYTES, finds_in, joined};
use super::redact::marks;
use crate::decode::Utf16Stream;
use crate::lines::count_newlines;
use crate::needles::Needles;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretTally {
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// The first few. A key of many lines counts once.
    pub(crate) first: Vec<Redaction>,
    /// Whether the document was not checked; its text is checked when it is read.
    pub(crate) is_unknown: bool,
    /// Whether the words of a search were looked for, and its redacted text has none of them.
    pub(crate) lacks_sought: bool,
}

#[derive(Debug)]
pub(crate) struct Sought {
    pub(crate) needles: Needles,
    are_in_marks: bool,
}

impl Sought {
    pub(crate) fn new(needles: Needles) -> Self {
        let are_in_marks = marks().any(|mark| needles.find(mark.as_bytes(), 0).is_some());
        Self { needles, are_in_marks }
    }
}

const FIRST_MAX: usize = 5;

impl SecretTally {
    pub(super) fn add(&mut self, rule: &'static str, line: impl FnOnce() -> u64) {
        *self.counts.entry(rule).or_default() += 1;
        if self.first.len() < FIRST_MAX {
            self.first.push(Redaction { line: line(), rule });
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct SecretWatch<'s> {
    /// The words of a search, while none was found.
    sought: Option<&'s Sought>,
    utf16: Option<Utf16Stream>,
    has_begun: bool,
    /// The undecided bytes, and as much before them as a rule looks back.
    pending: Vec<u8>,
    /// Where the undecided bytes begin in `pending`.
    decided: usize,
    /// Line breaks before `pending`.
    n_lines: u64,
    /// Where the last secret ends in `pending`.
    covered: usize,
    tally: SecretTally,
}

impl<'s> SecretWatch<'s> {
    pub(crate) fn with(sought: Option<&'s Sought>) -> Self {
        Self { sought, ..Self::default() }
    }

    /// Instead of `feed` and `finish`, for a whole text that is not UTF-16.
    pub(crate) fn whole(mut self, text: &[u8]) -> SecretTally {
        self.seek(text, 0);
        if !self.is_unwanted() {
            self.decide(text, text.len());
        }
        self.into_tally()
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if !self.has_begun {
            self.has_begun = true;
            self.utf16 = Utf16Stream::of(bytes);
        }
        match &mut self.utf16 {
            Some(utf16) => utf16.feed(bytes, &mut self.pending),
            None => self.pending.extend_from_slice(bytes),
        }
        let sure = self.pending.len().saturating_sub(REDACT_REACH_BYTES);
        if sure > self.decided {
            self.decide_pending(sure);
            self.forget();
        }
    }

    pub(crate) fn finish(mut self) -> SecretTally {
        self.decide_pending(self.pending.len());
        self.into_tally()
    }

    fn into_tally(mut self) -> SecretTally {
        if self.is_unwanted() {
            return SecretTally { is_unknown: true, lacks_sought: true, ..SecretTally::default() };
        }
        self.tally.lacks_sought = self.sought.is_some() && self.tally.counts.is_empty();
        self.tally
    }

    /// Whether the text has no words of the search, and would have none with the marks of secrets: it is not shown, or it
    /// is checked when it is read for that.
    fn is_unwanted(&self) -> bool {
        self.sought.is_some_and(|sought| !sought.are_in_marks)
    }

    fn seek(&mut self, text: &[u8], from: usize) {
        self.sought = self.sought.filter(|sought| sought.needles.find(text, from).is_none());
    }

    fn decide_pending(&mut self, to: usize) {
        let pending = std::mem::take(&mut self.pending);
        self.seek(&pending, self.decided);
        self.decide(&pending, to);
        self.pending = pending;
    }

    fn decide(&mut self, text: &[u8], to: usize) {
        for find in joined(finds_in(text, self.decided, to)) {
            if find.bytes.start >= self.covered {
                let line = || self.n_lines + count_newlines(&text[..find.bytes.start]) + 1;
                self.tally.add(find.rule(), line);
            }
            self.covered = self.covered.max(find.bytes.end);
        }
        self.decided = to;
    }

    /// Drops decided bytes, except those that a rule may look back at.
    fn forget(&mut self) {
        let n_dropped = self.decided.saturating_sub(LOOK_BACK_BYTES);
        self.n_lines += count_newlines(&self.pending[..n_dropped]);
        self.pending.drain(..n_dropped);
        self.decided -= n_dropped;
        self.covered = self.covered.saturating_sub(n_dropped);
    }
}

#[cfg(test)]
mod tests;
