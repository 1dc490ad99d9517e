//! The contents of each file of the projection. Every JSON file has a `schema_version`; fields are only ever added.

use serde_json::{Value, json};
use spelunk_context::estimate_tokens;
use spelunk_types::{
    AnalystReport, Citation, Event, Finding, Found, RunId, RunOutcome, SourceSpec, Strategy, iso_time,
};

use super::{ChunkRow, Ending, Projection, Worker};
use crate::run_start::RunStart;
use crate::{CallState, ReportError, RunView};

const SCHEMA_VERSION: u32 = 1;
/// The line that separates a task from its findings.
const FINDINGS_MARK: &str = "--- FINDINGS ---";
const SUMMARY_CHARS_MAX: usize = 200;
const STRUCTURED: [&str; 3] = ["structured_data", "json", "jsonl"];

/// A summary of the run.
pub(super) fn metadata(of: &Projection, start: &RunStart, has_copy: bool) -> String {
    let view = &of.view;
    let source = match start.sources.as_slice() {
        [SourceSpec::Path { path, .. }] => path.clone(),
        [SourceSpec::Text { .. }] | [] => "inline".to_owned(),
        [_, _, ..] => "several".to_owned(),
    };
    let end = view.outcome.as_ref().map(|_| iso_time(view.updated_at_ms));
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "workspace_id": of.run,
        "created_at": iso_time(view.started_at_ms),
        "lifecycle": if view.frames.is_empty() { "created" } else { "active" },
        "context": {
            "file": "context.txt",
            "is_copy": has_copy,
            "source": source,
            "sources": start.sources,
            "documents": view.n_documents,
            "size_bytes": view.corpus_bytes,
            "line_count": null,
            "estimated_tokens": estimate_tokens(view.corpus_bytes),
            "structure": structure(of),
            "digest": start.corpus_digest,
        },
        "processing": {
            "status": status(view),
            "strategy": if start.strategy == Strategy::Map { "partition_map" } else { start.strategy.name() },
            "chunks_created": of.chunks.len(),
            "workers_spawned": of.workers.len(),
            "start_time": iso_time(view.started_at_ms),
            "end_time": end,
        },
        "results": {
            "final_answer_file": view.answer().map(|_| "final_answer.md"),
            "confidence": run_confidence(of),
            "grounding": view.answer().map(|(.., grounding)| grounding),
            "partial": matches!(view.outcome, Some(RunOutcome::Partial { .. })),
            "token_usage": view.spent,
        },
    }))
}

fn status(view: &RunView) -> &'static str {
    match &view.outcome {
        None if view.frames.is_empty() => "pending",
        None => "active",
        Some(RunOutcome::Answered | RunOutcome::Partial { .. }) => "complete",
        Some(RunOutcome::Failed { .. } | RunOutcome::Cancelled) => "error",
    }
}

/// `None` if no plan determined the document types.
fn structure(of: &Projection) -> Option<&'static str> {
    let n_structured = of.types.iter().filter(|kind| STRUCTURED.contains(&kind.as_str())).count();
    match (of.types.len(), n_structured) {
        (0, _) => None,
        (_, 0) => Some("unstructured"),
        (all, structured) if all == structured => Some("structured"),
        _ => Some("mixed"),
    }
}

/// The mean of the workers' confidences, weighted by tokens, times the share of tasks with a report. `None` if no
/// analyst reported a confidence.
fn run_confidence(of: &Projection) -> Option<f64> {
    let weight: f64 = of.confidences.iter().map(|(_, tokens)| whole(*tokens).max(1.0)).sum();
    if of.confidences.is_empty() {
        return None;
    }
    let sum: f64 = of.confidences.iter().map(|(mean, tokens)| mean * whole(*tokens).max(1.0)).sum();
    let tasks = of.view.tasks.clone().unwrap_or_default();
    // A run that has ended starts no further tasks.
    let ended = if of.view.outcome.is_some() { tasks.planned } else { tasks.done + tasks.failed };
    let covered = whole(tasks.done) / whole(ended).max(1.0);
    Some(rounded(sum / weight * covered))
}

/// The mean confidence of a report's findings.
pub(super) fn confidence(report: &AnalystReport) -> Option<f64> {
    let said: Vec<f64> = report.findings.iter().filter_map(|finding| finding.confidence).collect();
    let n_said = u32::try_from(said.len()).ok().filter(|n| *n > 0)?;
    Some(rounded(said.iter().sum::<f64>() / f64::from(n_said)))
}

