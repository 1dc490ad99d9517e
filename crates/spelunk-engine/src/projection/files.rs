//! The contents of each file of the projection. Every JSON file has a `schema_version`; fields are only ever added.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use spelunk_context::{ContentType, Structure, estimate_tokens};
use spelunk_types::{
    AnalystReport, Citation, Event, Finding, Found, FrameId, RunId, RunOutcome, SourceSpec, Strategy, Unit,
    iso_time,
};

use super::{ChunkRow, Ending, Projection, Worker};
use crate::run_start::RunStart;
use crate::task::Noted;
use crate::{CallState, ReportError, RunView};

const SCHEMA_VERSION: u32 = 1;
/// The line that separates a task from its findings.
const FINDINGS_MARK: &str = "--- FINDINGS ---";
const SUMMARY_CHARS_MAX: usize = 200;

pub(super) fn metadata(of: &Projection, start: &RunStart, has_copy: bool) -> String {
    let view = &of.state.view;
    let source = match start.sources.as_slice() {
        [SourceSpec::Path { path, .. }] => path.clone(),
        [SourceSpec::Snapshot { manifest, .. }] => format!("snapshot {manifest}"),
        [SourceSpec::Database { url } | SourceSpec::Objects { url }] => url.clone(),
        [SourceSpec::Text { .. }] | [] => "inline".to_owned(),
        [_, _, ..] => "several".to_owned(),
    };
    let end = view.outcome.as_ref().map(|_| iso_time(view.updated_at_ms));
    let tasks = view.tasks.clone().unwrap_or_default();
    let lifecycle = match (of.is_archived, view.frames.is_empty()) {
        (true, _) => "archived",
        (false, true) => "created",
        (false, false) => "active",
    };
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "workspace_id": of.run,
        "created_at": iso_time(view.started_at_ms),
        "lifecycle": lifecycle,
        "context": {
            "file": "context.txt",
            "is_copy": has_copy,
            "source": source,
            "sources": start.sources,
            "documents": view.n_documents,
            "size_bytes": view.corpus_bytes,
            "line_count": start.corpus.as_ref().and_then(|corpus| corpus.lines),
            "estimated_tokens": estimate_tokens(view.corpus_bytes),
            "structure": structure(of),
            "content_types": of.state.types,
            "digest": start.corpus_digest,
        },
        "processing": {
            "status": status(view),
            "strategy": if start.strategy == Strategy::Map { "partition_map" } else { start.strategy.name() },
            "chunks_created": of.state.chunks.len(),
            "workers_spawned": of.state.workers.values().filter(|worker| worker.strategy != Strategy::Synthesis).count(),
            "start_time": iso_time(view.started_at_ms),
            "end_time": end,
        },
        "results": {
            "final_answer_file": view.answer().map(|_| "final_answer.md"),
            "confidence": view.confidence(),
            "coverage": {
                "documents": view.n_documents,
                "documents_read": view.documents_read,
                "bytes": view.corpus_bytes,
                "bytes_read": view.bytes_read,
                "tasks": tasks.planned,
                "tasks_done": tasks.done,
                "tasks_failed": tasks.failed,
                "parts_recalled": tasks.recalled,
            },
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

/// The structure of all documents; `mixed` if they differ.
fn structure(of: &Projection) -> Option<&'static str> {
    // A user-defined type is text of any form.
    let named = |name: &String| ContentType::from_name(name).unwrap_or(ContentType::Unknown).structure();
    let mut structures = of.state.types.iter().map(named);
    let first = structures.next()?;
    Some(if structures.all(|other| other == first) { first } else { Structure::Mixed }.name())
}

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
        "# The documents of this run, by reference. One per line: BLAKE3 digest, bytes, name.\n".to_owned();
    for source in &start.sources {
        text += &match source {
            SourceSpec::Path { path, .. } => format!("# from {}\n", path.replace(['\n', '\r'], " ")),
            SourceSpec::Text { name, .. } => format!("# from the request: {name}\n"),
            SourceSpec::Snapshot { manifest, .. } => format!("# from the snapshot {manifest}\n"),
            SourceSpec::Database { url } | SourceSpec::Objects { url } => {
                format!("# from {}\n", url.replace(['\n', '\r'], " "))
            }
        };
    }
    match documents {
        Some(documents) => text + documents,
        None => text + "# The engine that started this run did not list them.\n",
    }
}

pub(super) fn manifest(chunks: &[ChunkRow]) -> String {
    let row = |(index, row): (usize, &ChunkRow)| {
        json!({
            "index": index,
            "id": format!("chunk_{:04}", index + 1),
            "chunk_path": chunk_name(index),
            "label": row.noted.label,
            "content_type": row.noted.content_type,
            "parts": row.noted.units,
            "state": row.state,
            "worker": row.result,
        })
    };
    let rows: Vec<Value> = chunks.iter().enumerate().map(row).collect();
    pretty(&json!({ "schema_version": SCHEMA_VERSION, "chunks": rows }))
}

