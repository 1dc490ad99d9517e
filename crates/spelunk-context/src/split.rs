//! Splitting: the boundaries of each format, one file per format, and the resulting chunks. A splitter only knows
//! boundaries; `Partitioner` decides the size of chunks from the limits, and `pack` does the cutting.

use crate::kind::{ContentType, Detected};
use crate::pack::{Boundary, Mark};

mod assemble;
mod chunk;
mod code;
mod custom;
mod json;
mod jsonl;
mod log;
mod other;
mod partition;
mod plain;
mod prose;
mod table;
mod target;

pub use chunk::{Chunk, Prelude, Segment, Shell, Units, render};
pub use code::Code;
pub(crate) use code::has_grammar;
#[cfg(feature = "grammars")]
pub use code::{PARSE_TASK, serve_parse};
pub use json::Json;
pub use jsonl::JsonLines;
pub use log::Log;
pub use other::Other;
pub use partition::{CodeRule, Cutting, DocText, Mode, Partitioner, estimate_tokens};
pub use prose::{Heading, Prose, headings};
pub use table::Table;
pub use target::{Width, partitions_expected, target_rows, target_units};

/// Finds the boundaries of one kind of content. Pure, total, sees one document.
pub trait Splitter: Send + Sync {
    /// The boundaries, ascending, none at the ends of the text.
    fn boundaries(&self, text: &str) -> Vec<Boundary>;
}

/// The splitter for a document.
pub fn splitter(detected: &Detected) -> Box<dyn Splitter> {
    if let Some(boundary) = detected.custom.as_ref().and_then(|kind| kind.boundary.clone()) {
        return Box::new(custom::Custom { boundary });
    }
    let Detected { content_type, language, .. } = detected;
    match content_type {
        ContentType::SourceCode => Box::new(Code { language: *language }),
        ContentType::StructuredData => Box::new(Table),
        ContentType::Json => Box::new(Json),
        ContentType::Jsonl => Box::new(JsonLines),
        ContentType::Log => Box::new(Log),
        ContentType::Prose => Box::new(Prose),
        ContentType::Markup | ContentType::Config | ContentType::Unknown => Box::new(Other),
    }
}

/// Converts marks to boundaries, without the end of the text.
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
