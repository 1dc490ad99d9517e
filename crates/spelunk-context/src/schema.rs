//! The structure of a JSON document: its keys, their types, which are optional and how long arrays are, sketched from a
//! bounded sample so that a reader of one chunk knows the whole. A sketch contains no values and states how much was
//! sampled: keys outside the sample are missing from it.

mod shape;
mod show;

use std::fmt;

use shape::Shape;

use crate::kind::ContentType;
use crate::pack::Span;
use crate::records::{Records, Sample};
use crate::split::{Chunk, Cutting, Shell, Units, part, slice};

/// Chunks of a document that are sampled, evenly spread, including the first and the last.
const CHUNKS_SAMPLED_MAX: usize = 16;
/// How much is read of the first chunk, and of each other one.
const FIRST_BYTES_MAX: usize = 64 * 1024;
const OTHER_BYTES_MAX: usize = 8 * 1024;

/// A sketch of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaSketch {
    /// One line: `[{id: integer, tags?: [string; 0..3]}; 2000]`. `?` marks a key that some objects lack, `; 0..3` is
    /// the length of an array, `|` separates types.
    pub text: String,
    /// Bytes sampled.
    pub sampled_bytes: u64,
    /// Bytes of the document.
    pub bytes: u64,
    /// Details about JSON lines.
    pub records: Option<Records>,
}

impl SchemaSketch {
    /// The maximum length of the text.
    pub const TEXT_BYTES_MAX: usize = 1500;

    pub(crate) fn of(content_type: ContentType, text: &str, cutting: &Cutting) -> Option<Self> {
        let is_value = content_type == ContentType::Json;
        if !is_value && content_type != ContentType::Jsonl {
            return None;
        }
        match cutting.units {
            Units::Elements(n_elements) => of_value(text, &cutting.chunks, n_elements),
            // Several values in one file are treated as lines, and broken JSON may be valid at its beginning.
            Units::Lines(_) | Units::Rows(_) => {
                of_lines(text, cutting).or_else(|| of_head(text).filter(|_| is_value))
            }
        }
    }
}

impl fmt::Display for SchemaSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, sampled_bytes, bytes, .. } = self;
        f.write_str(text)?;
        if sampled_bytes < bytes {
            write!(f, " (inferred from {sampled_bytes} of {bytes} bytes; rare parts may be missing)")?;
        }
        Ok(())
    }
}

fn of_value(text: &str, chunks: &[Chunk], n_elements: u64) -> Option<SchemaSketch> {
    let mut shape = Shape::default();
    let mut sampled_bytes = 0;
    for idx in spread(chunks.len(), CHUNKS_SAMPLED_MAX) {
        let chunk = chunks.get(idx)?;
        let bytes_max = if idx == 0 { FIRST_BYTES_MAX } else { OTHER_BYTES_MAX };
        // Without its closing brackets: the containers around a chunk have more keys and elements than the chunk shows.
        let (open, body) = match &chunk.shell {
            Some(Shell { open, body, .. }) => (open.as_str(), body),
            None => ("", &chunk.span),
        };
        let head = head_of(text, body, bytes_max);
        sampled_bytes += head.len() as u64;
        if open.ends_with('"') {
            shape.fold(&format!("{open}\""));
        } else {
            shape.fold(&[open, head].concat());
        }
    }
    shape.set_root_length(n_elements);
    sketch(text, &shape, sampled_bytes, None)
}

fn of_head(text: &str) -> Option<SchemaSketch> {
    let mut shape = Shape::default();
    let head = head_of(text, &(0..text.len() as u64), FIRST_BYTES_MAX);
    shape.fold(head);
    sketch(text, &shape, head.len() as u64, None)
}

fn of_lines(text: &str, Cutting { lines, chunks, .. }: &Cutting) -> Option<SchemaSketch> {
    let starts = spread(chunks.len(), CHUNKS_SAMPLED_MAX).filter_map(|idx| chunks.get(idx));
    let starts = starts.map(|chunk| usize::try_from(chunk.span.start).unwrap_or(usize::MAX));
    let sample = Sample::of(text, starts);
    let mut shape = Shape::default();
    for line in sample.lines() {
        shape.fold(line);
    }
    let records = Records::of(&sample)?;
    let mut sketch = sketch(text, &shape, sample.bytes(), Some(records))?;
    sketch.text = format!("{lines} lines of {}", sketch.text);
    Some(sketch)
}

fn sketch(text: &str, shape: &Shape, sampled_bytes: u64, records: Option<Records>) -> Option<SchemaSketch> {
    let bytes = text.len() as u64;
    let shown = show::show(shape, SchemaSketch::TEXT_BYTES_MAX - show::LINES_OF_BYTES)?;
    Some(SchemaSketch { text: shown, sampled_bytes: sampled_bytes.min(bytes), bytes, records })
}

fn head_of<'t>(text: &'t str, span: &Span, bytes_max: usize) -> &'t str {
    let text = part(text, span);
    slice(text, 0..text.floor_char_boundary(bytes_max))
}

/// At most `n_max` of `0..n`, evenly spread, including both ends.
fn spread(n: usize, n_max: usize) -> impl Iterator<Item = usize> {
    let n_taken = n.min(n_max);
    (0..n_taken).map(move |idx| if n_taken < 2 { 0 } else { idx * (n - 1) / (n_taken - 1) })
}

#[cfg(test)]
mod tests;
