//! The start of a run, as recorded in its first event: written by `start`, and compared with the current request by
//! `resume`.

use spelunk_context::{DocEntry, View};
use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{
    BlobId, CorpusRecord, Event, EventKind, Focus, JOURNAL_FORMAT, Limits, ModelRef, OtherModels, RunId,
    ScanOptions, SourceSpec, Strategy, Text,
};

use super::{ResumeRequest, RunRequest};
use crate::{EngineError, strategy};

/// The largest corpus that is copied into the journal of its run.
const CONTEXT_BYTES_MAX: u64 = 1_000_000;
const CONTEXT_DOCUMENTS_MAX: usize = 200;

/// What a run was started with.
pub(crate) struct Start {
    pub(crate) question: Text,
    pub(crate) strategy: Strategy,
    pub(crate) sources: Vec<SourceSpec>,
    pub(crate) scan: ScanOptions,
    pub(crate) model: ModelRef,
    pub(crate) sub_model: Option<ModelRef>,
    pub(crate) synthesis_model: Option<ModelRef>,
    /// The names of models that code could call.
    pub(crate) model_names: Vec<String>,
    pub(crate) schema: Option<Text>,
    pub(crate) focus: Focus,
    pub(crate) corpus_digest: BlobId,
    pub(crate) corpus: Option<Box<CorpusRecord>>,
    pub(crate) settings_digest: BlobId,
    pub(crate) limits: Limits,
}

impl Start {
    pub(crate) fn of_request(
        request: &RunRequest,
        model_names: &[String],
        scan: &ScanOptions,
        blobs: &Blobs,
    ) -> Result<Self, JournalError> {
        let (model, strategy) = (request.model.reference().clone(), request.strategy);
        let sub_model = request.sub_model.as_ref().map(|model| model.reference().clone());
        let synthesis_model = request.synthesis_model.as_ref().map(|model| model.reference().clone());
        let limits = request.settings.limits.clone();
        let named = Named {
            root: &model,
            sub: sub_model.as_ref(),
            synthesis: synthesis_model.as_ref(),
            names: model_names,
        };
        Ok(Self {
            question: blobs.keep(&request.question)?,
            strategy,
            sources: request.sources.clone(),
            scan: scan.clone(),
            corpus_digest: request.corpus.digest().clone(),
            corpus: None,
            settings_digest: settings_digest(&named, strategy, &limits),
            model,
            sub_model,
            synthesis_model,
            model_names: model_names.to_vec(),
            schema: request.schema.as_deref().map(|text| blobs.keep(text)).transpose()?,
            focus: request.focus,
            limits,
        })
    }

    /// The recorded start. A journal whose only line was torn has none.
    pub(crate) fn of(run: &RunId, events: &[Event]) -> Result<Self, JournalError> {
        match events.first().map(|event| event.kind.clone()) {
            Some(EventKind::RunStarted {
                question,
                strategy,
                sources,
                scan,
                model,
                sub_model,
                other_models,
                schema,
                focus,
                corpus_digest,
                corpus,
                settings_digest,
                limits,
                ..
            }) => {
                let (scan, limits) = (*scan, *limits);
                let others = other_models.map(|others| *others).unwrap_or_default();
                Ok(Self {
                    question,
                    strategy,
                    sources,
                    scan,
                    model,
                    sub_model: sub_model.map(|model| *model),
                    synthesis_model: others.synthesis,
                    model_names: others.names,
                    schema,
                    focus,
                    corpus_digest,
                    corpus,
                    settings_digest,
                    limits,
                })
            }
            Some(_) | None => {
                let what = "its start is missing".to_owned();
                Err(JournalError::Damaged { run: run.clone(), line: 1, what })
            }
        }
    }

    /// Adds a description of the corpus. Its text is included only if it is small and no document has changed since
    /// the scan.
    pub(crate) fn with_corpus(self, view: &View, blobs: &Blobs) -> Result<Self, JournalError> {
        let is_small = view.bytes() <= CONTEXT_BYTES_MAX && view.documents().len() <= CONTEXT_DOCUMENTS_MAX;
        let text = if is_small { copied(view) } else { None };
        let context = text.map(|text| blobs.keep(&text)).transpose()?;
        let documents = blobs.keep(&listed(view))?;
        Ok(Self { corpus: Some(Box::new(CorpusRecord { documents, context })), ..self })
    }

