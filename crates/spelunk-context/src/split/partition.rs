//! The partitioner: splits a document into chunks, by the target of its type and under the token ceiling.

use std::ops::Range;
use std::sync::Arc;

use spelunk_types::Limits;

use super::assemble::{Draft, Overlap, assemble};
use super::chunk::{Chunk, Units};
use super::target::{partitions_expected, target_records, target_rows, target_units};
use super::{by_line, code, json, log, plain, prose, slice};
use crate::kind::delimited::Shape;
use crate::kind::{ContentType, CustomKind, Detected};
use crate::lines::{count_lines, line_marks};
use crate::pack::{Cut, Mark, SpanSizes, Strength, group};

/// Bytes that count as one token. Providers count differently; this is for planning.
const TOKEN_BYTES: u64 = 4;
const BESIDE_SHARE: usize = 8;

/// The maximum number of chunks that the target of a type makes of one document; chunks of longer documents are larger.
/// A line may be empty and a chunk takes some hundred bytes, so without this a plan could be larger than its text.
const CHUNKS_MAX: u64 = 20_000;

/// The size of a line number as shown to an analyst: line numbers alone must not fill a chunk.
const NUMBER_BYTES: u64 = 16;

/// The estimated number of tokens in `bytes` bytes of text.
pub fn estimate_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}

/// How documents are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By the rules of their type.
    ByType,
    /// By tokens with an overlap, whatever their type.
    Plain,
}

/// A document with its text.
#[derive(Debug, Clone, Copy)]
pub struct DocText<'t> {
    /// Its index in the corpus.
    pub idx: u32,
    /// Its name.
    pub name: &'t str,
    /// Its whole text.
    pub text: &'t str,
    /// Its format.
    pub detected: &'t Detected,
}

/// A document split into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cutting {
    /// The number of lines of the document.
    pub lines: u64,
    /// Its length in the unit of its format.
    pub units: Units,
    /// The number of chunks that the target alone would give.
    pub partitions_expected: u64,
    /// Their spans cover the text in order. An empty text has none.
    pub chunks: Vec<Chunk>,
}

/// Splits documents into chunks.
#[derive(Debug, Clone, Copy)]
pub struct Partitioner<'l> {
    limits: &'l Limits,
    mode: Mode,
    chunks_max: u64,
}

/// The cuts of a text by the rules of its type, and what is shown before each chunk.
struct Drafts {
    parts: Vec<Draft>,
    prelude: Option<Range<usize>>,
    units: fn(u64) -> Units,
    n_units: u64,
    target: u64,
}

impl<'l> Partitioner<'l> {
    /// A partitioner with these limits.
    pub fn new(limits: &'l Limits, mode: Mode) -> Self {
        Self { limits, mode, chunks_max: CHUNKS_MAX }
    }

    /// Limits the chunks of a part of a document to its share of the whole.
    #[must_use]
    pub(crate) fn with_share(self, bytes: u64, of_bytes: u64) -> Self {
        let share = CHUNKS_MAX.saturating_mul(bytes) / of_bytes.max(1);
        Self { chunks_max: share.clamp(1, CHUNKS_MAX), ..self }
    }

    /// Splits a document.
    pub fn cut(&self, document: DocText<'_>) -> Cutting {
        let Drafts { parts, prelude, units, n_units, target } = self.drafts(document);
        let name: Arc<str> = document.name.into();
        // A prelude and an overlap share one budget.
        let prelude_bytes = prelude.as_ref().map_or(0, ExactSizeIterator::len);
        let overlap_bytes_max = (self.bytes_max() / BESIDE_SHARE).saturating_sub(prelude_bytes);
        let (mut chunks, lines) = assemble(document.text, parts, prelude, overlap_bytes_max);
        let n_chunks = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        for chunk in &mut chunks {
            chunk.document_idx = document.idx;
            chunk.document = Arc::clone(&name);
            chunk.n_chunks = n_chunks;
            chunk.units = units(chunk.units.count());
        }
        let partitions_expected = partitions_expected(n_units, target);
        Cutting { lines, units: units(n_units), partitions_expected, chunks }
    }

    /// The length of a document, without splitting it. Broken JSON is measured as far as it is valid.
    pub fn measure(&self, document: DocText<'_>) -> (u64, Units) {
        let DocText { text, detected, .. } = document;
        let lines = count_lines(text);
        let has_own_rule = detected.custom.as_ref().is_some_and(|kind| kind.boundary.is_some());
        if self.mode == Mode::Plain || has_own_rule {
            return (lines, Units::Lines(lines));
        }
        if detected.content_type == ContentType::StructuredData {
            let rows = by_line::row_marks(text, &Shape::of(text)).last().map_or(0, |mark| mark.units);
            return (lines, Units::Rows(rows));
        }
        let is_json = detected.content_type == ContentType::Json && self.bytes_max() >= json::BYTES_MIN;
        let elements = if is_json { json::count_elements(text) } else { None };
        (lines, elements.map_or(Units::Lines(lines), Units::Elements))
    }

