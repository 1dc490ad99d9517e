//! Reads, decodes and masks the next windows of a search, each on its own thread. They are exactly what the search would
//! have read itself: results do not depend on the number or speed of threads.

use std::ops::Range;

use super::engine::{How, Slots};
use super::{PyPattern, Target};
use crate::reader::threads_for;
use crate::secrets::MappedText;
use crate::text::{LazyText, TextError};

/// A piece and its range to search. Ranges overlap, because a search begins where the last one was final.
pub(super) struct Ahead {
    pub(super) piece: MappedText,
    pub(super) range: Range<u64>,
    pub(super) is_masked: bool,
    pub(super) first: First,
}

/// Where the first match in a piece begins, as an offset in the document. No match in the masked text begins before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum First {
    #[default]
    Unknown,
    At(u64),
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Masks {
    /// Nothing: the document is not redacted.
    None,
    /// Everything, if the piece may contain a key. Other secrets are looked for where something is found.
    NearKeys,
    /// Nothing yet: keys, too, are looked for where something is found.
    Later,
    All,
}

impl Ahead {
    pub(super) fn new(mut piece: MappedText, range: Range<u64>, masks: Masks) -> Self {
        let is_masked = match masks {
            Masks::None | Masks::Later => false,
            Masks::NearKeys => piece.may_hold_key(),
            Masks::All => true,
        };
        if is_masked {
            piece.mask();
        }
        Self { piece, range, is_masked, first: First::Unknown }
    }

    fn look(&mut self, pattern: &PyPattern) {
        let is_plain = !pattern.traits.needs_backtracking && !pattern.traits.has_dollar;
        let Some(engine) = pattern.engine(How::Search, Target::Linear).ok().filter(|_| is_plain) else {
            return;
        };
        let (text, at) = (&self.piece.text, self.piece.text_at(self.range.start));
        let mut slots = Slots::default();
        let is_found = match pattern.prefilter() {
            Some(prefilter) => prefilter.find(engine, text, at, false, &mut slots),
            None => engine.find(text, at..text.len(), false, &mut slots),
        };
        let found = slots.group(0).filter(|_| is_found == Ok(true));
        self.first = found.map_or(First::None, |found| First::At(self.piece.document_at(found.start)));
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'t> {
    pub(super) text: &'t LazyText,
    pub(super) pattern: &'t PyPattern,
    pub(super) from: u64,
    pub(super) margin: u64,
    pub(super) masks: Masks,
}

impl Order<'_> {
    /// The next windows in text order, one per thread; none if threads are not worth it. Reuses buffers.
    pub(super) fn read(self, buffers: &mut Vec<Vec<u8>>) -> Vec<Result<Ahead, TextError>> {
        let bytes_left = self.text.bytes().saturating_sub(self.from);
        let n_threads = threads_for(bytes_left).get() as u64;
        if n_threads == 1 {
            return Vec::new();
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_threads)
                .map(|idx| self.from + idx * self.text.sizes.window_bytes)
                .filter(|start| *start < self.text.bytes())
                .map(|start| (start, buffers.pop().unwrap_or_default()))
                .map(|(start, buffer)| scope.spawn(move || self.read_window(start, buffer)))
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("reading does not panic")).collect()
        })
    }

    fn read_window(self, start: u64, buffer: Vec<u8>) -> Result<Ahead, TextError> {
        let sizes = self.text.sizes;
        let end = start.saturating_add(sizes.window_bytes).min(self.text.bytes());
        let lowest = start.saturating_sub(sizes.lead_bytes).max(self.from);
        let range = self.text.floor_char(lowest)?..self.text.floor_char(end)?;
        let piece = self.text.piece(range.clone(), self.margin, buffer)?;
        let mut ahead = Ahead::new(piece, range, self.masks);
        ahead.look(self.pattern);
        Ok(ahead)
    }
}