pub(super) fn chunk_name(idx: usize) -> String {
    format!("chunks/chunk_{:04}.txt", idx + 1)
}

/// The text of each document, by name, from the copy in `context.txt` and the list of documents.
pub(super) fn texts<'c>(listed: &'c str, copy: &'c str) -> BTreeMap<&'c str, &'c str> {
    let names = listed.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = names.filter_map(|line| line.splitn(3, ' ').nth(2)).collect();
    if let [only] = names.as_slice() {
        return BTreeMap::from([(*only, copy)]);
    }
    let (mut texts, mut rest) = (BTreeMap::new(), copy);
    for name in names {
        let head =
            rest.strip_prefix("--- FILE: ").and_then(|rest| rest.strip_prefix(name)?.strip_prefix(" ("));
        let Some((bytes, after)) = head.and_then(|rest| rest.split_once(" bytes) ---\n")) else { break };
        let Some((text, after)) = bytes.parse().ok().and_then(|bytes| after.split_at_checked(bytes)) else {
            break;
        };
        texts.insert(name, text);
        rest = if text.ends_with('\n') { after } else { after.strip_prefix('\n').unwrap_or(after) };
    }
    texts
}

/// The lines that a task reads, or where they are if there is no copy of the text.
pub(super) fn chunk(units: &[Unit], texts: Option<&BTreeMap<&str, &str>>) -> String {
    let mut text = String::new();
    for (idx, unit) in units.iter().enumerate() {
        let Unit { file, line_start, line_end } = unit;
        let lines = (line_end + 1).saturating_sub(*line_start);
        let own = texts.and_then(|texts| texts.get(file.as_str()));
        if own.is_none() {
            text += &format!("# by reference: lines {line_start} to {line_end} of {file}\n");
        } else if units.len() > 1 {
            text += &format!("--- FILE {}: {file} ({lines} lines) ---\n", idx + 1);
        }
        let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let own = own.into_iter().flat_map(|own| own.split_inclusive('\n'));
        text.extend(own.skip(at(line_start.saturating_sub(1))).take(at(lines)));
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

pub(super) fn metrics(of: &Projection) -> String {
    let view = &of.state.view;
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
    for (name, count) in &of.state.counted {
        metrics[name] = count.clone();
    }
    pretty(&metrics)
}

/// A task as text: the question, what to read and how, and the findings after the mark.
pub(super) fn task(
    of: &Projection,
    worker: &Worker,
    question: &str,
    note: &str,
    ending: Option<&Ending>,
) -> String {
    let state = match ending {
        None => "in_progress",
        Some(Ending::Failed { .. }) => "failed",
        Some(Ending::Recalled(_) | Ending::Reported(_) | Ending::Answered { .. }) => "completed",
    };
    let mode = if of.state.view.n_documents == 1 { "single-file" } else { "multi-file" };
    let mut text = format!("Mode: {mode}\nTask: {}\nState: {state}\nQuery: {}\n", worker.task, question);
    if !worker.blocked_by.is_empty() {
        text += &format!("Blocked by: {}\n", worker.blocked_by.join(", "));
    }
    if !note.is_empty() {
        text += &format!("\n{}\n", note.trim_end());
    }
    let units = noted(of, worker).map(|noted| noted.units.as_slice()).unwrap_or_default();
    if !units.is_empty() {
        text += "\nRead:\n";
    }
    for Unit { file, line_start, line_end } in units {
        let place =
            of.state.start.as_ref().map_or_else(|| file.clone(), |start| absolute(&start.sources, file));
        text += &format!("- `{place}`, lines {line_start} to {line_end}\n");
    }
    let Some(ending) = ending else { return text };
    let found = match ending {
        Ending::Recalled(report) | Ending::Reported(report) => json!({
            "findings": report.findings,
            "metadata": {
                "relevant": report.relevant,
                "summary": report.summary,
                "confidence": report.confidence().map(|confidence| confidence.mean),
                "raised_by": report.raised_by,
                "content_type": report.content_type,
                "recalled": matches!(ending, Ending::Recalled(_)),
                "contains": report.metadata,
            },
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

fn noted<'o>(of: &'o Projection, worker: &Worker) -> Option<&'o Noted> {
    of.state.chunks.get(worker.chunk_idx?).map(|row| &row.noted)
}

/// The path of a document if it is a file: below the named directory, or the named file itself.
fn absolute(sources: &[SourceSpec], name: &str) -> String {
    let mut paths = sources.iter().filter_map(|source| match source {
        SourceSpec::Path { path, .. } => Some(Path::new(path)),
        SourceSpec::Text { .. }
        | SourceSpec::Snapshot { .. }
        | SourceSpec::Database { .. }
        | SourceSpec::Objects { .. } => None,
    });
    let is_one = sources.len() == 1;
    let place = |path: &Path| {
        if path.ends_with(name) {
            return Some(path.to_owned());
        }
        // With several sources, the names of documents begin with the source.
        let below =
            if is_one { Some(Path::new(name)) } else { Path::new(name).strip_prefix(path.file_name()?).ok() };
        below.map(|below| path.join(below))
    };
    let found = paths.find_map(place);
    found.map_or_else(|| name.to_owned(), |path| path.display().to_string())
}

pub(super) fn worker(
    of: &Projection,
    worker: &Worker,
    closed_at_ms: u64,
    question: &str,
    ending: &Ending,
) -> String {
    let hash = spelunk_journal::digest(format!("{}/{}/{}", of.run, worker.frame, worker.task).as_bytes());
    let hash: String = hash.to_string().chars().take(8).collect();
    let opened = RunId::new(worker.opened_at_ms, 0);
    let stamp = opened.as_str().get(4..20).unwrap_or_default();
    let noted = noted(of, worker);
    // Journals of earlier engines do not contain these names.
    let named = |name: fn(&Noted) -> &String| noted.map(name).filter(|name| !name.is_empty());
    let (report, is_recalled) = match ending {
        Ending::Reported(report) => (Some(report.as_ref()), false),
        Ending::Recalled(report) => (Some(report.as_ref()), true),
        Ending::Answered { .. } | Ending::Failed { .. } => (None, false),
    };
    let is_failed = matches!(ending, Ending::Failed { .. });
    let confidence = report.and_then(AnalystReport::confidence).map(|confidence| confidence.mean);
    let own = |by_frame: &BTreeMap<FrameId, u64>| {
        if is_recalled { 0 } else { by_frame.get(&worker.frame).copied().unwrap_or_default() }
    };
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "workspace_id": of.run,
        "worker_id": format!("worker_{stamp}_{hash}"),
        "task_id": worker.task,
        "frame": worker.frame,
        "chunk_path": worker.chunk_idx.map(chunk_name),
        "depth": worker.frame.depth() + u32::from(is_recalled),
        "query": question,
        "analyst": named(|noted| &noted.analyst),
        "content_type": named(|noted| &noted.content_type),
        "relevant": report.map(|report| report.relevant),
        "coverage": noted.map(|noted| &noted.units),
        "processing": {
            "strategy": worker.strategy,
            "nested_workers": own(&of.state.nested),
            "recalled": is_recalled,
            "read_tasks": worker.blocked_by,
        },
        "results": results(ending),
        "error": match ending {
            Ending::Failed { code, message } => json!({ "code": code, "message": message }),
            Ending::Recalled(_) | Ending::Reported(_) | Ending::Answered { .. } => Value::Null,
        },
        "metadata": {
            "confidence": if is_failed { Some(0.0) } else { confidence },
            "raised_by": report.and_then(|report| report.raised_by.as_ref()),
            "contains": report.map(|report| &report.metadata),
            "processing_time_ms": closed_at_ms.saturating_sub(worker.opened_at_ms),
            "tokens": own(&of.state.tokens),
            "rejected_findings": report.map(|report| report.rejected),
        },
    }))
}

fn results(ending: &Ending) -> Value {
    match ending {
        Ending::Recalled(report) | Ending::Reported(report) => json!({
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

/// A line of evidence. It always has a timestamp, a tag, content, metadata and a source.
fn evidence_line(event: &Event, tag: &str, content: &str, source: &str, more: Value) -> String {
    let mut line = more;
    line["is"] = tag.into();
    line["tag"] = tag.into();
    line["content"] = content.into();
    line["source"] = source.into();
    line["metadata"] = json!({ "frame": event.frame });
    stamped(event, line)
}

pub(super) fn fact_line(event: &Event, line: &str) -> String {
    match serde_json::from_str(line) {
        Ok(Value::Object(mut fact)) => {
            fact.insert("is".to_owned(), "fact".into());
            for name in ["metadata", "source"] {
                fact.entry(name).or_insert(Value::Null);
            }
            stamped(event, fact.into())
        }
        // Only the engine writes this file, so the line must come from a newer engine.
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

pub(super) fn finding_line(event: &Event, worker: &str, report: &AnalystReport, finding: &Finding) -> String {
    let more = json!({
        "worker": worker,
        "analyst": report.analyst,
        "content_type": report.content_type,
        "finding": finding,
    });
    evidence_line(event, "finding", &finding.summary, &finding.location.to_string(), more)
}

pub(super) fn citation_line(event: &Event, citation: &Citation, found: Found) -> String {
    let source = citation.place();
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
