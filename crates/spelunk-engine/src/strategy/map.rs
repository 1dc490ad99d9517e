//! The map strategy: splits the text into parts and lets a suitable analyst read each. Code merges
//! the findings; one synthesis per content type and one across them interpret the result.
//!
//! The parts are the same for every question, except that they do not overlap if something is counted; and
//! every part gets the same question. A part that fails is listed in the report and never ends the run.

pub(super) mod analyst;
pub(super) mod planning;
mod prefilter;
mod recall;
pub(super) mod synthesis;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use spelunk_context::{Plan, PlanOptions};
use spelunk_types::{AnalystReport, ErrorCode, EventKind, Explain, Grounding, Strategy};

use self::planning::plan_analysis;
use self::recall::Recalled;
use super::is_hopeless;
use crate::limits::budget::is_about_spending;
use crate::question::is_counting;
use crate::report::{
    Coverage, Gathered, MergedFinding, ReportCoverage, citation, directory_lines, expand_names,
    findings_section, gather, in_order,
};
use crate::rows::label_rows;
use crate::sync::blocking;
use crate::task::{Analysis, Assigned, Assignment, Synthesis};
use crate::{Answer, Frame, FrameError, Result, Task};

const CITATIONS_MAX: usize = 50;

/// How far tasks may start ahead of the first unread part. Also bounds how many fail individually
/// when the run reaches a limit.
const AHEAD_PARTS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    All,
    /// Those that share words with the question or are semantically close to it; all if there are none.
    Prefilter,
}

pub(super) async fn solve(frame: &Frame, task: &Task, reach: Reach) -> Result<Answer> {
    let is_whole = reach == Reach::All && task.schema.is_none() && task.note.is_none();
    if is_whole && frame.reader().is_small() && is_counting(&task.question) {
        // A small model reads rows, not pages.
        if let Some(answer) = label_rows(frame, task).await? {
            return Ok(answer);
        }
    }
    let Planned { plan, parts, passed_over } = plan(frame, task, reach).await?;
    let Recalled { reports: recalled, analyses } = recall::recall(frame, task, &plan).await?;
    frame.note(planned(&plan, &analyses)).await?;
    let mut coverage = Coverage {
        read: ReportCoverage {
            documents: task.view.documents().len() as u64,
            tasks: analyses.len() as u64,
            units_recalled: recalled.len() as u64,
            ..ReportCoverage::default()
        },
        unreadable: plan.unreadable.iter().map(|(name, _)| name.clone()).collect(),
        parts_passed_over: passed_over,
        unknown_names: 0,
    };
    drop(plan);
    let mut reports = recalled;
    reports.extend(analyse(frame, task, analyses, &mut coverage).await?);
    coverage.read.documents_read = n_whole(&parts, &reports);
    frame.note(read(task, &coverage.read)).await?;
    let gathered = gather(&reports);
    coverage.read.rejected = gathered.rejected;
    coverage.read.unverified = gathered.items.iter().filter(|item| item.is_unverified()).count() as u64;
    let directories = directory_lines(&gathered, &task.view.directories());
    let written = synthesise(frame, task, &reports, &gathered, &directories, &mut coverage).await?;
    Ok(answer(&with_directories(written, &directories), &gathered, coverage))
}

/// The number of documents with a report for each of their parts.
fn n_whole(parts: &BTreeMap<String, u64>, reports: &[AnalystReport]) -> u64 {
    let mut left: BTreeMap<&str, u64> = parts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    for unit in reports.iter().flat_map(|report| &report.units) {
        if let Some(left) = left.get_mut(unit.file.as_str()) {
            *left = left.saturating_sub(1);
        }
    }
    left.values().filter(|left| **left == 0).count() as u64
}

/// What was read, as every front end reports it. A text that was read completely may be shorter than its file.
fn read(task: &Task, coverage: &ReportCoverage) -> EventKind {
    let of_bytes = task.view.bytes();
    let is_all = coverage.documents_read == coverage.documents && coverage.units_recalled == 0;
    let bytes = if is_all { of_bytes } else { coverage.bytes_read };
    EventKind::PassagesChosen { documents: coverage.documents_read, bytes, of_bytes }
}

struct Planned {
    plan: Plan,
    /// The number of parts of each document, read or not.
    parts: BTreeMap<String, u64>,
    passed_over: u64,
}

