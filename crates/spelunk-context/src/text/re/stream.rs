//! Matches without holding the text, with two automata that keep only a state. One runs forward to the end of the
//! leftmost match, the other back from there to its beginning. Linear in the text read, at any distance.

use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use super::engine::How;
use super::search::{Hunt, Window};
use super::{Emitter, PyPattern, Target};
use crate::text::TextError;

const CACHE_BYTES_MAX: usize = 2 * 1024 * 1024;
const NFA_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Two automata for one pattern and one way to search, or the fact that they cannot be built.
pub(super) struct Stepper {
    pub(super) how: How,
    /// The one that runs forward, and the one that runs back.
    pub(super) automata: Option<(Automaton, Automaton)>,
}

pub(super) struct Automaton {
    dfa: DFA,
    cache: Cache,
}

enum Stop {
    Text(TextError),
    /// A character that it cannot handle: a letter beyond ASCII if word boundaries matter.
    Quit,
}

impl From<TextError> for Stop {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl Stepper {
    pub(super) fn new(pattern: &PyPattern, how: How) -> Self {
        let emitter = Emitter { target: Target::Linear, words: pattern.traits.words, names: &[] };
        let body = emitter.pattern(pattern.node());
        let whole = if how == How::FullMatch { format!("(?:{body})\\z") } else { body };
        let forward = Automaton::new(&whole, Config::new().match_kind(MatchKind::LeftmostFirst), false);
        let backward = Automaton::new(&whole, Config::new().match_kind(MatchKind::All), true);
        Self { how, automata: forward.zip(backward) }
    }
}

impl Automaton {
    fn new(pattern: &str, config: Config, is_backward: bool) -> Option<Self> {
        let config = config
            .cache_capacity(CACHE_BYTES_MAX)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true);
        let captures = thompson::WhichCaptures::None;
        let thompson = thompson::Config::new()
            .reverse(is_backward)
            .which_captures(captures)
            .nfa_size_limit(Some(NFA_BYTES_MAX));
        let dfa = DFA::builder().configure(config).thompson(thompson).build(pattern).ok()?;
        let cache = dfa.create_cache();
        Some(Self { dfa, cache })
    }

    /// The initial state. `behind` is the byte before the first step.
    fn start(&mut self, anchored: Anchored, behind: Option<u8>) -> Result<LazyStateID, Stop> {
        let config = start::Config::new().anchored(anchored).look_behind(behind);
        self.dfa.start_state(&mut self.cache, &config).map_err(|_| Stop::Quit)
    }

    /// Advances by one byte. Most states are plain and already cached.
    #[inline]
    fn step(&mut self, state: LazyStateID, byte: u8) -> Result<LazyStateID, Stop> {
        if !state.is_tagged() {
            let next = self.dfa.next_state_untagged(&self.cache, state, byte);
            if !next.is_tagged() {
                return Ok(next);
            }
        }
        let next = self.dfa.next_state(&mut self.cache, state, byte).map_err(|_| Stop::Quit)?;
        if next.is_quit() { Err(Stop::Quit) } else { Ok(next) }
    }

    fn finish(&mut self, state: LazyStateID) -> Result<bool, Stop> {
        self.dfa.next_eoi_state(&mut self.cache, state).map(|last| last.is_match()).map_err(|_| Stop::Quit)
    }
}