fn whole(n: u64) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// What was asked.
pub(super) fn job(start: &RunStart, run: &RunId) -> String {
    let limits = &start.limits;
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "workspace_id": run,
        "engine": start.engine,
        "prompt_path": "input/prompt.md",
        "answer_path": "output/answer.md",
        "strategy": start.strategy,
        "focus": start.focus.name(),
        "model": start.model,
        "sources": start.sources,
        "scan": start.scan,
        "answer_schema": start.schema,
        "config": {
            "max_tokens_per_call": limits.root_output_tokens_max,
            "max_depth": limits.depth_max,
            "max_scripts": limits.cells_max,
            "max_subcalls_per_script": limits.cell_calls_max,
            "submodel": start.sub_model.as_ref().map(|model| model.name.clone()),
        },
        "limits": limits,
    }))
}

/// The documents by reference: their text is not copied, and the digest shows whether it has changed.
pub(super) fn documents(start: &RunStart, documents: Option<&str>) -> String {
    let mut text =
        "# The documents of this run, by reference. A line each: BLAKE3 digest, bytes, name.\n".to_owned();
    for source in &start.sources {
        text += &match source {
            SourceSpec::Path { path, .. } => format!("# from {}\n", path.replace(['\n', '\r'], " ")),
            SourceSpec::Text { name, .. } => format!("# from the request: {name}\n"),
        };
    }
    match documents {
        Some(documents) => text + documents,
        None => text + "# The engine that started this run did not list them.\n",
    }
}

/// What each task reads.
pub(super) fn manifest(chunks: &[ChunkRow]) -> String {
    let row = |(index, row): (usize, &ChunkRow)| {
        json!({
            "index": index,
            "id": format!("chunk_{:04}", index + 1),
            "label": row.label,
            "content_type": row.content_type,
            "parts": row.units,
            "state": row.state,
            "worker": row.worker.map(super::worker_name),
        })
    };
    let rows: Vec<Value> = chunks.iter().enumerate().map(row).collect();
    pretty(&json!({ "schema_version": SCHEMA_VERSION, "chunks": rows }))
}

/// Counters.
pub(super) fn metrics(of: &Projection) -> String {
    let view = &of.view;
    let n_failed = view.calls.values().filter(|call| matches!(call.state, CallState::Failed { .. })).count();
    let n_retries: usize = view.calls.values().map(|call| call.retries.len()).sum();
    let n_cells: usize = view.cells.values().map(Vec::len).sum();
    let tasks = view.tasks.clone().unwrap_or_default();
    let mut metrics = json!({
        "schema_version": SCHEMA_VERSION,
        "events": view.seq_last,
        "calls": view.n_paid_calls(),
        "calls_cached": view.n_cached_calls(),
        "calls_failed": n_failed,
        "retries": n_retries,
        "usage": view.spent,
        "active_ms": view.active_ms(),
        "resumed": view.n_resumed,
        "frames": view.frames.len(),
        "cells": n_cells,
        "documents": view.n_documents,
        "bytes": view.corpus_bytes,
        "skipped": view.skipped,
        "redacted": view.redacted,
        "tasks": {
            "planned": tasks.planned,
            "done": tasks.done,
            "failed": tasks.failed,
            "recalled": tasks.recalled,
        },
        "findings": tasks.findings,
        "warnings": view.warnings.iter().map(|(message, _)| message).collect::<Vec<_>>(),
    });
    for (name, count) in &of.counted {
        metrics[name] = count.clone();
    }
    pretty(&metrics)
}

/// A task as text: the question, the material, and after the mark the findings.
pub(super) fn task(worker: &Worker, question: &str, note: &str, ending: Option<&Ending>) -> String {
    let state = match ending {
        None => "in_progress",
        Some(Ending::Failed { .. }) => "failed",
        Some(Ending::Reported(_) | Ending::Answered { .. }) => "completed",
    };
    let number = worker.number;
    let mut text = format!("Mode: multi-file\nTask: {number}\nState: {state}\nQuery: {question}\n");
    if !note.is_empty() {
        text += &format!("\n{}\n", note.trim_end());
    }
    let Some(ending) = ending else { return text };
    let found = match ending {
        Ending::Reported(report) => json!({
            "findings": report.findings,
            "metadata": { "relevant": report.relevant, "summary": report.summary, "confidence": confidence(report) },
        }),
        Ending::Answered { text, citations } => {
            json!({ "findings": [], "answer": text, "citations": citations })
        }
        Ending::Failed { code, message } => {
            json!({ "findings": [], "error": { "code": code, "message": message } })
        }
    };
    text + &format!("\n{FINDINGS_MARK}\n{found}\n")
}