    fn bytes_max(&self) -> usize {
        usize::try_from(self.limits.chunk_tokens_max.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX).max(1)
    }

    fn bytes_own_max(&self) -> usize {
        self.bytes_max() - self.bytes_max() / BESIDE_SHARE
    }

    fn drafts(&self, document: DocText<'_>) -> Drafts {
        let DocText { text, detected, .. } = document;
        if self.mode == Mode::Plain {
            return self.plain(text);
        }
        let kind = detected.custom.as_deref();
        if let Some(boundary) = kind.and_then(|kind| kind.boundary.as_ref()) {
            let target = self.long(self.target(detected.content_type, kind), text);
            let room = SpanSizes::around(target, self.bytes_own_max());
            return by_lines(text, by_line::custom_marks(text, boundary), &room, &|_| Overlap::None);
        }
        match detected.content_type {
            ContentType::SourceCode => self.code(text, detected),
            ContentType::StructuredData => self.table(text, kind),
            ContentType::Json => self.json(text, kind),
            ContentType::Jsonl => self.jsonl(text, kind),
            ContentType::Log => self.log(text, kind),
            ContentType::Prose => self.prose(text, kind),
            ContentType::Markup | ContentType::Config | ContentType::Unknown => {
                self.other(text, self.target(detected.content_type, kind))
            }
        }
    }

    fn target(&self, content_type: ContentType, kind: Option<&CustomKind>) -> u64 {
        let own = kind.and_then(|kind| kind.target_lines);
        own.unwrap_or_else(|| target_units(self.limits, content_type)).max(1)
    }

    /// The target, or more if it would make too many chunks of a text.
    fn long(&self, target: u64, text: &str) -> u64 {
        let needed =
            count_lines(text).div_ceil(self.chunks_max).min(self.bytes_own_max() as u64 / NUMBER_BYTES);
        target.max(needed)
    }

    fn code(&self, text: &str, detected: &Detected) -> Drafts {
        let target = self.long(self.target(ContentType::SourceCode, detected.custom.as_deref()), text);
        let prelude = code::prelude_of(text, self.bytes_max() / BESIDE_SHARE);
        let room = SpanSizes::around(target, self.bytes_own_max());
        // A text that fits into one chunk is not cut, so boundaries are not needed.
        if text.len() <= self.bytes_own_max() && count_lines(text) <= target {
            let whole = by_lines(text, code::marks(text, &[]), &room, &|_| Overlap::None);
            return Drafts { prelude, ..whole };
        }
        let places = code::places(text);
        if !places.iter().any(|place| place.strength >= Strength::Item) {
            return Drafts { prelude, ..self.other(text, target) };
        }
        let marks = code::marks(text, &places);
        let mut drafts = by_lines(text, marks, &room, &|_| Overlap::None);
        let mut start = 0;
        for draft in &mut drafts.parts {
            draft.scope = if start > 0 { code::scope_of(text, start) } else { None };
            start = draft.end;
        }
        Drafts { prelude, ..drafts }
    }

    fn table(&self, text: &str, kind: Option<&CustomKind>) -> Drafts {
        let shape = Shape::of(text);
        let own = kind.and_then(|kind| kind.target_lines);
        let target = own.unwrap_or_else(|| target_rows(self.limits, &shape));
        let target = self.long(target, text);
        let is_short = shape.header.len() <= self.bytes_max() / BESIDE_SHARE;
        let room = SpanSizes::exactly(target, self.bytes_own_max());
        let drafts = by_lines(text, by_line::row_marks(text, &shape), &room, &|_| Overlap::None);
        let prelude = Some(shape.header).filter(|header| is_short && !header.is_empty());
        Drafts { prelude, units: Units::Rows, ..drafts }
    }