impl Hunt<'_> {
    pub(super) fn find_by_steps(
        &mut self,
        from: u64,
        how: How,
        wants_groups: bool,
    ) -> Result<Option<Range<u64>>, TextError> {
        let Some(mut automata) = self.stepper.as_mut().and_then(|stepper| stepper.automata.take()) else {
            return self.find(from, how, wants_groups);
        };
        let found = match self.step_both(&mut automata, from, how) {
            Ok(found) => found,
            Err(Stop::Text(error)) => return Err(error),
            // The automata cannot continue, so windows decide from now on.
            Err(Stop::Quit) => {
                self.steps_only = false;
                return self.find(from, how, wants_groups);
            }
        };
        self.stepper = Some(Stepper { how, automata: Some(automata) });
        let Some(found) = found else { return Ok(None) };
        if found.end - found.start > self.text.sizes.window_bytes_max {
            return Err(self.too_long());
        }
        if found.start < self.window.from || found.end > self.window.end {
            self.load_steps(found.start, found.end - found.start)?;
        }
        let inside = self.window.piece.text_at(found.start)..self.window.piece.text_at(found.end);
        let at_start = if how == How::Search { How::Match } else { how };
        let engine = self.pattern.engine(at_start, Target::Linear)?;
        let text = &self.window.piece.text;
        let is_found = engine.find(text, inside, wants_groups, &mut self.slots);
        Ok(Some(found).filter(|_| is_found == Ok(true)))
    }

    fn step_both(
        &mut self,
        (forward, backward): &mut (Automaton, Automaton),
        from: u64,
        how: How,
    ) -> Result<Option<Range<u64>>, Stop> {
        let anchored = if how == How::Search { Anchored::No } else { Anchored::Yes };
        let Some(end) = self.step_forward(forward, from, anchored)? else { return Ok(None) };
        let start = match anchored {
            Anchored::No => self.step_backward(backward, from, end)?,
            Anchored::Yes | Anchored::Pattern(_) => from,
        };
        Ok(Some(start..end))
    }

    /// The end of the leftmost match. A match is detected one byte after its end.
    fn step_forward(
        &mut self,
        automaton: &mut Automaton,
        from: u64,
        anchored: Anchored,
    ) -> Result<Option<u64>, Stop> {
        let behind = self.byte_before(from)?;
        let mut state = automaton.start(anchored, behind)?;
        let (mut at, mut found) = (from, None);
        while at < self.text.bytes() {
            self.hold_step(at)?;
            let piece = &self.window.piece;
            let (first, last) = (piece.text_at(at), piece.text_at(self.window.end));
            for (idx, &byte) in piece.text.as_bytes()[first..last].iter().enumerate() {
                state = automaton.step(state, byte)?;
                if state.is_tagged() {
                    if state.is_match() {
                        found = Some(piece.document_at(first + idx));
                    } else if state.is_dead() {
                        return Ok(found);
                    }
                }
            }
            at = self.window.end;
        }
        Ok(if automaton.finish(state)? { Some(self.text.bytes()) } else { found })
    }

    /// The start of the match that ends at `end`, not before `lowest`.
    fn step_backward(&mut self, automaton: &mut Automaton, lowest: u64, end: u64) -> Result<u64, Stop> {
        let behind = self.byte_after(end)?;
        let mut state = automaton.start(Anchored::Yes, behind)?;
        let (mut at, mut found) = (end, end);
        while at > lowest {
            let from = self.hold_step_before(at, lowest)?;
            let piece = &self.window.piece;
            let (first, last) = (piece.text_at(from), piece.text_at(at));
            for (idx, &byte) in piece.text.as_bytes()[first..last].iter().enumerate().rev() {
                state = automaton.step(state, byte)?;
                if state.is_tagged() {
                    if state.is_match() {
                        found = piece.document_at(first + idx + 1);
                    } else if state.is_dead() {
                        return Ok(found);
                    }
                }
            }
            at = from;
        }
        let is_match = match self.byte_before(lowest)? {
            Some(byte) => automaton.step(state, byte)?.is_match(),
            None => automaton.finish(state)?,
        };
        Ok(if is_match { lowest } else { found })
    }

    fn byte_before(&mut self, at: u64) -> Result<Option<u8>, TextError> {
        if at == 0 {
            return Ok(None);
        }
        if at <= self.window.from || at > self.window.end || !self.is_shown() {
            self.load_steps(self.text.floor_char(at - 1)?, self.text.sizes.window_bytes)?;
        }
        let piece = &self.window.piece;
        Ok(piece.text_at(at).checked_sub(1).and_then(|idx| piece.text.as_bytes().get(idx).copied()))
    }

    fn byte_after(&mut self, at: u64) -> Result<Option<u8>, TextError> {
        if at >= self.text.bytes() {
            return Ok(None);
        }
        // A piece has more text than requested, and the first byte of a mask is not a letter in either case.
        self.hold_step(at)?;
        let piece = &self.window.piece;
        Ok(piece.text.as_bytes().get(piece.text_at(at)).copied())
    }

    fn is_shown(&self) -> bool {
        self.window.is_masked || !self.text.reader.redacts()
    }

    fn hold_step(&mut self, at: u64) -> Result<(), TextError> {
        if at < self.window.from || at >= self.window.end || !self.is_shown() {
            self.load_steps(at, self.text.sizes.window_bytes)?;
        }
        Ok(())
    }

    /// Holds the text before an offset, and returns where it begins.
    fn hold_step_before(&mut self, at: u64, lowest: u64) -> Result<u64, TextError> {
        if at <= self.window.from || at > self.window.end || !self.is_shown() {
            let from = self.text.floor_char(at.saturating_sub(self.text.sizes.window_bytes))?;
            // A window of one byte may begin inside a character.
            let from = if from < at { from } else { self.text.floor_char(at - 1)? };
            self.load_steps(from, at - from)?;
        }
        Ok(self.window.from.max(lowest))
    }

    fn load_steps(&mut self, from: u64, bytes: u64) -> Result<(), TextError> {
        let wanted = from.saturating_add(bytes.max(4)).min(self.text.bytes());
        let end = self.text.floor_char(wanted)?;
        let buffer = std::mem::take(&mut self.window.piece).text.into_bytes();
        let mut piece = self.text.piece(from..end, self.text.margin().max(4), buffer)?;
        self.text.mask(&mut piece);
        self.window = Window::for_steps(piece, from, end);
        Ok(())
    }
}
