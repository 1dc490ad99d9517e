//! The start of a run: `start` writes it as the first event, and `resume` compares it with the current request.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use spelunk_context::{DocEntry, Pin, Pins, View};
use spelunk_journal::{Blobs, JournalError};
use spelunk_model::Model;
use spelunk_sandbox::INTERPRETER_VERSION;
use spelunk_types::{
    BlobId, CorpusRecord, Event, EventKind, JOURNAL_FORMAT, Limits, ModelRef, OtherModels, RunId,
    ScanOptions, SourceSpec, Strategy,
};

use super::{ResumeRequest, RunRequest};
use crate::journal::replay::is_text;
use crate::run_start::RunStart;
use crate::tools::ExternalTools;
use crate::{EngineError, strategy};

/// The largest corpus that is copied into the journal of its run.
const CONTEXT_BYTES_MAX: u64 = 1_000_000;
const CONTEXT_DOCUMENTS_MAX: usize = 200;

pub(super) fn start_of(
    request: &RunRequest,
    model_names: &[String],
    tools: &ExternalTools,
    scan: &ScanOptions,
    blobs: &Blobs,
) -> Result<EventKind, JournalError> {
    let (strategy, limits) = (request.strategy, request.settings.limits.clone());
    let (model, sub_model) =
        (request.model.reference().clone(), reference(request.sub_model.as_ref()).cloned());
    let synthesis = reference(request.synthesis_model.as_ref()).cloned();
    let other_models = OtherModels { synthesis, names: model_names.to_vec() };
    Ok(EventKind::RunStarted {
        format: JOURNAL_FORMAT,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        interpreter: INTERPRETER_VERSION,
        question: blobs.keep(&request.question)?,
        strategy,
        sources: request.sources.clone(),
        scan: Box::new(scan.clone()),
        corpus_digest: request.corpus.digest().clone(),
        corpus: None,
        settings_digest: settings_digest(&model, sub_model.as_ref(), &other_models, strategy, &limits),
        model,
        sub_model: sub_model.map(Box::new),
        other_models: (other_models != OtherModels::default()).then(|| Box::new(other_models)),
        schema: request.schema.as_deref().map(|text| blobs.keep(text)).transpose()?,
        turn: request.turn.as_ref().map(|turn| blobs.keep(&turn.to_json())).transpose()?,
        tools: tools.to_json().map(|text| blobs.keep(&text)).transpose()?,
        focus: request.focus,
        limits: Box::new(limits),
    })
}

/// The recorded start. A journal whose only line was torn has none.
pub(super) fn recorded_start(run: &RunId, events: &[Event]) -> Result<RunStart, JournalError> {
    events.first().and_then(|event| RunStart::of(&event.kind)).ok_or_else(|| {
        let what = "its start is missing".to_owned();
        JournalError::Damaged { run: run.clone(), line: 1, what }
    })
}

/// Refuses to resume with different settings; returns the limits to continue with.
pub(super) fn check_resumed(
    start: &RunStart,
    run: &RunId,
    request: &ResumeRequest,
    model_names: &[String],
) -> Result<Limits, EngineError> {
    let changed = |what, recorded: String, now: String| EngineError::SettingsChanged {
        run: run.clone(),
        what,
        recorded,
        now,
    };
    let named = |model: Option<&ModelRef>| model.map_or_else(|| "none".to_owned(), ToString::to_string);
    let OtherModels { synthesis, names } = &start.other_models;
    for (what, recorded, now) in [
        ("model", start.model.to_string(), request.model.reference().to_string()),
        ("sub-model", named(start.sub_model.as_ref()), named(reference(request.sub_model.as_ref()))),
        (
            "model for the synthesis",
            named(synthesis.as_ref()),
            named(reference(request.synthesis_model.as_ref())),
        ),
    ] {
        if recorded != now {
            return Err(changed(what, recorded, now));
        }
    }
    if names != model_names {
        let listed = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(changed("names of models", listed(names), listed(model_names)));
    }
    let limits = resumed_limits(&start.limits, &request.settings.limits);
    let sub_model = start.sub_model.as_ref();
    let now = settings_digest(&start.model, sub_model, &start.other_models, start.strategy, &limits);
    if now != start.settings_digest {
        let short = |digest: &BlobId| digest.to_string().chars().take(8).collect();
        return Err(changed("prompts and settings", short(&start.settings_digest), short(&now)));
    }
    if start.strategy == Strategy::Program && request.program.is_none() {
        return Err(EngineError::ProgramMissing { run: run.clone() });
    }
    Ok(limits)
}

