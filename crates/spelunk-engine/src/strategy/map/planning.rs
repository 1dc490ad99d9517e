//! The plan of an analysis: the tasks that the text is split into. `map` follows it, and previews
//! before a run show it; `forecast.rs` estimates its cost.

mod forecast;

use spelunk_context::{
    ManifestRow, Plan, PlanOptions, PlanTask, Tier, View, Work, batch_small, plan as make_plan,
};
use spelunk_types::{Focus, Limits};

pub use self::forecast::{Forecast, Range, forecast};
use crate::ModelCapacity;
use crate::question::is_counting;
use crate::task::Analysis;

/// Splits a view into tasks for a question and the root model.
pub fn plan_analysis(view: &View, question: &str, reader: ModelCapacity, mut options: PlanOptions) -> Plan {
    let limits = &mut options.limits;
    limits.chunk_tokens_max = reader.span(limits.chunk_tokens_max);
    if is_counting(question) {
        // A line in two parts would be counted twice, which could not be detected afterwards.
        (limits.overlap_log_lines, limits.overlap_prose_lines, limits.overlap_other_lines) = (0, 0, 0);
    }
    make_plan(view, &options)
}

pub(crate) fn analyses(plan: &Plan, view: &View, focus: Focus) -> Vec<Analysis> {
    let small: Vec<ManifestRow> =
        plan.manifest.iter().filter(|row| row.tier == Tier::Small).cloned().collect();
    let mut analyses = chunks(plan, view, focus);
    analyses.extend(batches(&small, &plan.limits, view, focus));
    analyses
}

pub(crate) fn chunks(plan: &Plan, view: &View, focus: Focus) -> Vec<Analysis> {
    let chunk = |planned: &PlanTask| match &planned.work {
        Work::Chunk(chunk) => Some(Analysis::of_chunk(planned, chunk, view, focus)),
        Work::Batch(_) => None,
    };
    plan.tasks.iter().filter_map(chunk).collect()
}

pub(crate) fn batches(small: &[ManifestRow], limits: &Limits, view: &View, focus: Focus) -> Vec<Analysis> {
    let join = |batch: spelunk_context::Batch| {
        let mut items = batch.items.iter().map(|item| Analysis::of_small(&small[item.row_idx], view, focus));
        let mut first = items.next()?;
        first.parts.extend(items.flat_map(|item| item.parts));
        Some(first)
    };
    batch_small(small, limits).into_iter().filter_map(join).collect()
}
