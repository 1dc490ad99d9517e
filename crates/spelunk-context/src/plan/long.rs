//! Surveys a document that is too long to be held: segment by segment, each split as if it were a document, with the
//! chunks concatenated. If the first segment has a prelude, such as a table header, it is put before the others.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::segment::segment_end;
use super::survey::{Surveyed, is_blank};
use super::{ManifestRow, PlanOptions, Tier};
use crate::kind::ContentType;
use crate::lines::count_newlines;
use crate::split::{Chunk, Cutting, DocText, Partitioner, Prelude, Segment, Units, estimate_tokens, part};
use crate::{DocEntry, ReadError, Reader, SchemaSketch};

pub(super) fn survey_long(
    reader: &Reader,
    document: &DocEntry,
    options: &PlanOptions,
    partitioner: Partitioner<'_>,
    segment_bytes_max: u64,
) -> Result<Surveyed, ReadError> {
    let partitioner = partitioner.with_share(segment_bytes_max, reader.bytes());
    let mut bytes = 0..segment_end(reader, 0, segment_bytes_max)?;
    let first = bytes.clone();
    let mut text = reader.slice(first.clone())?;
    let detected = options.detector.detect(&document.name, &text);
    let described = DocText { idx: document.idx, name: &document.name, text: "", detected: &detected };
    let mut sum = Sum::default();
    loop {
        sum.add(partitioner, described, bytes.clone(), text);
        if bytes.end >= reader.bytes() {
            break;
        }
        bytes = bytes.end..segment_end(reader, bytes.end, segment_bytes_max)?;
        text = reader.slice(bytes.clone())?;
    }
    let schema = sum.sketch(reader, detected.content_type, first, bytes)?;
    let n_all = sum.n_all;
    sum.chunks.iter_mut().for_each(|chunk| chunk.n_chunks = n_all);
    let (lines, units) = (sum.lines(), sum.units());
    let tier = Tier::of(lines, units.count(), estimate_tokens(sum.bytes), &options.limits).max(Tier::Medium);
    let row = ManifestRow {
        document_idx: document.idx,
        name: document.name.clone(),
        bytes: sum.bytes,
        lines,
        units,
        detected,
        tier,
        partitions_expected: sum.partitions_expected,
        n_chunks: sum.chunks.len() as u64,
        schema: schema.map(Arc::new),
    };
    Ok(Surveyed { row, chunks: sum.chunks })
}

#[derive(Default)]
struct Sum {
    chunks: Vec<Chunk>,
    /// Including blank chunks.
    n_all: u32,
    bytes: u64,
    newlines: u64,
    ends_open: bool,
    rows: Option<u64>,
    partitions_expected: u64,
    prelude: Option<(Arc<str>, RangeInclusive<u64>)>,
    first_chunks: Vec<Chunk>,
}

struct SegmentPosition<'t> {
    /// The prelude followed by the segment.
    text: &'t str,
    lines_before: u64,
    /// `None` if no prelude was put before the segment.
    prelude_lines: Option<RangeInclusive<u64>>,
}

impl SegmentPosition<'_> {
    /// The chunk with its lines in the document and the prelude before it; `None` if it has nothing else.
    fn of(&self, mut chunk: Chunk) -> Option<Chunk> {
        let shown_bytes = chunk.segment.as_ref().map_or(0, |segment| segment.prelude.len() as u64);
        let shown_lines = self.newlines(0..shown_bytes);
        let own_start = chunk.span.start.max(shown_bytes);
        if own_start >= chunk.span.end {
            return None;
        }
        if let Units::Lines(lines) = &mut chunk.units {
            *lines = lines.saturating_sub(self.newlines(chunk.span.start..own_start));
        }
        chunk.span.start = own_start;
        chunk.overlap = chunk.overlap.start.clamp(shown_bytes, own_start)..own_start;
        chunk.overlap_lines = self.newlines(chunk.overlap.clone());
        let line = |line: u64| line.max(shown_lines + 1) - shown_lines + self.lines_before;
        chunk.lines = line(*chunk.lines.start())..=line(*chunk.lines.end());
        if let Some(lines) = &self.prelude_lines {
            chunk.prelude = Some(Prelude { span: 0..shown_bytes, lines: lines.clone() });
        }
        chunk.tokens_estimate = estimate_tokens(chunk.rendered_bytes());
        Some(chunk)
    }

    fn newlines(&self, span: Range<u64>) -> u64 {
        count_newlines(part(self.text, &span).as_bytes())
    }
}

/// The prelude of the chunks of the first segment. Only whole lines can be put before another segment.
fn prelude_of(text: &str, cutting: &Cutting) -> Option<(Arc<str>, RangeInclusive<u64>)> {
    let Prelude { span, lines } = cutting.chunks.iter().find_map(|chunk| chunk.prelude.clone())?;
    let shown = part(text, &span);
    shown.ends_with('\n').then(|| (shown.into(), lines))
}

impl Sum {
    /// Adds the next segment; `document` lacks its text.
    fn add(
        &mut self,
        partitioner: Partitioner<'_>,
        document: DocText<'_>,
        bytes: Range<u64>,
        mut text: String,
    ) {
        let (is_first, own_bytes) = (bytes.start == 0, text.len() as u64);
        let prelude = self.prelude.clone();
        let shown: Arc<str> = prelude.as_ref().map_or_else(|| "".into(), |(text, _)| Arc::clone(text));
        text.insert_str(0, &shown);
        let cutting = partitioner.cut(DocText { text: &text, ..document });
        if is_first {
            self.prelude = prelude_of(&text, &cutting);
            self.rows = matches!(cutting.units, Units::Rows(_)).then_some(0);
            self.first_chunks.clone_from(&cutting.chunks);
        }
        self.rows = self.rows.map(|rows| rows + cutting.units.count());
        self.partitions_expected += cutting.partitions_expected;
        let lines = prelude.map(|(_, lines)| lines);
        let segment = Segment { bytes, prelude: shown };
        let place = SegmentPosition { text: &text, lines_before: self.newlines, prelude_lines: lines };
        for chunk in cutting.chunks {
            let Some(chunk) = place.of(Chunk { index: self.n_all, segment: Some(segment.clone()), ..chunk })
            else {
                continue;
            };
            self.n_all += 1;
            // Blank chunks need not be read.
            if !is_blank(&text, &chunk) {
                self.chunks.push(chunk);
            }
        }
        self.bytes += own_bytes;
        self.newlines += count_newlines(&text.as_bytes()[segment.prelude.len()..]);
        self.ends_open = !text.ends_with('\n');
    }

    fn lines(&self) -> u64 {
        self.newlines + u64::from(self.ends_open)
    }

    fn units(&self) -> Units {
        self.rows.map_or_else(|| Units::Lines(self.lines()), Units::Rows)
    }

    fn sketch(
        &mut self,
        reader: &Reader,
        content_type: ContentType,
        first: Range<u64>,
        last: Range<u64>,
    ) -> Result<Option<SchemaSketch>, ReadError> {
        if !matches!(content_type, ContentType::Json | ContentType::Jsonl) {
            return Ok(None);
        }
        let mut text = reader.slice(first.clone())?;
        if last != first {
            text += &reader.slice(last)?;
        }
        let chunks = std::mem::take(&mut self.first_chunks);
        let cutting = Cutting { lines: self.lines(), units: self.units(), partitions_expected: 0, chunks };
        let sketch = SchemaSketch::of(content_type, &text, &cutting);
        Ok(sketch.map(|sketch| SchemaSketch { bytes: self.bytes, ..sketch }))
    }
}

#[cfg(test)]
mod tests;
