//! Counts secrets in a stream, without holding more of it than a rule can reach.

use std::collections::BTreeMap;

use super::Redaction;
use super::find::{LOOK_BACK_BYTES, REDACT_REACH_BYTES, Sought, finds_and_sought, joined};
use crate::decode::Utf16Stream;

/// Secrets of one document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretTally {
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// The first few. A key of many lines counts once.
    pub(crate) first: Vec<Redaction>,
    /// Whether the document was too large to be checked; its text is checked when it is read.
    pub(crate) is_unknown: bool,
    /// Whether the words of a search were looked for, and neither they nor secrets, whose marks have words, found.
    pub(crate) lacks_sought: bool,
}

/// Examples kept per document.
const FIRST_MAX: usize = 5;

impl SecretTally {
    pub(super) fn add(&mut self, secret: Redaction) {
        *self.counts.entry(secret.rule).or_default() += 1;
        if self.first.len() < FIRST_MAX {
            self.first.push(secret);
        }
    }
}

/// Looks for secrets in a stream of bytes.
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
    /// Looks for words of a search, too.
    pub(crate) fn with(sought: Option<&'s Sought>) -> Self {
        Self { sought, ..Self::default() }
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
            self.decide(sure);
            self.forget();
        }
    }

    pub(crate) fn finish(mut self) -> SecretTally {
        self.decide(self.pending.len());
        self.tally.lacks_sought = self.sought.is_some() && self.tally.counts.is_empty();
        self.tally
    }

    fn decide(&mut self, to: usize) {
        for find in joined(finds_and_sought(&self.pending, self.decided, to, &mut self.sought)) {
            if find.bytes.start >= self.covered {
                *self.tally.counts.entry(find.rule()).or_default() += 1;
                if self.tally.first.len() < FIRST_MAX {
                    let before = memchr::memchr_iter(b'\n', &self.pending[..find.bytes.start]).count() as u64;
                    self.tally.first.push(Redaction { line: self.n_lines + before + 1, rule: find.rule() });
                }
            }
            self.covered = self.covered.max(find.bytes.end);
        }
        self.decided = to;
    }

    /// Drops decided bytes, except those that a rule may look back at.
    fn forget(&mut self) {
        let n_dropped = self.decided.saturating_sub(LOOK_BACK_BYTES);
        self.n_lines += memchr::memchr_iter(b'\n', &self.pending[..n_dropped]).count() as u64;
        self.pending.drain(..n_dropped);
        self.decided -= n_dropped;
        self.covered = self.covered.saturating_sub(n_dropped);
    }
}

#[cfg(test)]
mod tests;