async fn plan(frame: &Frame, task: &Task, reach: Reach) -> Result<Planned> {
    let (limits, detector) = (frame.limits().clone(), frame.run().detector.clone());
    let options = PlanOptions { limits, detector, mode: frame.run().mode, files_left_out: 0 };
    let likely = match reach {
        Reach::All => None,
        Reach::Prefilter => Some(prefilter::find(frame, task).await?),
    };
    let (view, question, reader) = (task.view.clone(), task.question.clone(), frame.reader());
    // Splitting a large view is CPU-bound.
    let planned = blocking(move || {
        let mut plan = plan_analysis(&view, &question, reader, options);
        let parts = plan.parts().into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        let passed_over = likely.map_or(0, |likely| likely.narrow(&mut plan));
        Planned { plan, parts, passed_over }
    })
    .await;
    let hints = [
        "exclude files, use another strategy, or raise `limits.corpus_tokens_warn`",
        "see them with `spelunk plan`, or exclude files with `--exclude`",
    ];
    for (warning, hint) in planned.plan.size_warnings().into_iter().zip(hints) {
        if let Some(warning) = warning {
            frame.warn(format!("everything is read: {warning}"), hint.to_owned()).await?;
        }
    }
    Ok(planned)
}

fn planned(plan: &Plan, analyses: &[Analysis]) -> EventKind {
    let mut by_type = BTreeMap::new();
    for analysis in analyses {
        *by_type.entry(analysis.content_type().to_owned()).or_default() += 1;
    }
    EventKind::TasksPlanned { tasks: analyses.len() as u64, documents: plan.manifest.len() as u64, by_type }
}

