//! Batches: small documents of one type are read together, shortest first, up to the length of one small document. None
//! is skipped; a single document is a batch of one.

use std::collections::BTreeMap;

use spelunk_types::Limits;

use super::{ManifestRow, Tier};
use crate::kind::ContentType;
use crate::split::estimate_tokens;

/// Small documents for one analyst.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Never empty.
    pub items: Vec<BatchItem>,
    /// The total number of lines.
    pub lines: u64,
    /// The estimated number of tokens of all texts.
    pub tokens_estimate: u64,
}

/// A document in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItem {
    /// Its index in the manifest.
    pub row_idx: usize,
    /// Its index in the corpus.
    pub document_idx: u32,
    /// Its name.
    pub name: String,
    /// The lines of its text.
    pub lines: u64,
}

/// Batches of the small rows, by type.
pub fn batch_small(manifest: &[ManifestRow], limits: &Limits) -> Vec<Batch> {
    let mut groups: BTreeMap<(ContentType, &str), Vec<usize>> = BTreeMap::new();
    for (row_idx, row) in manifest.iter().enumerate() {
        if row.tier == Tier::Small && row.bytes > 0 {
            let custom = row.detected.custom.as_ref().map_or("", |kind| kind.name.as_str());
            groups.entry((row.detected.content_type, custom)).or_default().push(row_idx);
        }
    }
    let mut batches = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(|&row_idx| (manifest[row_idx].lines, &manifest[row_idx].name));
        fill(&group, manifest, limits, &mut batches);
    }
    batches
}

fn fill(group: &[usize], manifest: &[ManifestRow], limits: &Limits, batches: &mut Vec<Batch>) {
    let mut open = Batch::default();
    for &row_idx in group {
        let row = &manifest[row_idx];
        let tokens = estimate_tokens(row.bytes);
        let overflows = open.lines + row.lines > limits.small_lines_max
            || open.tokens_estimate + tokens > limits.chunk_tokens_max;
        if overflows && !open.items.is_empty() {
            batches.push(std::mem::take(&mut open));
        }
        open.lines += row.lines;
        open.tokens_estimate += tokens;
        open.items.push(BatchItem {
            row_idx,
            document_idx: row.document_idx,
            name: row.name.clone(),
            lines: row.lines,
        });
    }
    if !open.items.is_empty() {
        batches.push(open);
    }
}
