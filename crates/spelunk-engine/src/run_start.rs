//! What a run was started with: the first event of its journal.

use spelunk_types::{
    BlobId, CorpusRecord, EventKind, Focus, Limits, ModelRef, OtherModels, ScanOptions, SourceSpec, Strategy,
    Text,
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
}
