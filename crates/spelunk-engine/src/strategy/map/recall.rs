//! Findings of earlier runs. With the same question, analyst and model, an unchanged part is not read again:
//! its cached findings are used, and recorded, so that this run can be replayed without the cache.

use std::sync::Arc;

use spelunk_context::{Chunk, ManifestRow, Plan, Tier, compare_files};
use spelunk_types::{AnalystReport, BlobId, FileOrder, PartMetadata};

use super::analyst::system_prompt;
use super::planning::{batches, chunks};
use crate::task::{Analysis, DocumentPart};
use crate::{Frame, Result, Task};

pub(super) struct Recalled {
    pub(super) reports: Vec<AnalystReport>,
    pub(super) analyses: Vec<Analysis>,
}

/// Splits the plan into recalled parts and parts to read. The remaining small documents are batched again.
pub(super) async fn recall(frame: &Frame, task: &Task, plan: &Plan) -> Result<Recalled> {
    let chunks: Vec<Analysis> = chunks(plan, &task.view, task.focus);
    let small: Vec<&ManifestRow> =
        plan.manifest.iter().filter(|row| row.tier == Tier::Small && row.bytes > 0).collect();
    let alone = |row: &ManifestRow| Analysis::of_small(row, &task.view, task.focus);
    let alone_all: Vec<Analysis> = small.iter().map(|row| alone(row)).collect();
    let keys = || chunks.iter().chain(&alone_all).map(|analysis| key(frame, task, analysis, 0)).collect();
    let at_hand = frame.recall(keys).await?;
    let is_at_hand = |idx: usize| at_hand.contains_key(&(idx as u64));
    let n_chunks = chunks.len();
    let mut analyses: Vec<Analysis> =
        chunks.into_iter().enumerate().filter(|(idx, _)| !is_at_hand(*idx)).map(|(_, one)| one).collect();
    let rows = small.iter().enumerate().filter(|(idx, _)| !is_at_hand(n_chunks + idx));
    let rows: Vec<ManifestRow> = rows.map(|(_, row)| (*row).clone()).collect();
    analyses.extend(batches(&rows, &plan.limits, &task.view, task.focus));
    // Files that explain the rest are read first, in case the budget does not suffice for all.
    let first = |analysis: &Analysis| analysis.parts.first().map_or("".into(), |part| Arc::clone(&part.name));
    analyses.sort_by(|a, b| compare_files(FileOrder::Priority, (&first(a), 0), (&first(b), 0)));
    let of = analyses.len() as u64;
    for (idx, analysis) in analyses.iter_mut().enumerate() {
        (analysis.number, analysis.of) = (idx as u64 + 1, of);
    }
    Ok(Recalled { reports: at_hand.into_values().collect(), analyses })
}

/// Caches findings for later runs, part by part. Remarks about a batch as a whole cannot be attributed to a part.
pub(super) fn keep(
    frame: &Frame,
    task: &Task,
    analysis: &Arc<Analysis>,
    report: &AnalystReport,
) -> Result<()> {
    let is_one = analysis.parts.len() == 1;
    if !is_one && (report.answer.is_some() || report.count.is_some()) {
        return Ok(());
    }
    let record = |(idx, part)| {
        let own = if is_one { report.clone() } else { of_part(report, part) };
        (key(frame, task, analysis, idx), own)
    };
    frame.keep_findings(|| analysis.parts.iter().enumerate().map(record).collect())
}

fn of_part(report: &AnalystReport, part: &DocumentPart) -> AnalystReport {
    let own = report.findings.iter().filter(|finding| *finding.location.file == *part.name);
    let findings: Vec<_> = own.cloned().collect();
    AnalystReport {
        units: vec![part.unit()],
        relevant: !findings.is_empty(),
        summary: String::new(),
        metadata: PartMetadata::default(),
        rejected: 0,
        findings,
        ..report.clone()
    }
}

/// Everything that determines the findings of a part.
fn key(frame: &Frame, task: &Task, analysis: &Analysis, idx: usize) -> BlobId {
    let system = system_prompt(analysis, frame.limits(), frame.reader());
    let DocumentPart { name, digest, lines, chunk, .. } = &analysis.parts[idx];
    let place = chunk.as_deref().map(place_of).unwrap_or_default();
    let (first, last) = (lines.start(), lines.end());
    let schema = analysis.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    let (model, question) = (frame.run().models.sub.reference(), &task.question);
    let text = format!(
        "findings-v2\n{model} {}\n{system}\n{question}\n{name}\n{digest}\n{first}-{last} {place}\n{schema}",
        model.base_url
    );
    spelunk_journal::digest(text.as_bytes())
}

/// The position of a chunk in its document. Spans are relative to the segment, if there is one.
fn place_of(Chunk { segment, span, overlap, .. }: &Chunk) -> String {
    let segment = segment.as_ref().map_or_else(String::new, |segment| format!(" {:?}", segment.bytes));
    format!("{}-{} {}-{}{segment}", span.start, span.end, overlap.start, overlap.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chunk_of;

    #[test]
    fn parts_of_one_line_in_different_segments_are_not_taken_for_each_other() {
        let (first, second) = (chunk_of(0..4, 1), chunk_of(4..8, 1));
        assert_eq!((place_of(&first), place_of(&second)), ("0-4 0-0 0..4".into(), "0-4 0-0 4..8".into()));
        assert_eq!(place_of(&Chunk { segment: None, ..first }), "0-4 0-0");
    }
}
