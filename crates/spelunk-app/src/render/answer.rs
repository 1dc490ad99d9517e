//! The answer: for people as text, evidence and a closing line; for programs as one JSON object.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spelunk_engine::{RunResult, RunView};
use spelunk_journal::Blobs;
use spelunk_types::{Citation, Found, Grounding, RunId, Strategy};

use super::markdown::for_terminal;
use crate::error_text::{Paint, error_json};
use crate::result_details::{self, Evidence, Metrics};
use crate::units::{bytes, count, dollars, head, listed, safe, time, tokens};

const QUOTE_CHARS_MAX: usize = 100;

/// The answer and its evidence, for stdout.
pub fn answer_text(text: &str, citations: &[Citation], paint: Paint) -> String {
    let text = safe(text);
    let mut shown = match paint {
        Paint::Plain => format!("{}\n", text.trim_end()),
        Paint::Colored => for_terminal(text.trim_end()),
    };
    let places: Vec<String> = citations.iter().map(|citation| head(&citation.place(), 200)).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or_default().min(48);
    for (citation, place) in citations.iter().zip(places) {
        let pad = " ".repeat(width.saturating_sub(place.chars().count()));
        let (place, quote) = (paint.apply("36", &place), head(&citation.quote, QUOTE_CHARS_MAX));
        shown += &format!("  {place}{pad}  {quote}\n");
    }
    shown
}

/// The closing line for people: what was read, the calls, the cost, and the run id.
pub fn closing_line(view: &RunView, run: &RunId) -> String {
    let mut parts = vec![files_read(view)];
    let n_cells: usize = view.cells.values().map(Vec::len).sum();
    let n_tools: u64 = view.tools.values().map(|(n_calls, _)| n_calls).sum();
    parts.push(if n_tools > 0 && view.bytes_read == 0 {
        format!("{} worked on in {}", bytes(view.corpus_bytes), count(n_tools, "tool call"))
    } else if n_cells > 0 && (view.bytes_read == 0 || view.chosen == Some(Strategy::Repl)) {
        format!("{} explored in {}", bytes(view.corpus_bytes), count(n_cells as u64, "cell"))
    } else {
        bytes_read(view)
    });
    let calls = match view.n_cached_calls() {
        0 => count(view.n_paid_calls(), "call"),
        cached => format!("{}, {cached} from cache", count(view.n_paid_calls(), "call")),
    };
    parts.push(calls + &to_sub_model(view));
    parts.push(format!("{} tokens", tokens(view.spent.tokens())));
    parts.push(dollars(view.spent.cost_microusd));
    parts.push(time(view.active_ms()));
    if view.n_documents > 0 && view.answer().is_some_and(|(_, _, grounding)| grounding == Grounding::Uncited)
    {
        parts.push("no citations".to_owned());
    }
    parts.push(format!("run {}", run.short()));
    parts.join(" · ")
}

fn to_sub_model(view: &RunView) -> String {
    let Some(sub_model) = view.sub_model.as_ref().filter(|sub_model| view.model.as_ref() != Some(*sub_model))
    else {
        return String::new();
    };
    let named = sub_model.to_string();
    match view.calls.values().filter(|call| call.model == named).count() {
        0 => String::new(),
        n_calls => format!(", {n_calls} to {}", sub_model.name),
    }
}

/// The number of files, and how many of them the analysts read in full if not all.
pub(crate) fn files_read(view: &RunView) -> String {
    let files = count(view.n_documents, "file");
    if view.tasks.is_none() || view.documents_read >= view.n_documents {
        return files;
    }
    format!("{} of {files}", view.documents_read)
}

/// How much of the text was shown to a model that replied.
pub(crate) fn bytes_read(view: &RunView) -> String {
    if view.bytes_read >= view.corpus_bytes {
        format!("{} read", bytes(view.corpus_bytes))
    } else {
        format!("{} read of {}", bytes(view.bytes_read), bytes(view.corpus_bytes))
    }
}

/// Remarks for people: warnings, and citations that were not found.
pub fn remarks(view: &RunView) -> Vec<String> {
    let mut remarks = Vec::new();
    for (message, hint) in &view.warnings {
        let step = if hint.is_empty() { String::new() } else { format!(" ({})", head(hint, 200)) };
        remarks.push(format!("warning: {}{step}", head(message, 200)));
    }
    let n_missing = view.citations.iter().filter(|(_, found)| *found == Found::Missing).count() as u64;
    let n_found = view.citations.len() as u64 - n_missing;
    if n_missing > 0 && n_found > 0 {
        remarks.push(format!("{} not found in the sources and left out", count(n_missing, "citation")));
    }
    remarks.extend(left_out(&view.skipped, &view.redacted));
    remarks
}

/// Skipped files by reason, and the number of redacted secrets.
pub fn left_out(skipped: &BTreeMap<String, u64>, redacted: &BTreeMap<String, u64>) -> Vec<String> {
    let mut remarks = Vec::new();
    if !skipped.is_empty() {
        remarks.push(format!("Skipped: {}", listed(skipped)));
    }
    if !redacted.is_empty() {
        let n_secrets: u64 = redacted.values().sum();
        let them = if n_secrets == 1 { "it" } else { "them" };
        remarks
            .push(format!("Redacted: {} (keep {them} with `--allow-secrets`)", count(n_secrets, "secret")));
    }
    remarks
}

/// The result as JSON. Unreadable evidence is left out, so that the answer is not lost.
pub fn result_json(result: &RunResult, view: &RunView, blobs: &Blobs) -> Value {
    let answer = result.answer.as_ref();
    let cited = answer.map(|answer| answer.citations.as_slice()).unwrap_or_default();
    let evidence = Evidence::of(view, cited, blobs).unwrap_or_default();
    json!({
        "run": result.run,
        "outcome": result.outcome,
        "answer": answer.map(|answer| &answer.text),
        "citations": answer.map(|answer| &answer.citations),
        "grounding": answer.map(|answer| answer.grounding.name()),
        "confidence": view.confidence(),
        "degraded": false,
        "success": answer.is_some_and(|answer| !answer.text.trim().is_empty()),
        "evidence": evidence.iter().map(Evidence::json).collect::<Vec<_>>(),
        "metrics": Metrics::of(view).json(),
        "errors": result_details::errors(view).iter().map(result_details::error_json).collect::<Vec<_>>(),
        "error": result.error.as_ref().map(|error| error_json(error)),
        "model": view.model.as_ref().map(ToString::to_string),
        "documents": view.n_documents,
        "documents_read": view.documents_read,
        "corpus_bytes": view.corpus_bytes,
        "bytes_read": view.bytes_read,
        "skipped": view.skipped,
        "redacted": view.redacted,
        "calls": view.n_paid_calls(),
        "calls_cached": view.n_cached_calls(),
        "usage": view.spent,
        "active_ms": view.active_ms(),
        "warnings": view.warnings.iter().map(|(message, _)| message).collect::<Vec<_>>(),
    })
}
