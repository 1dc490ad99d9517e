//! What a run was started with: the first event of its journal.

use spelunk_sandbox::INTERPRETER_VERSION;
use spelunk_types::{
    BlobId, CorpusRecord, EventKind, Focus, JOURNAL_FORMAT, Limits, ModelRef, OtherModels, ScanOptions,
    SourceSpec, Strategy, Text,
};

#[derive(Debug, Clone)]
pub(crate) struct RunStart {
    pub(crate) engine: String,
    pub(crate) question: Text,
    pub(crate) strategy: Strategy,
    pub(crate) sources: Vec<SourceSpec>,
    pub(crate) scan: ScanOptions,
    pub(crate) model: ModelRef,
    pub(crate) sub_model: Option<ModelRef>,
    pub(crate) other_models: OtherModels,
    pub(crate) schema: Option<Text>,
    pub(crate) turn: Option<Text>,
    pub(crate) tools: Option<Text>,
    pub(crate) focus: Focus,
    pub(crate) corpus_digest: BlobId,
    pub(crate) corpus: Option<Box<CorpusRecord>>,
    pub(crate) settings_digest: BlobId,
    pub(crate) limits: Limits,
}

impl RunStart {
    pub(crate) fn of(kind: &EventKind) -> Option<Self> {
        let EventKind::RunStarted {
            format: _,
            engine,
            interpreter: _,
            question,
            strategy,
            sources,
            scan,
            model,
            sub_model,
            other_models,
            schema,
            turn,
            tools,
            focus,
            corpus_digest,
            corpus,
            settings_digest,
            limits,
        } = kind.clone()
        else {
            return None;
        };
        Some(Self {
            engine,
            question,
            strategy,
            sources,
            scan: *scan,
            model,
            sub_model: sub_model.map(|model| *model),
            other_models: other_models.map(|others| *others).unwrap_or_default(),
            schema,
            turn,
            tools,
            focus,
            corpus_digest,
            corpus,
            settings_digest,
            limits: *limits,
        })
    }

    pub(crate) fn into_event(self) -> EventKind {
        let others = self.other_models;
        EventKind::RunStarted {
            format: JOURNAL_FORMAT,
            engine: self.engine,
            interpreter: INTERPRETER_VERSION,
            question: self.question,
            strategy: self.strategy,
            sources: self.sources,
            scan: Box::new(self.scan),
            model: self.model,
            sub_model: self.sub_model.map(Box::new),
            other_models: (others != OtherModels::default()).then(|| Box::new(others)),
            schema: self.schema,
            turn: self.turn,
            tools: self.tools,
            focus: self.focus,
            corpus_digest: self.corpus_digest,
            corpus: self.corpus,
            settings_digest: self.settings_digest,
            limits: Box::new(self.limits),
        }
    }
}