/// Runs one frame per task, about as many at once as calls may be in flight. Reports are in task order. Once
/// the run reaches a limit, later tasks do not start; which ones does not depend on the speed of the others.
async fn analyse(
    frame: &Frame,
    task: &Task,
    analyses: Vec<Analysis>,
    coverage: &mut Coverage,
) -> Result<Vec<AnalystReport>> {
    // Half as many more than calls, so that the next prompts are ready, and the events they depend
    // on durable, when a permit becomes free.
    let parallel = usize::try_from(frame.limits().calls_parallel_max).unwrap_or(usize::MAX).max(1);
    let width = parallel.saturating_add(parallel / 2);
    let ahead = AHEAD_PARTS.max(width);
    let mut reports: Vec<(usize, AnalystReport)> = Vec::new();
    let mut failed = Vec::new();
    let mut waiting = analyses.into_iter().enumerate().peekable();
    let mut running = FuturesUnordered::new();
    // Parts being read, and those refused by a limit of the run.
    let mut unread: BTreeMap<usize, Option<ErrorCode>> = BTreeMap::new();
    loop {
        let first_unread = |unread: &BTreeMap<_, _>| unread.keys().next().copied();
        while running.len() < width
            && let Some((idx, assigned)) =
                waiting.next_if(|(idx, _)| first_unread(&unread).is_none_or(|first| *idx < first + ahead))
        {
            let assigned = Arc::new(assigned);
            let child = frame.delegate(analyst_task(task, &assigned));
            unread.insert(idx, None);
            running.push(async move { (idx, assigned, child.await) });
        }
        let Some((idx, assigned, outcome)) = running.next().await else { break };
        unread.remove(&idx);
        match outcome {
            Ok(answer) => match serde_json::from_str::<AnalystReport>(&answer.text) {
                Ok(report) => {
                    coverage.read.tasks_done += 1;
                    coverage.read.bytes_read += assigned.bytes();
                    recall::keep(frame, task, &assigned, &report)?;
                    reports.push((idx, report));
                }
                Err(_) => failed.push((idx, assigned.label(), ErrorCode::ReportInvalid)),
            },
            Err(error @ FrameError::Stopped(_)) => return Err(error),
            // The next one would fail in the same way.
            Err(error) if is_hopeless(error.code()) => return Err(error),
            Err(error) => {
                let code = error.code();
                failed.push((idx, assigned.label(), code));
                if is_about_spending(code) {
                    unread.insert(idx, Some(code));
                }
            }
        }
    }
    // The others would have failed in the same way.
    if let Some(code) = unread.into_values().flatten().next() {
        frame.pass_over(waiting.len());
        failed.extend(waiting.map(|(idx, analysis)| (idx, analysis.label(), code)));
    }
    reports.sort_by_key(|(idx, _)| *idx);
    failed.sort_by_key(|(idx, ..)| *idx);
    coverage.read.failed = failed.into_iter().map(|(_, label, code)| (label, code)).collect();
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

fn analyst_task(task: &Task, analysis: &Arc<Analysis>) -> Task {
    let view = task.view.only(analysis.parts.iter().map(|part| part.document_idx));
    Task {
        note: Some(analysis.note().into()),
        assignment: Some(Assignment(Assigned::Analysis(Arc::clone(analysis)))),
        ..Task::new(task.question.clone(), view, Strategy::Analyst)
    }
}

/// Phase one per content type, phase two across them. If a model cannot write a text, code does.
async fn synthesise(
    frame: &Frame,
    task: &Task,
    reports: &[AnalystReport],
    gathered: &Gathered,
    directories: &[String],
    coverage: &mut Coverage,
) -> Result<String> {
    if gathered.items.is_empty() && gathered.remarks.is_empty() && gathered.count.is_none() {
        return Ok("## Summary\n\nNothing that answers the question was found in the text.".to_owned());
    }
    let mut types: Vec<&str> = reports.iter().map(|report| report.content_type.as_str()).collect();
    types.sort_unstable();
    types.dedup();
    let mut phase_one = Vec::new();
    for content_type in types {
        let (own, numbers) = of_type(content_type, reports, gathered);
        if own.items.is_empty() && own.remarks.is_empty() {
            continue;
        }
        let synthesis = Arc::new(Synthesis::of_type(content_type, &own, &numbers));
        let child = frame.delegate(synthesis_task(task, synthesis));
        phase_one.push(async move { (content_type, child.await) });
    }
    let mut summaries = Vec::new();
    for (content_type, outcome) in futures_util::future::join_all(phase_one).await {
        match outcome {
            Ok(answer) => summaries.push((content_type.to_owned(), answer.text)),
            Err(error) => give_up(error, &format!("synthesis of {content_type}"), coverage)?,
        }
    }
    match summaries.as_slice() {
        [] => Ok("## Summary\n\nNo summary could be written; these are the findings.".to_owned()),
        [(_, only)] if directories.is_empty() => Ok(only.clone()),
        several => {
            let counted = [directories, &coverage.gaps()].concat();
            let synthesis = Arc::new(Synthesis::across(several, gathered, counted));
            match frame.delegate(synthesis_task(task, synthesis)).await {
                Ok(answer) => Ok(answer.text),
                Err(error) => {
                    give_up(error, "synthesis across types", coverage)?;
                    let parts = several.iter().map(|(kind, text)| format!("# {kind}\n\n{text}"));
                    Ok(parts.collect::<Vec<_>>().join("\n\n"))
                }
            }
        }
    }
}

fn with_directories(written: String, directories: &[String]) -> String {
    if directories.is_empty() {
        return written;
    }
    format!("{}\n\n## By Directory\n\n{}", written.trim_end(), directories.join("\n"))
}

/// Notes that a failed synthesis is missing from the report; propagates errors that end the run.
fn give_up(error: FrameError, what: &str, coverage: &mut Coverage) -> Result<()> {
    if matches!(error, FrameError::Stopped(_)) {
        return Err(error);
    }
    coverage.read.failed.push((what.to_owned(), error.code()));
    Ok(())
}

fn synthesis_task(task: &Task, synthesis: Arc<Synthesis>) -> Task {
    Task {
        note: Some(synthesis.note().into()),
        assignment: Some(Assignment(Assigned::Synthesis(synthesis))),
        ..Task::new(task.question.clone(), task.view.clone(), Strategy::Synthesis)
    }
}

fn of_type(content_type: &str, reports: &[AnalystReport], gathered: &Gathered) -> (Gathered, Vec<usize>) {
    let own: Vec<AnalystReport> =
        reports.iter().filter(|report| report.content_type == content_type).cloned().collect();
    let numbered = gathered.items.iter().enumerate().filter(|(_, item)| item.content_type == content_type);
    let (numbers, items): (Vec<usize>, Vec<MergedFinding>) =
        numbered.map(|(idx, item)| (idx + 1, item.clone())).unzip();
    (Gathered { items, ..gather(&own) }, numbers)
}

/// The report, with locations instead of references.
fn answer(written: &str, gathered: &Gathered, mut coverage: Coverage) -> Answer {
    let (written, named, n_unknown) = expand_names(written, &gathered.items);
    coverage.unknown_names = n_unknown;
    let text = in_order(&written, &findings_section(gathered), &coverage.section());
    let mut order = named;
    order.extend(
        (0..gathered.items.len()).filter(|idx| !order.contains(idx)).take(CITATIONS_MAX).collect::<Vec<_>>(),
    );
    let citations = order.iter().filter_map(|&idx| citation(&gathered.items[idx].finding));
    let citations: Vec<_> = citations.take(CITATIONS_MAX).collect();
    let grounding = match coverage.gap() {
        Some(stopped_by) => Grounding::Partial { stopped_by },
        None if citations.is_empty() => Grounding::Uncited,
        None => Grounding::Cited,
    };
    Answer { text, citations, grounding }
}
