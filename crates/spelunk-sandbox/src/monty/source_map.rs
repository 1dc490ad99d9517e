//! A modified text that knows where its parts come from: maps a position in what runs to the position in what the model
//! wrote. Tracebacks depend on it.

use std::ops::Range;

/// A text under construction.
#[derive(Debug, Default, Clone)]
pub(super) struct SourceMap {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    /// A range of the original.
    Kept(Range<usize>),
    /// New text, attributed to a position of the original.
    New(String, usize),
}

/// A finished text.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    /// The code that runs.
    pub(super) text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    at: usize,
    original: usize,
    is_new: bool,
}

impl SourceMap {
    /// New text at a position of the original.
    pub(super) fn new(text: impl Into<String>, at: usize) -> Self {
        Self { pieces: vec![Piece::New(text.into(), at)] }
    }

    /// An unchanged range of the original.
    pub(super) fn kept(range: Range<usize>) -> Self {
        Self { pieces: vec![Piece::Kept(range)] }
    }

    pub(super) fn push(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
    }

    pub(super) fn keep(&mut self, range: Range<usize>) {
        if range.start < range.end {
            self.pieces.push(Piece::Kept(range));
        }
    }

    pub(super) fn add(&mut self, text: impl Into<String>, at: usize) {
        self.pieces.push(Piece::New(text.into(), at));
    }

    /// The text with a prefix and a suffix.
    pub(super) fn wrapped(
        self,
        before: impl Into<String>,
        after: impl Into<String>,
        range: &Range<usize>,
    ) -> Self {
        let mut out = Self::new(before, range.start);
        out.push(self);
        out.add(after, range.end);
        out
    }

    /// Whether none of it is new.
    pub(super) fn is_original(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Kept(_)))
    }

    /// The assembled text.
    pub(super) fn finish(&self, source: &str) -> Rewritten {
        let mut out = Rewritten::default();
        for piece in &self.pieces {
            match piece {
                Piece::Kept(range) => {
                    out.parts.push(Part { at: out.text.len(), original: range.start, is_new: false });
                    out.text.push_str(source.get(range.clone()).expect("ranges are those of tokens"));
                }
                Piece::New(text, at) => {
                    out.parts.push(Part { at: out.text.len(), original: *at, is_new: true });
                    out.text.push_str(text);
                }
            }
        }
        out
    }
}

impl Rewritten {
    /// The position in the original text.
    pub(super) fn original(&self, at: usize) -> usize {
        let idx = self.parts.partition_point(|part| part.at <= at);
        let Some(part) = idx.checked_sub(1).and_then(|idx| self.parts.get(idx)) else { return 0 };
        if part.is_new { part.original } else { part.original + (at - part.at) }
    }
}