    fn json(&self, text: &str, kind: Option<&CustomKind>) -> Drafts {
        let target = self.target(ContentType::Json, kind);
        let Some(cutting) = json::cut(text, target, self.bytes_max()) else {
            // Several values in one file are treated as lines; broken JSON as text.
            let first = slice(text, 0..memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len()));
            return match json::count_elements(first) {
                Some(_) => self.jsonl(text, None),
                None => self.other(text, target_units(self.limits, ContentType::Unknown)),
            };
        };
        let json::Cutting { pieces: mut parts, elements: n_units } = cutting;
        if let [whole] = parts.as_mut_slice()
            && text.len() <= self.bytes_max()
        {
            (whole.scope, whole.shell) = (None, None);
        }
        Drafts { parts, prelude: None, units: Units::Elements, n_units, target }
    }

    fn jsonl(&self, text: &str, kind: Option<&CustomKind>) -> Drafts {
        let own = kind.and_then(|kind| kind.target_lines);
        let target = own.unwrap_or_else(|| target_records(self.limits, text)).max(1);
        let target = self.long(target, text);
        let room = SpanSizes::exactly(target, self.bytes_own_max());
        by_lines(text, line_marks(text, |_, _| Strength::Item), &room, &|_| Overlap::None)
    }

    fn log(&self, text: &str, kind: Option<&CustomKind>) -> Drafts {
        let room =
            SpanSizes::up_to(self.long(self.target(ContentType::Log, kind), text), self.bytes_own_max());
        let overlap = Overlap::Lines(self.limits.overlap_log_lines);
        by_lines(text, log::marks(text), &room, &|_| overlap)
    }

    fn prose(&self, text: &str, kind: Option<&CustomKind>) -> Drafts {
        let room =
            SpanSizes::up_to(self.long(self.target(ContentType::Prose, kind), text), self.bytes_own_max());
        let overlap = Overlap::Lines(self.limits.overlap_prose_lines);
        // A chunk that begins a section or item needs no overlap.
        let overlap_at = |cut: Option<Strength>| match cut {
            Some(Strength::Section | Strength::Item) => Overlap::None,
            Some(Strength::Paragraph | Strength::Sentence | Strength::Word) | None => overlap,
        };
        let mut drafts = by_lines(text, prose::marks(text), &room, &overlap_at);
        if drafts.parts.len() > 1 {
            name_sections(text, &mut drafts.parts);
        }
        drafts
    }

    fn other(&self, text: &str, target: u64) -> Drafts {
        let room = SpanSizes::exactly(self.long(target, text), self.bytes_own_max());
        let overlap = Overlap::Lines(self.limits.overlap_other_lines);
        by_lines(text, line_marks(text, |_, _| Strength::Sentence), &room, &|_| overlap)
    }

    fn plain(&self, text: &str) -> Drafts {
        let bytes = |tokens: u64| usize::try_from(tokens.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX);
        let bytes_max = bytes(self.limits.chunk_plain_tokens).clamp(1, self.bytes_max());
        let overlap = Overlap::Bytes(bytes(self.limits.overlap_plain_tokens).min(bytes_max / 2));
        let own_max = bytes_max - bytes(self.limits.overlap_plain_tokens).min(bytes_max / 2);
        let parts = to_drafts(&plain::cuts(text, own_max.max(1)), &|_| overlap);
        let n_units = count_lines(text);
        let target = n_units.div_ceil((parts.len() as u64).max(1));
        Drafts { parts, prelude: None, units: Units::Lines, n_units, target }
    }
}

/// Groups marks and makes drafts of the cuts. Units are lines unless the caller says otherwise.
fn by_lines(
    text: &str,
    marks: impl Iterator<Item = Mark>,
    room: &SpanSizes,
    overlap_at: &dyn Fn(Option<Strength>) -> Overlap,
) -> Drafts {
    let cuts = group(text, marks, room);
    let n_units = cuts.iter().map(|cut| cut.units).sum();
    let parts = to_drafts(&cuts, overlap_at);
    Drafts { parts, prelude: None, units: Units::Lines, n_units, target: room.units_target }
}

fn to_drafts(cuts: &[Cut], overlap_at: &dyn Fn(Option<Strength>) -> Overlap) -> Vec<Draft> {
    let mut overlap = Overlap::None;
    let mut drafts = Vec::with_capacity(cuts.len());
    for cut in cuts {
        drafts.push(Draft { end: cut.at, units: cut.units, overlap, ..Draft::default() });
        overlap = overlap_at(cut.strength);
    }
    drafts
}

/// The heading that each chunk begins under. Only the latest one is held: a text may consist of headings.
fn name_sections(text: &str, drafts: &mut [Draft]) {
    let mut headings = prose::each_heading(text).peekable();
    let (mut start, mut under) = (0, None);
    for draft in drafts {
        while let Some(heading) = headings.next_if(|heading| heading.at <= start) {
            under = Some(heading);
        }
        draft.scope = under.as_ref().map(|heading| crate::name::shortened(&heading.title, 100));
        start = draft.end as u64;
    }
}