/// The result of a worker.
pub(super) fn worker(
    of: &Projection,
    worker: &Worker,
    closed: &Event,
    question: &str,
    ending: &Ending,
) -> String {
    let frame = closed.frame.to_string();
    let hash = spelunk_journal::digest(format!("{}/{frame}", of.run).as_bytes());
    let hash: String = hash.as_str().chars().take(8).collect();
    let opened = RunId::new(worker.opened_at_ms, 0);
    let stamp = opened.as_str().get(4..20).unwrap_or_default();
    let number = worker.number;
    let report = match ending {
        Ending::Reported(report) => Some(report.as_ref()),
        Ending::Answered { .. } | Ending::Failed { .. } => None,
    };
    let n_nested = of.nested.get(&closed.frame).copied().unwrap_or_default();
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "workspace_id": of.run,
        "worker_id": format!("worker_{stamp}_{hash}"),
        "task_id": format!("task_{number:04}"),
        "frame": frame,
        "chunk_path": worker.chunk_idx.map(|idx| format!("chunks/manifest.json#/chunks/{idx}")),
        "depth": closed.frame.depth(),
        "query": question,
        "analyst": report.map(|report| &report.analyst),
        "content_type": report.map(|report| &report.content_type),
        "relevant": report.map(|report| report.relevant),
        "coverage": report.map(|report| &report.units),
        "processing": { "strategy": worker.strategy, "nested_workers": n_nested },
        "results": results(ending),
        "error": match ending {
            Ending::Failed { code, message } => json!({ "code": code, "message": message }),
            Ending::Reported(_) | Ending::Answered { .. } => Value::Null,
        },
        "metadata": {
            "confidence": report.and_then(confidence),
            "processing_time_ms": closed.at_ms.saturating_sub(worker.opened_at_ms),
            "tokens": of.tokens.get(&closed.frame).copied().unwrap_or_default(),
            "rejected_findings": report.map(|report| report.rejected),
        },
    }))
}

fn results(ending: &Ending) -> Value {
    match ending {
        Ending::Reported(report) => json!({
            "findings": report.findings,
            "answer": report.answer,
            "count": report.count,
            "summary": report.summary,
        }),
        Ending::Answered { text, citations } => {
            let summary: String = text.chars().take(SUMMARY_CHARS_MAX).collect();
            json!({ "findings": [], "answer": text, "count": null, "summary": summary, "citations": citations })
        }
        Ending::Failed { .. } => json!({ "findings": [], "answer": null, "count": null, "summary": null }),
    }
}

/// A line of evidence. Whatever it is about, it has a timestamp, a tag, content, metadata and a source.
fn evidence_line(event: &Event, tag: &str, content: &str, source: &str, more: Value) -> String {
    let mut line = more;
    line["is"] = tag.into();
    line["tag"] = tag.into();
    line["content"] = content.into();
    line["source"] = source.into();
    line["metadata"] = json!({ "seq": event.seq, "frame": event.frame });
    stamped(event, line)
}

/// A fact that an agent kept.
pub(super) fn fact_line(event: &Event, line: &str) -> String {
    match serde_json::from_str(line) {
        Ok(Value::Object(mut fact)) => {
            fact.insert("is".to_owned(), "fact".into());
            for name in ["metadata", "source"] {
                fact.entry(name).or_insert(Value::Null);
            }
            stamped(event, fact.into())
        }
        // Only the engine writes this file, so this is one of an engine to come.
        Ok(_) | Err(_) => line.to_owned(),
    }
}

fn stamped(event: &Event, mut line: Value) -> String {
    line["timestamp"] = iso_time(event.at_ms).into();
    line["seq"] = event.seq.into();
    line["at"] = iso_time(event.at_ms).into();
    line["frame"] = json!(event.frame);
    line.to_string()
}

pub(super) fn finding_line(
    event: &Event,
    worker: Option<usize>,
    report: &AnalystReport,
    finding: &Finding,
) -> String {
    let more = json!({
        "worker": worker.map(super::worker_name),
        "analyst": report.analyst,
        "content_type": report.content_type,
        "finding": finding,
    });
    evidence_line(event, "finding", &finding.summary, &finding.location.to_string(), more)
}

pub(super) fn citation_line(event: &Event, citation: &Citation, found: Found) -> String {
    let source = format!("{}:{}", citation.document, citation.line);
    let more = json!({ "citation": citation, "found": found });
    evidence_line(event, "citation", &citation.quote, &source, more)
}

pub(super) fn error_line(error: &ReportError) -> String {
    let context = error.call.as_ref().map_or_else(|| error.frame.to_string(), ToString::to_string);
    json!({
        "timestamp": iso_time(error.at_ms),
        "error_type": error.code,
        "error_message": error.message,
        "context": context,
        "seq": error.seq,
        "at": iso_time(error.at_ms),
        "frame": error.frame,
        "call": error.call,
        "code": error.code,
        "message": error.message,
    })
    .to_string()
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
