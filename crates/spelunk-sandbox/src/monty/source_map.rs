//! A modified text that maps positions in what runs to positions in what the model wrote, for tracebacks.

use std::ops::Range;

#[derive(Debug, Default, Clone)]
pub(super) struct SourceMap {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone)]
enum Segment {
    /// A range of the original.
    Kept(Range<usize>),
    /// New text, attributed to a position of the original.
    New(String, usize),
}

#[derive(Debug, Default)]
pub(super) struct Rewritten {
    pub(super) text: String,
    origins: Vec<Origin>,
}

#[derive(Debug, Clone, Copy)]
struct Origin {
    at: usize,
    original: usize,
    is_new: bool,
}

impl SourceMap {
    pub(super) fn new(text: impl Into<String>, at: usize) -> Self {
        Self { segments: vec![Segment::New(text.into(), at)] }
    }

    pub(super) fn kept(range: Range<usize>) -> Self {
        Self { segments: vec![Segment::Kept(range)] }
    }

    pub(super) fn push(&mut self, other: Self) {
        self.segments.extend(other.segments);
    }

    pub(super) fn keep(&mut self, range: Range<usize>) {
        if range.start < range.end {
            self.segments.push(Segment::Kept(range));
        }
    }

    pub(super) fn add(&mut self, text: impl Into<String>, at: usize) {
        self.segments.push(Segment::New(text.into(), at));
    }

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

    pub(super) fn is_original(&self) -> bool {
        self.segments.iter().all(|segment| matches!(segment, Segment::Kept(_)))
    }

    pub(super) fn finish(&self, source: &str) -> Rewritten {
        let mut out = Rewritten::default();
        for segment in &self.segments {
            match segment {
                Segment::Kept(range) => {
                    out.origins.push(Origin { at: out.text.len(), original: range.start, is_new: false });
                    out.text.push_str(source.get(range.clone()).expect("ranges are those of tokens"));
                }
                Segment::New(text, at) => {
                    out.origins.push(Origin { at: out.text.len(), original: *at, is_new: true });
                    out.text.push_str(text);
                }
            }
        }
        out
    }
}

impl Rewritten {
    pub(super) fn original(&self, at: usize) -> usize {
        let idx = self.origins.partition_point(|origin| origin.at <= at);
        let Some(origin) = idx.checked_sub(1).and_then(|idx| self.origins.get(idx)) else { return 0 };
        if origin.is_new { origin.original } else { origin.original + (at - origin.at) }
    }
}
