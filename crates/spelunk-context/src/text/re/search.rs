//! Searches a text window by window. A window is held until every match that begins before a certain offset in it is
//! final: no further text could change it. The offset follows from the pattern; see [`Traits`]. A pattern of unlimited
//! reach is stepped through the text byte by byte instead, see `stream`.

use std::collections::VecDeque;
use std::ops::Range;

use super::engine::{How, Slots};
use super::read_ahead::{Ahead, First, Masks, Order};
use super::stream::Stepper;
use super::{BACKTRACKS_MAX, PyPattern, Target, Traits};
use crate::secrets::{MappedText, REDACT_REACH_BYTES, count_chars, secrets_in_line};
use crate::text::{LazyText, TextError};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// A window of the linear engine. Fits in an L2 cache.
    pub(crate) window_bytes: u64,
    /// A window of the backtracking engine, whose steps are limited per window.
    pub(crate) backtracking_bytes: u64,
    /// The largest window, and the longest match.
    pub(crate) window_bytes_max: u64,
    /// The overlap of windows that are read ahead: it must contain everything that was not final.
    pub(crate) lead_bytes: u64,
    /// Windows searched before more are read ahead: a search often ends soon.
    pub(crate) windows_alone: u64,
}

impl Sizes {
    pub(crate) const DEFAULT: Self = Self {
        window_bytes: 512 * 1024,
        backtracking_bytes: 64 * 1024,
        window_bytes_max: 16 * 1024 * 1024,
        lead_bytes: 16 * 1024,
        windows_alone: 4,
    };
}

/// After this many lines with matches, all of a window is checked for secrets: that takes as long as a few dozen lines
/// take one by one.
const LINES_CHECKED_MAX: u32 = 32;

/// How far back from its end a window is searched for a barrier character.
const BARRIER_BYTES: usize = 64 * 1024;

pub(in crate::text) struct Hunt<'t> {
    pub(super) text: &'t LazyText,
    pub(super) pattern: &'t PyPattern,
    masks: Masks,
    /// Whether `$` may also match before the last character.
    ends_with_newline: bool,
    pub(super) window: Window,
    pub(super) slots: Slots,
    pub(super) stepper: Option<Stepper>,
    /// Set when no window had a final part: the next one would not either, and trying means reading a lot.
    pub(super) steps_only: bool,
    /// In the order of the text.
    ahead: VecDeque<Result<Ahead, TextError>>,
    buffers: Vec<Vec<u8>>,
    n_windows: u64,
}

#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) piece: MappedText,
    /// The start of the requested range: the piece has text around it.
    pub(super) from: u64,
    pub(super) end: u64,
    /// Matches that begin before this offset are final.
    settled: u64,
    is_last: bool,
    pub(super) is_masked: bool,
    /// What is known about the first match, if it was searched for ahead.
    first: First,
    /// Whether it may contain a key, once that was checked.
    may_hold_key: Option<bool>,
    /// Text that was checked for secrets and has none.
    clean: Range<usize>,
    n_lines_checked: u32,
    /// An offset in the text, and the number of characters of the document before it.
    counted: Option<(usize, u64)>,
}

enum SearchMethod {
    /// In the window.
    Window,
    /// Byte by byte: no window is large enough.
    Steps,
}

impl<'t> Hunt<'t> {
    /// `masks_first` if the text between matches is returned too.
    pub(super) fn new(
        text: &'t LazyText,
        pattern: &'t PyPattern,
        masks_first: bool,
    ) -> Result<Self, TextError> {
        let masks = match (text.reader.redacts(), masks_first || !pattern.traits.is_found_unmasked) {
            (false, _) => Masks::None,
            (true, false) if pattern.traits.takes_masks => Masks::NearKeys,
            (true, false) => Masks::Later,
            (true, true) => Masks::All,
        };
        let ends_with_newline = pattern.traits.has_dollar && text.ends_with_newline()?;
        Ok(Self {
            text,
            pattern,
            masks,
            ends_with_newline,
            window: Window::default(),
            slots: Slots::default(),
            stepper: None,
            steps_only: false,
            ahead: VecDeque::new(),
            buffers: Vec::new(),
            n_windows: 0,
        })
    }

