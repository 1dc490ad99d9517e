//! The start of a run as its first event holds it: written by `start`, held against today's request by `resume`.

use spelunk_context::{Order, ScanOptions};
use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{
    BlobId, Event, EventKind, JOURNAL_FORMAT, Limits, ModelRef, RunId, ScanSpec, SourceSpec, Strategy, Text,
};

use crate::{EngineError, ResumeRequest, RunRequest, strategy};

/// What a run was started with.
pub(crate) struct Start {
    pub(crate) question: Text,
    pub(crate) strategy: Strategy,
    pub(crate) sources: Vec<SourceSpec>,
    pub(crate) scan: ScanSpec,
    pub(crate) model: ModelRef,
    pub(crate) corpus_digest: BlobId,
    pub(crate) settings_digest: BlobId,
    pub(crate) limits: Limits,
}

impl Start {
    pub(crate) fn of_request(
        request: &RunRequest,
        scan: &ScanOptions,
        blobs: &Blobs,
    ) -> Result<Self, JournalError> {
        let (model, strategy) = (request.model.reference().clone(), request.strategy);
        let limits = request.settings.limits.clone();
        Ok(Self {
            question: blobs.keep(&request.question)?,
            strategy,
            sources: request.sources.clone(),
            scan: recorded_scan(scan),
            corpus_digest: request.corpus.digest().clone(),
            settings_digest: settings_digest(&model, strategy, &limits),
            model,
            limits,
        })
    }

    /// The start on record. A journal whose only line was torn has none.
    pub(crate) fn of(run: &RunId, events: &[Event]) -> Result<Self, JournalError> {
        match events.first().map(|event| event.kind.clone()) {
            Some(EventKind::RunStarted {
                question,
                strategy,
                sources,
                scan,
                model,
                corpus_digest,
                settings_digest,
                limits,
                ..
            }) => {
                let (scan, limits) = (*scan, *limits);
                Ok(Self { question, strategy, sources, scan, model, corpus_digest, settings_digest, limits })
            }
            Some(_) | None => {
                let what = "its start is missing".to_owned();
                Err(JournalError::Damaged { run: run.clone(), line: 1, what })
            }
        }
    }

    pub(crate) fn into_event(self) -> EventKind {
        EventKind::RunStarted {
            format: JOURNAL_FORMAT,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            question: self.question,
            strategy: self.strategy,
            sources: self.sources,
            scan: Box::new(self.scan),
            model: self.model,
            corpus_digest: self.corpus_digest,
            settings_digest: self.settings_digest,
            limits: Box::new(self.limits),
        }
    }

    /// Refuses to go on as something else than was started; gives the limits to go on with.
    pub(crate) fn check(&self, run: &RunId, request: &ResumeRequest) -> Result<Limits, EngineError> {
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
        let limits = self.resumed_limits(&request.settings.limits);
        let now = settings_digest(model, self.strategy, &limits);
        if now != self.settings_digest {
            let short = |digest: &BlobId| digest.as_str().chars().take(8).collect();
            return Err(changed("prompts and settings", short(&self.settings_digest), short(&now)));
        }
        if self.strategy == Strategy::Program && request.program.is_none() {
            return Err(EngineError::ProgramMissing { run: run.clone() });
        }
        Ok(limits)
    }

    /// The recorded limits, with today's bounds on spending.
    fn resumed_limits(&self, now: &Limits) -> Limits {
        let mut limits = self.limits.clone();
        for limit in Limits::ALL.iter().filter(|limit| limit.may_change_on_resume) {
            let is_known = limits.set(limit.name, now.get(limit.name).unwrap_or(limit.default));
            debug_assert!(is_known, "{} is a limit", limit.name);
        }
        limits
    }
}

fn recorded_scan(options: &ScanOptions) -> ScanSpec {
    let ScanOptions {
        allow_secrets,
        allow_secret_globs,
        include,
        exclude,
        recursive,
        gitignore,
        files_max,
        order,
        extract_html,
    } = options.clone();
    let order =
        Order::ALL.into_iter().find(|(_, known)| *known == order).map_or("size", |(name, _)| name).to_owned();
    ScanSpec {
        allow_secrets,
        allow_secret_globs,
        include,
        exclude,
        recursive,
        gitignore,
        files_max,
        order,
        extract_html,
    }
}

/// The scan that a run was started with.
pub(crate) fn scan_options(recorded: &ScanSpec) -> ScanOptions {
    let ScanSpec {
        allow_secrets,
        allow_secret_globs,
        include,
        exclude,
        recursive,
        gitignore,
        files_max,
        order,
        extract_html,
    } = recorded.clone();
    let order =
        Order::ALL.into_iter().find(|(name, _)| *name == order).map_or(Order::Size, |(_, known)| known);
    ScanOptions {
        allow_secrets,
        allow_secret_globs,
        include,
        exclude,
        recursive,
        gitignore,
        files_max,
        order,
        extract_html,
    }
}

/// Everything besides the corpus and the question that shapes the path of a run: the model, the strategy, its prompts,
/// and the limits that are not about spending.
fn settings_digest(model: &ModelRef, strategy: Strategy, limits: &Limits) -> BlobId {
    let mut text = format!("settings-v1\n{model}\n{strategy}\n{}\n", strategy::prompts_digest());
    for limit in Limits::ALL.iter().filter(|limit| !limit.may_change_on_resume) {
        text += &format!("{}={}\n", limit.name, limits.get(limit.name).unwrap_or_default());
    }
    spelunk_journal::digest(text.as_bytes())
}
