//! Reads every document of a view once, to find its format, its length and where to split it. Several threads take
//! documents, largest first, and free each one when done; the result does not depend on the number of threads. A long
//! document is never held whole.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use spelunk_types::Limits;

use super::long::survey_long;
use super::segment::{SEGMENT_BYTES_MAX, open_long};
use super::{ManifestRow, PlanOptions, Tier};
use crate::split::{Chunk, Cutting, DocText, Partitioner, estimate_tokens, part};
use crate::{DocEntry, ReadError, SchemaSketch, SourceError, View, lines};

/// The number of threads, and thus of documents in memory at once.
const THREADS_MAX: usize = 4;

pub(super) struct Surveyed {
    pub(super) row: ManifestRow,
    /// Empty for a batched document.
    pub(super) chunks: Vec<Chunk>,
}

pub(super) fn survey(view: &View, options: &PlanOptions) -> Vec<(String, Result<Surveyed, SourceError>)> {
    let partitioner = Partitioner::new(&options.limits, options.mode);
    let documents: Vec<&DocEntry> = view.documents().collect();
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by_key(|&idx| std::cmp::Reverse(documents[idx].bytes));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(&idx) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((idx, survey_one(view, documents[idx], options, partitioner)));
        }
        done
    };
    let n_cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
    let n_threads = n_cores.clamp(2, THREADS_MAX).min(documents.len());
    let mut surveyed: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("surveying does not panic")).collect()
    });
    surveyed.sort_by_key(|(idx, _)| *idx);
    surveyed.into_iter().map(|(idx, one)| (documents[idx].name.clone(), one)).collect()
}

fn survey_one(
    view: &View,
    document: &DocEntry,
    options: &PlanOptions,
    partitioner: Partitioner<'_>,
) -> Result<Surveyed, SourceError> {
    let unread = |error: ReadError| error.of_document(&document.name);
    if let Some(reader) = open_long(view, document).map_err(unread)? {
        return survey_long(&reader, document, options, partitioner, SEGMENT_BYTES_MAX).map_err(unread);
    }
    let text = view.read_owned(document)?;
    let DocEntry { idx, name, .. } = document;
    let detected = options.detector.detect(name, &text);
    Ok(survey_text(
        DocText { idx: *idx, name, text: &text, detected: &detected },
        &options.limits,
        partitioner,
    ))
}

fn survey_text(document: DocText<'_>, limits: &Limits, partitioner: Partitioner<'_>) -> Surveyed {
    let DocText { idx, name, text, detected } = document;
    let bytes = text.len() as u64;
    let tokens = estimate_tokens(bytes);
    let row = |cutting: &Cutting, tier: Tier| ManifestRow {
        document_idx: idx,
        name: name.to_owned(),
        bytes,
        lines: cutting.lines,
        units: cutting.units,
        detected: detected.clone(),
        tier,
        partitions_expected: cutting.partitions_expected,
        n_chunks: cutting.chunks.len() as u64,
        schema: None,
    };
    // Counting rows or elements is half the work of splitting, so it is done only for likely batches.
    let n_lines = lines::count_lines(text);
    if Tier::of(n_lines, n_lines, tokens, limits) == Tier::Small {
        let (lines, units) = partitioner.measure(document);
        if Tier::of(lines, units.count(), tokens, limits) == Tier::Small {
            let whole = Cutting { lines, units, partitions_expected: 0, chunks: Vec::new() };
            return Surveyed { row: row(&whole, Tier::Small), chunks: Vec::new() };
        }
    }
    let mut cutting = partitioner.cut(document);
    // Blank chunks need not be read, however many lines they have.
    cutting.chunks.retain(|chunk| !is_blank(text, chunk));
    let tier = Tier::of(cutting.lines, cutting.units.count(), tokens, limits).max(Tier::Medium);
    let schema = SchemaSketch::of(detected.content_type, text, &cutting).map(Arc::new);
    Surveyed { row: ManifestRow { schema, ..row(&cutting, tier) }, chunks: cutting.chunks }
}

pub(super) fn is_blank(text: &str, chunk: &Chunk) -> bool {
    lines::is_blank(part(text, &chunk.span).as_bytes())
}