    /// The next match at or after `from`, in the document. Its text and groups last until the next call.
    pub(super) fn find(
        &mut self,
        from: u64,
        how: How,
        wants_groups: bool,
    ) -> Result<Option<Range<u64>>, TextError> {
        let mut from = from;
        loop {
            if let SearchMethod::Steps = self.hold(from, how)? {
                return self.find_by_steps(from, how, wants_groups);
            }
            let target = self.target();
            let engine = self.pattern.engine(how, target)?;
            let start = if how == How::Search { self.window.first_from(from) } else { Some(from) };
            let mut found = None;
            if let Some(start) = start {
                let (text, at) = (&self.window.piece.text, self.window.piece.text_at(start));
                let is_plain = how == How::Search && target == Target::Linear;
                let is_found = match self.pattern.prefilter().filter(|_| is_plain) {
                    Some(prefilter) => prefilter.find(engine, text, at, wants_groups, &mut self.slots),
                    None => engine.find(text, at..text.len(), wants_groups, &mut self.slots),
                };
                let is_found = is_found.map_err(|_| self.gave_up())?;
                found = self.slots.group(0).filter(|_| is_found);
            }
            let is_last = self.window.is_last;
            let begins_before = |found: &Range<usize>| {
                is_last || self.window.piece.document_at(found.start) < self.window.settled
            };
            match found.filter(begins_before) {
                Some(found) if self.is_secret_near(&found) => self.window.mask(),
                Some(found) => {
                    let document = |at| self.window.piece.document_at(at);
                    return Ok(Some(document(found.start)..document(found.end)));
                }
                None if is_last || how != How::Search => return Ok(None),
                None => from = self.window.settled,
            }
        }
    }

    pub(in crate::text) fn group(&self, idx: usize) -> Option<&str> {
        self.window.piece.text.get(self.slots.group(idx)?)
    }

    pub(in crate::text) fn group_chars(&mut self, idx: usize) -> Result<Option<Range<u64>>, TextError> {
        let Some(group) = self.slots.group(idx) else { return Ok(None) };
        Ok(Some(self.window.char_at(group.start, self.text)?..self.window.char_at(group.end, self.text)?))
    }

    /// The text between two offsets of the document: from the window if it is there and masked, otherwise read.
    pub(super) fn between(&self, range: Range<u64>) -> Result<String, TextError> {
        let window = &self.window;
        let is_there = range.start >= window.from && range.end <= window.end;
        if is_there && (window.is_masked || !self.text.reader.redacts()) {
            let inside = window.piece.text_at(range.start)..window.piece.text_at(range.end);
            return Ok(window.piece.text.get(inside).unwrap_or_default().to_owned());
        }
        self.text.masked(range)
    }

    /// The offset after the character at `at`; `None` at the end of the text.
    pub(super) fn behind_char(&self, at: u64) -> Result<Option<u64>, TextError> {
        if at >= self.text.bytes() {
            return Ok(None);
        }
        let read;
        let piece = if at >= self.window.from && at < self.window.end {
            &self.window.piece
        } else {
            read = self.text.piece(at..at, 0, Vec::new())?;
            &read
        };
        let start = piece.text_at(at);
        let first = piece.text.get(start..).unwrap_or_default().chars().next();
        Ok(Some(piece.document_at(start + first.map_or(0, char::len_utf8))))
    }

    fn target(&self) -> Target {
        let looks_ahead = self.window.is_last && self.ends_with_newline;
        if self.pattern.traits.needs_backtracking || looks_ahead {
            Target::Backtracking
        } else {
            Target::Linear
        }
    }