fn reference(model: Option<&Arc<dyn Model>>) -> Option<&ModelRef> {
    model.map(|model| model.reference())
}

fn resumed_limits(recorded: &Limits, now: &Limits) -> Limits {
    let mut limits = recorded.clone();
    for limit in Limits::ALL.iter().filter(|limit| limit.may_change_on_resume) {
        let is_known = limits.set(limit.name, now.get(limit.name).unwrap_or(limit.default));
        debug_assert!(is_known, "{} is a limit", limit.name);
    }
    limits
}

/// Describes the corpus. Its text is included only if it is small and no document has changed since
/// the scan. Nobody waits for that copy, and a text that is stored as a source is not stored again.
pub(super) fn corpus_record(
    view: &View,
    sources: &[SourceSpec],
    blobs: &Blobs,
) -> Result<CorpusRecord, JournalError> {
    let is_small = view.bytes() <= CONTEXT_BYTES_MAX && view.documents().len() <= CONTEXT_DOCUMENTS_MAX;
    let text = if is_small { copied(view) } else { None };
    let given = |text: &str| {
        let mut contents = sources.iter().filter_map(SourceSpec::content);
        contents.find(|content| is_text(content, text)).cloned()
    };
    let context = match text {
        None => None,
        Some(text) => Some(given(&text).map_or_else(|| blobs.keep_prompt(&text), Ok)?),
    };
    let since_1970 = |document: &DocEntry| document.digest_time()?.duration_since(UNIX_EPOCH).ok();
    let modified_ns = view.documents().filter_map(|document| {
        Some((document.name.clone(), u64::try_from(since_1970(document)?.as_nanos()).ok()?))
    });
    Ok(CorpusRecord {
        documents: blobs.keep_said(&listed(view))?,
        context,
        lines: view.documents().map(|document| document.lines).sum(),
        modified_ns: modified_ns.collect(),
    })
}

/// How the documents were found when the run was started. Journals of older engines do not record it.
pub(super) fn pins(start: &RunStart, blobs: &Blobs) -> Result<Pins, JournalError> {
    let Some(record) = &start.corpus else { return Ok(Pins::new()) };
    let of_line = |line: &str| {
        let (bytes, name) = line.split_once(' ')?.1.split_once(' ')?;
        let modified = record.modified_ns.get(name).map(|ns| UNIX_EPOCH + Duration::from_nanos(*ns));
        Some((name.to_owned(), Pin { bytes: bytes.parse().ok()?, modified }))
    };
    Ok(blobs.text(&record.documents)?.lines().filter_map(of_line).collect())
}

/// A single document unchanged, or several, each after a line with its name.
fn copied(view: &View) -> Option<String> {
    let mut text = String::new();
    let is_one = view.documents().len() == 1;
    for document in view.documents() {
        let own = view.read_owned(document).ok()?;
        if is_one {
            return Some(own);
        }
        text += &format!("--- FILE: {} ({} bytes) ---\n{own}", document.name, own.len());
        if !own.ends_with('\n') {
            text.push('\n');
        }
    }
    Some(text)
}

/// The documents, one per line: digest, bytes, name. Names contain no line breaks.
fn listed(view: &View) -> String {
    let line = |document: &DocEntry| format!("{} {} {}\n", document.digest, document.bytes, document.name);
    view.documents().map(line).collect()
}

/// Everything besides corpus and question that affects the course of a run: the models, the
/// strategy, its prompts, and the limits that are not about spending.
fn settings_digest(
    model: &ModelRef,
    sub_model: Option<&ModelRef>,
    others: &OtherModels,
    strategy: Strategy,
    limits: &Limits,
) -> BlobId {
    let mut text = format!("settings-v1\n{model}\n{strategy}\n{}\n", strategy::prompts_digest());
    for (role, model) in [("sub", sub_model), ("synthesis", others.synthesis.as_ref())] {
        if let Some(model) = model {
            text += &format!("{role}={model}\n");
        }
    }
    if !others.names.is_empty() {
        text += &format!("names={}\n", others.names.join(","));
    }
    for limit in Limits::ALL.iter().filter(|limit| !limit.may_change_on_resume) {
        text += &format!("{}={}\n", limit.name, limits.get(limit.name).unwrap_or_default());
    }
    spelunk_journal::digest(text.as_bytes())
}
