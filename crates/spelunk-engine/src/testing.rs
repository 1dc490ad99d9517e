//! Shared by unit tests: a view of texts, a model with a name and a rate that is never called, and a
//! chunk of a long document.

use std::ops::Range;
use std::sync::Arc;

use spelunk_context::{Chunk, Corpus, ScanOptions, Segment, SourceInput, Units, View};
use spelunk_model::{Model, ModelFacts, ModelStream, Prompt, Rate};
use spelunk_types::{CallId, ModelRef};

pub(crate) fn view(files: &[(&str, &str)]) -> View {
    let input = |(name, text): &(&str, &str)| SourceInput::Text {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let inputs: Vec<SourceInput> = files.iter().map(input).collect();
    View::of(Arc::new(Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

pub(crate) struct Named(pub(crate) ModelRef, pub(crate) Rate);

impl Model for Named {
    fn reference(&self) -> &ModelRef {
        &self.0
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts { rate: self.1, ..ModelFacts::default() }
    }

    fn stream(&self, _: &Prompt, _: &CallId) -> ModelStream {
        unreachable!("nobody asks it")
    }
}

/// One line of `a.log`, in a segment of its own.
pub(crate) fn chunk_of(segment: Range<u64>, line: u64) -> Chunk {
    Chunk {
        document_idx: 0,
        document: "a.log".into(),
        index: 0,
        n_chunks: 2,
        span: 0..segment.end - segment.start,
        segment: Some(Segment { bytes: segment, prelude: "".into() }),
        lines: line..=line,
        prelude: None,
        overlap: 0..0,
        overlap_lines: 0,
        tokens_estimate: 1,
        units: Units::Lines(1),
        scope: None,
        shell: None,
    }
}