    fn gave_up(&self) -> TextError {
        TextError::Backtracks { name: self.text.name().to_owned(), steps_max: BACKTRACKS_MAX as u64 }
    }

    /// Ensures that the window can decide a match at `from`, or returns how else to search.
    fn hold(&mut self, from: u64, how: How) -> Result<SearchMethod, TextError> {
        if self.window.decides(from, how) {
            return Ok(SearchMethod::Window);
        }
        let Sizes { window_bytes, backtracking_bytes, window_bytes_max, .. } = self.text.sizes;
        let bytes_left = self.text.bytes().saturating_sub(from);
        let traits = &self.pattern.traits;
        let mut bytes = match (how, traits.needs_backtracking) {
            // Whether a full match extends to the end can only be decided there.
            (How::FullMatch, _) => bytes_left.min(window_bytes_max),
            (How::Search | How::Match | How::Longer, true) => backtracking_bytes,
            (How::Search | How::Match | How::Longer, false) => window_bytes,
        };
        let may_be_sure = how != How::FullMatch && traits.may_be_sure() && !self.steps_only;
        while may_be_sure || bytes_left <= bytes {
            self.load(from, bytes)?;
            if self.window.decides(from, how) {
                return Ok(SearchMethod::Window);
            }
            if bytes >= window_bytes_max {
                break;
            }
            bytes = bytes.saturating_mul(4).min(window_bytes_max);
        }
        self.hold_unsure(from, how)
    }

    fn hold_unsure(&mut self, from: u64, how: How) -> Result<SearchMethod, TextError> {
        let traits = &self.pattern.traits;
        let may_step = !traits.needs_backtracking && !traits.may_be_empty && !self.ends_with_newline;
        if may_step && how != How::Longer {
            if self.stepper.as_ref().is_none_or(|stepper| stepper.how != how) {
                self.stepper = Some(Stepper::new(self.pattern, how));
            }
            if self.stepper.as_ref().is_some_and(|stepper| stepper.automata.is_some()) {
                self.steps_only = true;
                return Ok(SearchMethod::Steps);
            }
        }
        self.load(from, self.text.sizes.window_bytes_max)?;
        if self.window.is_last { Ok(SearchMethod::Window) } else { Err(self.too_long()) }
    }

    pub(super) fn too_long(&self) -> TextError {
        let bytes_max = self.text.sizes.window_bytes_max;
        TextError::MatchTooLong { name: self.text.name().to_owned(), bytes_max }
    }

    fn load(&mut self, from: u64, bytes: u64) -> Result<(), TextError> {
        let margin = self.text.margin().max(self.pattern.traits.behind_bytes);
        self.buffers.push(std::mem::take(&mut self.window.piece).text.into_bytes());
        let ahead = match self.take_ahead(from, bytes, margin)? {
            Some(ahead) => ahead,
            None => {
                let end = self.text.floor_char(from.saturating_add(bytes).min(self.text.bytes()))?.max(from);
                let piece = self.text.piece(from..end, margin, self.buffers.pop().unwrap_or_default())?;
                Ahead::new(piece, from..end, self.masks)
            }
        };
        let Ahead { piece, range: Range { end, .. }, is_masked, first } = ahead;
        let is_last = piece.end == self.text.bytes();
        let settled = if is_last { piece.end } else { settled(&piece, from, end, &self.pattern.traits) };
        self.window = Window { piece, from, end, settled, is_last, is_masked, first, ..Window::default() };
        Ok(())
    }

    fn take_ahead(&mut self, from: u64, bytes: u64, margin: u64) -> Result<Option<Ahead>, TextError> {
        let Sizes { window_bytes, windows_alone, .. } = self.text.sizes;
        self.n_windows += 1;
        if bytes != window_bytes || self.n_windows <= windows_alone {
            return Ok(None);
        }
        let is_passed = |ahead: &mut Result<Ahead, _>| ahead.as_ref().is_ok_and(|it| it.range.end <= from);
        while let Some(Ok(passed)) = self.ahead.pop_front_if(is_passed) {
            self.buffers.push(passed.piece.text.into_bytes());
        }
        if self.ahead.is_empty() {
            let order = Order { text: self.text, pattern: self.pattern, from, margin, masks: self.masks };
            self.ahead = order.read(&mut self.buffers).into();
        }
        let is_next = |ahead: &mut Result<Ahead, _>| ahead.as_ref().map_or(true, |it| it.range.start <= from);
        self.ahead.pop_front_if(is_next).transpose()
    }

