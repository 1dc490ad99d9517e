//! Splitting: the boundaries of each format, with a file for each that has rules of its own, and the resulting chunks.
//! A format only knows boundaries; `Partitioner` decides the size of chunks from the limits, and `pack` does the cutting.

use crate::kind::delimited::Shape;
use crate::kind::{ContentType, Detected};
use crate::lines::line_marks;
use crate::pack::{Boundary, Mark, Strength};

mod assemble;
mod by_line;
mod chunk;
mod code;
mod json;
mod log;
mod partition;
mod plain;
mod prose;
mod target;

pub(crate) use chunk::part;
pub use chunk::{Chunk, Prelude, Segment, Shell, Units, render};
pub use partition::{Cutting, DocText, Mode, Partitioner, estimate_tokens};
pub use prose::{Heading, headings};
pub use target::{partitions_expected, target_units};

/// The places where a document can be cut: ascending, none at the ends of the text.
pub fn boundaries(detected: &Detected, text: &str) -> Vec<Boundary> {
    if let Some(boundary) = detected.custom.as_ref().and_then(|kind| kind.boundary.as_ref()) {
        return to_boundaries(text, by_line::custom_marks(text, boundary));
    }
    match detected.content_type {
        ContentType::SourceCode => {
            let places = code::places(text);
            to_boundaries(text, code::marks(text, &places))
        }
        ContentType::StructuredData => to_boundaries(text, by_line::row_marks(text, &Shape::of(text))),
        ContentType::Json => json::boundaries(text),
        ContentType::Jsonl => to_boundaries(text, line_marks(text, |_, _| Strength::Item)),
        ContentType::Log => to_boundaries(text, log::marks(text)),
        ContentType::Prose => to_boundaries(text, prose::marks(text)),
        ContentType::Markup | ContentType::Config | ContentType::Unknown => {
            to_boundaries(text, line_marks(text, |_, _| Strength::Sentence))
        }
    }
}

fn to_boundaries(text: &str, marks: impl Iterator<Item = Mark>) -> Vec<Boundary> {
    let inner = marks.filter(|mark| mark.at > 0 && mark.at < text.len());
    inner.map(|mark| Boundary { at: mark.at as u64, strength: mark.strength }).collect()
}

/// Part of a text; empty if the range is invalid.
pub(crate) fn slice(text: &str, range: std::ops::Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests;
