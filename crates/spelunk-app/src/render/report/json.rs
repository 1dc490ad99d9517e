//! The report as one JSON object: all the data of the other formats.

use serde_json::{Value, json};
use spelunk_engine::{MergedFinding, RunReport};
use spelunk_types::{AnalystReport, Strategy, iso_time};

use super::{severity_name, state_word};

const SCHEMA_VERSION: u32 = 1;

pub(crate) fn json(report: &RunReport) -> String {
    format!("{:#}\n", value(report))
}

/// The report as a value, for embedding in a larger object.
pub(crate) fn value(report: &RunReport) -> Value {
    let view = &report.view;
    let failed = report.coverage.failed.iter().map(|(what, code)| json!({ "what": what, "code": code }));
    json!({
        "schema_version": SCHEMA_VERSION,
        "run": report.run,
        "state": state_word(report),
        "outcome": view.outcome,
        "question": report.question,
        "strategy": view.strategy.map(Strategy::name),
        "focus": report.focus,
        "model": view.model.as_ref().map(ToString::to_string),
        "sub_model": view.sub_model.as_ref().map(ToString::to_string),
        "started_at": iso_time(view.started_at_ms),
        "updated_at": iso_time(view.updated_at_ms),
        "sources": view.sources,
        "answer": report.answer.as_ref().map(|answer| &answer.text),
        "citations": report.answer.as_ref().map(|answer| &answer.citations),
        "grounding": report.answer.as_ref().map(|answer| answer.grounding.name()),
        "confidence": view.confidence(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "distributions": report.distributions.iter().map(|sum| json!({
            "file": sum.file, "name": sum.name, "values": sum.values, "total": sum.total,
        })).collect::<Vec<_>>(),
        "count": report.count,
        "parts": report.reports.iter().map(part).collect::<Vec<_>>(),
        "coverage": {
            "documents": report.coverage.documents,
            "documents_read": report.coverage.documents_read,
            "bytes_read": report.coverage.bytes_read,
            "skipped": view.skipped,
            "tasks": report.coverage.tasks,
            "tasks_done": report.coverage.tasks_done,
            "tasks_failed": failed.collect::<Vec<_>>(),
            "parts_recalled": report.coverage.units_recalled,
            "findings_rejected": report.coverage.rejected,
            "findings_unverified": report.coverage.unverified,
        },
        "metrics": {
            "calls": view.n_paid_calls(),
            "calls_cached": view.n_cached_calls(),
            "usage": view.spent,
            "active_ms": view.active_ms(),
            "corpus_bytes": view.corpus_bytes,
        },
        "errors": report.errors.iter().map(|error| json!({
            "seq": error.seq,
            "at": iso_time(error.at_ms),
            "frame": error.frame,
            "call": error.call,
            "code": error.code,
            "message": error.message,
        })).collect::<Vec<_>>(),
    })
}

fn part(report: &AnalystReport) -> Value {
    json!({
        "analyst": report.analyst,
        "content_type": report.content_type,
        "units": report.units,
        "relevant": report.relevant,
        "summary": report.summary,
        "confidence": report.confidence().map(|confidence| confidence.mean),
        "raised_by": report.raised_by,
        "contains": report.metadata,
    })
}

fn finding(merged: &MergedFinding) -> Value {
    json!({
        "severity": severity_name(merged.finding.severity),
        "content_type": merged.content_type,
        "finding": merged.finding,
        "places": merged.places,
    })
}