    /// Whether the window is to be masked before this match is trusted. Only the lines of the match matter, because
    /// no secret except a key depends on anything outside its line.
    fn is_secret_near(&mut self, found: &Range<usize>) -> bool {
        let window = &mut self.window;
        if window.is_masked || !self.text.reader.redacts() {
            return false;
        }
        if *window.may_hold_key.get_or_insert_with(|| window.piece.may_hold_key()) {
            return true;
        }
        let text = window.piece.text.as_bytes();
        if window.clean.start <= found.start && found.end <= window.clean.end {
            return false;
        }
        window.n_lines_checked += 1;
        if window.n_lines_checked > LINES_CHECKED_MAX {
            // The next windows probably have as many: the threads that read them ahead mask them.
            self.masks = Masks::All;
            return true;
        }
        let lowest = found.start.saturating_sub(REDACT_REACH_BYTES);
        let highest = found.end.saturating_add(REDACT_REACH_BYTES).min(text.len());
        let start = memchr::memrchr(b'\n', &text[lowest..found.start]).map_or(lowest, |at| lowest + at + 1);
        let end = memchr::memchr(b'\n', &text[found.end..highest]).map_or(highest, |at| found.end + at);
        let is_secret = !secrets_in_line(&text[start..end]).is_empty();
        if !is_secret {
            window.clean = if start > lowest || lowest == 0 { start..end } else { found.clone() };
        }
        is_secret
    }
}

/// The offset in the document up to which the matches of a window are final.
fn settled(piece: &MappedText, from: u64, end: u64, traits: &Traits) -> u64 {
    if let Some(reach) = traits.sure_reach_bytes() {
        let at = piece.text_at(end).saturating_sub(usize::try_from(reach).unwrap_or(usize::MAX));
        return piece.document_at(piece.text.floor_char_boundary(at)).max(from);
    }
    let body = piece.text.get(..piece.text_at(end)).unwrap_or_default();
    let barrier = traits.barrier.as_ref().and_then(|barrier| barrier.last_end(body, BARRIER_BYTES));
    barrier.map_or(from, |at| piece.document_at(at).max(from))
}

impl Window {
    /// A window in which nothing is final: for stepping, not for the engines.
    pub(super) fn for_steps(piece: MappedText, from: u64, end: u64) -> Self {
        Self { piece, from, end, is_masked: true, ..Self::default() }
    }

    fn decides(&self, from: u64, how: How) -> bool {
        from >= self.from && (self.is_last || (from < self.settled && how != How::FullMatch))
    }

    /// The earliest offset at or after `from` where a match may begin; `None` if there is no match.
    fn first_from(&self, from: u64) -> Option<u64> {
        match self.first {
            First::Unknown => Some(from),
            First::At(first) => Some(first.max(from)).filter(|first| *first < self.settled || self.is_last),
            First::None => None,
        }
    }

    fn mask(&mut self) {
        self.piece.mask();
        self.is_masked = true;
        self.counted = None;
    }

    fn char_at(&mut self, at: usize, text: &LazyText) -> Result<u64, TextError> {
        let count = |from: usize, to: usize| count_chars(&self.piece.text.as_bytes()[from..to]);
        let char = match self.counted {
            Some((known, char)) if known <= at => char + count(known, at),
            Some((known, char)) => char - count(at, known),
            None => text.at_byte(self.piece.document_at(at))?.char,
        };
        self.counted = Some((at, char));
        Ok(char)
    }
}