    pub(crate) fn into_event(self) -> EventKind {
        let others = OtherModels { synthesis: self.synthesis_model, names: self.model_names };
        EventKind::RunStarted {
            format: JOURNAL_FORMAT,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            question: self.question,
            strategy: self.strategy,
            sources: self.sources,
            scan: Box::new(self.scan),
            model: self.model,
            sub_model: self.sub_model.map(Box::new),
            other_models: (others != OtherModels::default()).then(|| Box::new(others)),
            schema: self.schema,
            focus: self.focus,
            corpus_digest: self.corpus_digest,
            corpus: self.corpus,
            settings_digest: self.settings_digest,
            limits: Box::new(self.limits),
        }
    }

    /// Refuses to resume with different settings; returns the limits to continue with.
    pub(crate) fn check(
        &self,
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
        let model = request.model.reference();
        if (&self.model.provider, &self.model.name) != (&model.provider, &model.name) {
            return Err(changed("model", self.model.to_string(), model.to_string()));
        }
        let sub_model = request.sub_model.as_ref().map(|model| model.reference());
        let named = |model: Option<&ModelRef>| model.map_or_else(|| "none".to_owned(), ToString::to_string);
        let synthesis = request.synthesis_model.as_ref().map(|model| model.reference());
        for (what, recorded, now) in [
            ("sub-model", self.sub_model.as_ref(), sub_model),
            ("model for the synthesis", self.synthesis_model.as_ref(), synthesis),
        ] {
            if named(recorded) != named(now) {
                return Err(changed(what, named(recorded), named(now)));
            }
        }
        if self.model_names != model_names {
            let listed =
                |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(changed("names of models", listed(&self.model_names), listed(model_names)));
        }
        let limits = self.resumed_limits(&request.settings.limits);
        let named = Named { root: model, sub: sub_model, synthesis, names: model_names };
        let now = settings_digest(&named, self.strategy, &limits);
        if now != self.settings_digest {
            let short = |digest: &BlobId| digest.as_str().chars().take(8).collect();
            return Err(changed("prompts and settings", short(&self.settings_digest), short(&now)));
        }
        if self.strategy == Strategy::Program && request.program.is_none() {
            return Err(EngineError::ProgramMissing { run: run.clone() });
        }
        Ok(limits)
    }

    /// The recorded limits, with the current spending limits.
    fn resumed_limits(&self, now: &Limits) -> Limits {
        let mut limits = self.limits.clone();
        for limit in Limits::ALL.iter().filter(|limit| limit.may_change_on_resume) {
            let is_known = limits.set(limit.name, now.get(limit.name).unwrap_or(limit.default));
            debug_assert!(is_known, "{} is a limit", limit.name);
        }
        limits
    }
}

/// A single document as it is; several, each after a line with its name.
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

/// The models of a run, by name.
struct Named<'a> {
    root: &'a ModelRef,
    sub: Option<&'a ModelRef>,
    synthesis: Option<&'a ModelRef>,
    names: &'a [String],
}

/// Everything besides corpus and question that affects the course of a run: the models, the strategy, its prompts,
/// and the limits that are not about spending.
fn settings_digest(models: &Named<'_>, strategy: Strategy, limits: &Limits) -> BlobId {
    let mut text = format!("settings-v1\n{}\n{strategy}\n{}\n", models.root, strategy::prompts_digest());
    for (role, model) in [("sub", models.sub), ("synthesis", models.synthesis)] {
        if let Some(model) = model {
            text += &format!("{role}={model}\n");
        }
    }
    if !models.names.is_empty() {
        text += &format!("names={}\n", models.names.join(","));
    }
    for limit in Limits::ALL.iter().filter(|limit| !limit.may_change_on_resume) {
        text += &format!("{}={}\n", limit.name, limits.get(limit.name).unwrap_or_default());
    }
    spelunk_journal::digest(text.as_bytes())
}
