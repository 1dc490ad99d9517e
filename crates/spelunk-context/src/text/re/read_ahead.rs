//! Reads, decodes and masks text ahead of a search, on other threads. They deliver exactly what the search would have
//! read itself: results do not depend on the number or speed of threads.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::engine::{How, Slots};
use super::search::settled;
use super::{PyPattern, Target};
use crate::reader::threads_for;
use crate::text::piece::Piece;
use crate::text::{LazyText, TextError};

/// Work for another thread.
pub(super) type Job<'t> = Box<dyn FnOnce() + Send + 't>;

/// Starts a thread that ends before the search does.
pub(super) type Spawn<'t> = Box<dyn Fn(Job<'t>) + 't>;

/// Pieces in text order.
pub(super) struct Feed {
    lanes: Vec<Lane>,
    n_taken: usize,
    pending: Option<Ahead>,
}

/// One thread: its output, and buffers for it to reuse.
struct Lane {
    pieces: Receiver<Result<Ahead, TextError>>,
    buffers: Sender<Vec<u8>>,
}

/// A piece, and the range of it that may be searched. Ranges overlap, because a search begins where the last one was
/// final.
pub(super) struct Ahead {
    pub(super) piece: Piece,
    pub(super) range: Range<u64>,
    pub(super) is_masked: bool,
    pub(super) first: First,
    /// Up to where matches are final, if nothing was found and the text was withheld.
    pub(super) settled: Option<u64>,
}

/// Where the first match in a piece begins, as an offset in the document. No match in the masked text begins before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum First {
    #[default]
    Unknown,
    At(u64),
    None,
}

/// What is masked before a search.
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
    pub(super) fn new(mut piece: Piece, range: Range<u64>, masks: Masks) -> Self {
        let is_masked = match masks {
            Masks::None | Masks::Later => false,
            Masks::NearKeys => piece.may_hold_key(),
            Masks::All => true,
        };
        if is_masked {
            piece.mask();
        }
        Self { piece, range, is_masked, first: First::Unknown, settled: None }
    }

    /// Looks for the first match in advance.
    fn look(&mut self, pattern: &PyPattern, slots: &mut Slots) {
        let is_plain = !pattern.traits.needs_backtracking && !pattern.traits.has_dollar;
        let Some(engine) = pattern.engine(How::Search, Target::Linear).ok().filter(|_| is_plain) else {
            return;
        };
        let (text, at) = (&self.piece.text, self.piece.text_at(self.range.start));
        let is_found = match pattern.sieve() {
            Some(sieve) => sieve.find(engine, text, at, false, slots),
            None => engine.find(text, at, false, slots).unwrap_or(false),
        };
        let found = slots.group(0).filter(|_| is_found);
        self.first = found.map_or(First::None, |found| First::At(self.piece.document_at(found.start)));
    }
}

impl Ahead {
    /// Drops the text if nothing was found in it and it is not needed. The buffer stays with its thread, and in the
    /// cache of its core.
    fn lightened(self, order: &Order<'_>, bytes: u64) -> (Self, Vec<u8>) {
        let traits = &order.pattern.traits;
        let is_wanted = self.first != First::None
            || order.masks == Masks::All
            || traits.may_be_empty
            || self.piece.end == bytes;
        if is_wanted {
            return (self, Vec::new());
        }
        let settled = settled(&self.piece, self.range.start, self.range.end, traits);
        (Self { piece: Piece::default(), settled: Some(settled), ..self }, self.piece.into_buffer())
    }
}

/// What to read, and for which search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'t> {
    pub(super) pattern: &'t PyPattern,
    pub(super) from: u64,
    pub(super) window_bytes: u64,
    /// The overlap of each window with the previous one.
    pub(super) lead_bytes: u64,
    pub(super) margin: u64,
    pub(super) masks: Masks,
}

impl Feed {
    /// Starts reading; `None` if there are no threads for it.
    pub(super) fn start<'t>(text: &'t LazyText, order: Order<'t>, spawn: &Spawn<'t>) -> Option<Self> {
        let n_lanes = threads_for(text.bytes().saturating_sub(order.from)).get();
        if n_lanes == 1 {
            return None;
        }
        let mut lanes = Vec::new();
        for lane in 0..n_lanes {
            let (sender, pieces) = sync_channel(1);
            let (buffers, used) = channel();
            spawn(Box::new(move || work(text, order, lane..n_lanes, &sender, &used)));
            lanes.push(Lane { pieces, buffers });
        }
        Some(Self { lanes, n_taken: 0, pending: None })
    }

    /// The piece in which a search from `from` can begin; `None` if it was already passed or there are no more. The
    /// buffer is reused for a later piece.
    pub(super) fn take(&mut self, from: u64, buffer: Vec<u8>) -> Result<Option<Ahead>, TextError> {
        let mut buffer = Some(buffer);
        loop {
            let Some(ahead) = self.pending.take() else {
                let n_lanes = self.lanes.len();
                let lane = &self.lanes[self.n_taken % n_lanes];
                // Return the buffer to its thread: it may still be in the cache of that core.
                let maker = &self.lanes[(self.n_taken + n_lanes - 1) % n_lanes];
                if let Some(buffer) = buffer.take().filter(|buffer| buffer.capacity() > 0) {
                    // A thread that has finished needs no buffer.
                    drop(maker.buffers.send(buffer));
                }
                let Ok(received) = lane.pieces.recv() else { return Ok(None) };
                self.n_taken += 1;
                self.pending = Some(received?);
                continue;
            };
            if ahead.range.end <= from {
                buffer = Some(ahead.piece.into_buffer());
            } else if ahead.range.start <= from {
                return Ok(Some(ahead));
            } else {
                self.pending = Some(ahead);
                return Ok(None);
            }
        }
    }
}

/// Produces every n-th piece until no more are wanted.
fn work(
    text: &LazyText,
    order: Order<'_>,
    lanes: Range<usize>,
    sender: &SyncSender<Result<Ahead, TextError>>,
    used: &Receiver<Vec<u8>>,
) {
    let (mut idx, mut slots, mut own) = (lanes.start as u64, Slots::default(), Vec::new());
    loop {
        let start = order.from + idx * order.window_bytes;
        if start >= text.bytes() {
            return;
        }
        let buffer =
            if own.capacity() > 0 { std::mem::take(&mut own) } else { used.try_recv().unwrap_or_default() };
        let mut made = read_ahead(text, order, start, buffer);
        if let Ok(mut ahead) = made {
            ahead.look(order.pattern, &mut slots);
            let (ahead, kept) = ahead.lightened(&order, text.bytes());
            (made, own) = (Ok(ahead), kept);
        }
        let is_over = made.is_err();
        if sender.send(made).is_err() || is_over {
            return;
        }
        idx += lanes.end as u64;
    }
}

fn read_ahead(text: &LazyText, order: Order<'_>, start: u64, buffer: Vec<u8>) -> Result<Ahead, TextError> {
    let end = start.saturating_add(order.window_bytes).min(text.bytes());
    let range = text.floor_char(start.saturating_sub(order.lead_bytes))?..text.floor_char(end)?;
    let piece = text.piece(range.clone(), order.margin, buffer)?;
    Ok(Ahead::new(piece, range, order.masks))
}
