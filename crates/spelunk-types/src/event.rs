//! Events: facts in the past tense, one JSON object per line of a run's journal. Nothing derivable is stored; cost,
//! progress and the call tree are folds over the events.

mod line;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    BlobId, CallId, CallOutcome, CellOutcome, Citation, CorpusRecord, ErrorCode, FileChange, Focus, Found,
    FrameId, FrameOutcome, Limits, ModelRef, OtherModels, RunOutcome, ScanOptions, Served, SourceSpec,
    Strategy, Text, Usage,
};

/// The journal format this engine writes. Readers accept every earlier one. Since 2, a typed sub-call reserves an
/// ordinal for its correction as well as its own.
pub const JOURNAL_FORMAT: u32 = 2;

/// One fact, with its sequence number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Contiguous from 1. Ephemeral events carry the number of the last durable one.
    pub seq: u64,
    /// Unix time.
    pub at_ms: u64,
    /// The frame it happened in.
    pub frame: FrameId,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The fields that every event has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EventHead {
    /// See [`Event::seq`].
    pub seq: u64,
    /// See [`Event::at_ms`].
    pub at_ms: u64,
    /// See [`Event::frame`].
    pub frame: FrameId,
}

impl Event {
    /// Combines an event that was parsed in two parts from the same text. Equivalent to parsing it at once and twice as
    /// fast: a flattened field makes serde buffer everything first.
    pub fn from_parts<E>(
        head: impl FnOnce() -> Result<EventHead, E>,
        kind: impl FnOnce() -> Result<EventKind, E>,
    ) -> Result<Self, E> {
        let EventHead { seq, at_ms, frame } = head()?;
        Ok(Self { seq, at_ms, frame, kind: kind()? })
    }
}

/// How durable an event must be before anyone acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Synced to disk first.
    Synced,
    /// Written, and synced together with the next synced event.
    Buffered,
    /// Never written; sent to watchers only.
    Ephemeral,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[expect(missing_docs, reason = "the fields are the format; design and glossary describe them")]
pub enum EventKind {
    /// A run began.
    #[serde(rename = "run.started")]
    RunStarted {
        format: u32,
        engine: String,
        question: Text,
        strategy: Strategy,
        sources: Vec<SourceSpec>,
        #[serde(default)]
        scan: Box<ScanOptions>,
        model: ModelRef,
        /// The model for sub-calls, if it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sub_model: Option<Box<ModelRef>>,
        /// Other models that can be called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other_models: Option<Box<OtherModels>>,
        /// The JSON Schema of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Text>,
        /// What an analysis focuses on.
        #[serde(default, skip_serializing_if = "is_general")]
        focus: Focus,
        corpus_digest: BlobId,
        /// What the corpus contains. Absent from older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corpus: Option<Box<CorpusRecord>>,
        settings_digest: BlobId,
        limits: Box<Limits>,
    },
    /// A later process took the run over.
    #[serde(rename = "run.resumed")]
    RunResumed {
        from_seq: u64,
        bytes_dropped: u64,
        /// A limit that stopped the run was raised: events from this one on are void, except for what they cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again_from: Option<u64>,
    },
    /// A run ended.
    #[serde(rename = "run.finished")]
    RunFinished { outcome: RunOutcome },
    /// A source was scanned.
    #[serde(rename = "source.scanned")]
    SourceScanned {
        source: String,
        documents: u64,
        bytes: u64,
        skipped: BTreeMap<String, u64>,
        /// Redacted secrets, by rule.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        redacted: BTreeMap<String, u64>,
    },
    /// A frame began.
    #[serde(rename = "frame.opened")]
    FrameOpened {
        strategy: Strategy,
        question: Text,
        view: BlobId,
        /// The text its parent wrote for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Text>,
    },
    /// A frame ended.
    #[serde(rename = "frame.closed")]
    FrameClosed { outcome: FrameOutcome },
    /// A frame continues with a strategy, for a reason.
    #[serde(rename = "strategy.chosen")]
    StrategyChosen { strategy: Strategy, why: String },
    /// Passages were selected for a prompt.
    #[serde(rename = "passages.chosen")]
    PassagesChosen { documents: u64, bytes: u64, of_bytes: u64 },
    /// A request was about to be sent, or would have been had the cache not answered it or the budget refused it.
    #[serde(rename = "call.started")]
    CallStarted {
        call: CallId,
        model: String,
        prompt: BlobId,
        text: Text,
        /// The budget reserved for a request that was sent. Charged in full if the outcome was never recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reserved: Option<Usage>,
    },
    /// A request failed and will be retried.
    #[serde(rename = "call.retried")]
    CallRetried { call: CallId, attempt: u32, code: ErrorCode, wait_ms: u64 },
    /// A request got no reply but may still be billed; `usage` is what is charged for it.
    #[serde(rename = "call.wasted")]
    CallWasted { call: CallId, usage: Usage },
    /// A call ended, with the outcome the strategy saw.
    #[serde(rename = "call.settled")]
    CallSettled { call: CallId, outcome: CallOutcome, served: Served },
    /// A block of code ran in the sandbox.
    #[serde(rename = "cell.ran")]
    CellRan {
        /// Its index in the frame, from 0.
        cell: u32,
        code: Text,
        outcome: CellOutcome,
        /// Its output, possibly truncated.
        output: Text,
        /// How many calls it made, children it opened and values it observed: a cell that is not rerun on replay still
        /// uses up these ordinals.
        calls: u32,
        children: u32,
        #[serde(default, skip_serializing_if = "is_zero")]
        observed: u32,
        took_ms: u64,
    },
    /// The initial files of an agent were created.
    #[serde(rename = "desk.laid")]
    DeskLaid {
        files: Vec<FileChange>,
        /// The digest of all files.
        desk: BlobId,
    },
    /// An agent called a tool.
    #[serde(rename = "tool.ran")]
    ToolRan {
        /// Its index in the frame, from 0.
        tool: u32,
        name: String,
        /// JSON as the model wrote it.
        arguments: Text,
        failed: bool,
        /// The text returned to the model.
        output: Text,
        /// The files it changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileChange>,
        /// The digest of all files afterwards.
        desk: BlobId,
        took_ms: u64,
    },
    /// A finished run was asked a follow-up question.
    #[serde(rename = "question.added")]
    QuestionAdded { question: Text },
    /// A strategy received an external value that a later process might receive differently.
    #[serde(rename = "value.observed")]
    ValueObserved {
        /// Its index in the frame, from 0. Absent from older journals, where the order of events is the index.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ordinal: Option<u32>,
        /// What was asked for.
        what: String,
        #[serde(deserialize_with = "text_or_string")]
        value: Text,
    },
    /// A view was cut into tasks for analysts.
    #[serde(rename = "tasks.planned")]
    TasksPlanned {
        tasks: u64,
        documents: u64,
        /// Tasks by content type.
        by_type: BTreeMap<String, u64>,
    },
    /// Findings of earlier runs were reused for some parts.
    #[serde(rename = "findings.recalled")]
    FindingsRecalled { units: u64, reports: Text },
    /// An analyst finished a task.
    #[serde(rename = "task.reported")]
    TaskReported {
        /// From 1.
        task: u64,
        of: u64,
        /// What was read: `src/main.rs lines 1 to 200`.
        label: String,
        relevant: bool,
        /// How many findings, by severity.
        findings: BTreeMap<String, u64>,
    },
    /// A citation was checked against its source.
    #[serde(rename = "citation.checked")]
    CitationChecked { citation: Citation, found: Found },
    /// A limit stopped the run.
    #[serde(rename = "limit.reached")]
    LimitReached { limit: String, value: u64 },
    /// Something the user should know.
    #[serde(rename = "warning.raised")]
    WarningRaised { message: String, hint: String },
    /// A piece of a reply arrived.
    #[serde(rename = "call.streamed")]
    CallStreamed { call: CallId, text: String },
    /// Long work made progress; `done` and `total` are bytes.
    #[serde(rename = "progress.ticked")]
    ProgressTicked {
        what: String,
        done: u64,
        total: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        documents_done: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        documents_total: Option<u64>,
    },
}

impl EventKind {
    /// Every name this engine knows; a reader shows other events unchanged and refuses to resume a run that has one.
    pub const NAMES: [&str; 24] = [
        "run.started",
        "run.resumed",
        "run.finished",
        "source.scanned",
        "frame.opened",
        "frame.closed",
        "passages.chosen",
        "call.started",
        "call.retried",
        "call.wasted",
        "call.settled",
        "cell.ran",
        "desk.laid",
        "tool.ran",
        "question.added",
        "value.observed",
        "tasks.planned",
        "findings.recalled",
        "task.reported",
        "citation.checked",
        "limit.reached",
        "warning.raised",
        "call.streamed",
        "progress.ticked",
    ];

    /// The name in the journal: `noun.past_participle`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run.started",
            Self::RunResumed { .. } => "run.resumed",
            Self::RunFinished { .. } => "run.finished",
            Self::SourceScanned { .. } => "source.scanned",
            Self::FrameOpened { .. } => "frame.opened",
            Self::FrameClosed { .. } => "frame.closed",
            Self::StrategyChosen { .. } => "strategy.chosen",
            Self::PassagesChosen { .. } => "passages.chosen",
            Self::CallStarted { .. } => "call.started",
            Self::CallRetried { .. } => "call.retried",
            Self::CallWasted { .. } => "call.wasted",
            Self::CallSettled { .. } => "call.settled",
            Self::CellRan { .. } => "cell.ran",
            Self::DeskLaid { .. } => "desk.laid",
            Self::ToolRan { .. } => "tool.ran",
            Self::QuestionAdded { .. } => "question.added",
            Self::ValueObserved { .. } => "value.observed",
            Self::TasksPlanned { .. } => "tasks.planned",
            Self::FindingsRecalled { .. } => "findings.recalled",
            Self::TaskReported { .. } => "task.reported",
            Self::CitationChecked { .. } => "citation.checked",
            Self::LimitReached { .. } => "limit.reached",
            Self::WarningRaised { .. } => "warning.raised",
            Self::CallStreamed { .. } => "call.streamed",
            Self::ProgressTicked { .. } => "progress.ticked",
        }
    }

    /// How durable this event must be before anyone acts on it.
    pub fn durability(&self) -> Durability {
        match self {
            Self::RunStarted { .. }
            | Self::RunResumed { .. }
            | Self::RunFinished { .. }
            | Self::FrameClosed { .. }
            | Self::CallSettled { .. }
            | Self::QuestionAdded { .. }
            | Self::LimitReached { .. } => Durability::Synced,
            Self::SourceScanned { .. }
            | Self::FrameOpened { .. }
            | Self::StrategyChosen { .. }
            | Self::PassagesChosen { .. }
            | Self::CallStarted { .. }
            | Self::CallRetried { .. }
            | Self::CallWasted { .. }
            | Self::CellRan { .. }
            | Self::DeskLaid { .. }
            | Self::ToolRan { .. }
            | Self::ValueObserved { .. }
            | Self::TasksPlanned { .. }
            | Self::FindingsRecalled { .. }
            | Self::TaskReported { .. }
            | Self::CitationChecked { .. }
            | Self::WarningRaised { .. } => Durability::Buffered,
            Self::CallStreamed { .. } | Self::ProgressTicked { .. } => Durability::Ephemeral,
        }
    }

    /// The blobs this event references. `gc` keeps them as long as the run exists.
    pub fn blobs(&self) -> Vec<&BlobId> {
        match self {
            Self::RunStarted { question, sources, schema, corpus, .. } => {
                let of_source = |source| match source {
                    &SourceSpec::Path { .. } => None,
                    SourceSpec::Text { content, .. } => content.blob(),
                };
                let schema = schema.as_ref().and_then(Text::blob);
                let texts = question.blob().into_iter().chain(schema);
                let texts = texts.chain(corpus.iter().flat_map(|corpus| corpus.blobs()));
                texts.chain(sources.iter().filter_map(of_source)).collect()
            }
            Self::FrameOpened { question, note, .. } => {
                question.blob().into_iter().chain(note.as_ref().and_then(Text::blob)).collect()
            }
            Self::CellRan { code, output, .. } => code.blob().into_iter().chain(output.blob()).collect(),
            Self::DeskLaid { files, .. } => files.iter().filter_map(FileChange::blob).collect(),
            Self::ToolRan { arguments, output, files, .. } => {
                let texts = arguments.blob().into_iter().chain(output.blob());
                texts.chain(files.iter().filter_map(FileChange::blob)).collect()
            }
            Self::QuestionAdded { question } => question.blob().into_iter().collect(),
            Self::ValueObserved { value, .. } => value.blob().into_iter().collect(),
            Self::FrameClosed { outcome: FrameOutcome::Answered { answer, .. } } => {
                answer.blob().into_iter().collect()
            }
            Self::FindingsRecalled { reports, .. } => reports.blob().into_iter().collect(),
            Self::CallStarted { text, .. } => text.blob().into_iter().collect(),
            Self::CallSettled { outcome: CallOutcome::Replied { reply, tool_calls, .. }, .. } => {
                reply.blob().into_iter().chain(tool_calls.as_ref().and_then(Text::blob)).collect()
            }
            Self::FrameClosed { outcome: FrameOutcome::Failed { .. } }
            | Self::CallSettled { outcome: CallOutcome::Failed { .. }, .. }
            | Self::RunResumed { .. }
            | Self::RunFinished { .. }
            | Self::SourceScanned { .. }
            | Self::StrategyChosen { .. }
            | Self::PassagesChosen { .. }
            | Self::CallRetried { .. }
            | Self::CallWasted { .. }
            | Self::TasksPlanned { .. }
            | Self::TaskReported { .. }
            | Self::CitationChecked { .. }
            | Self::LimitReached { .. }
            | Self::WarningRaised { .. }
            | Self::CallStreamed { .. }
            | Self::ProgressTicked { .. } => Vec::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_general(focus: &Focus) -> bool {
    *focus == Focus::General
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Format 1 has a plain string where later formats have a `Text`.
fn text_or_string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Plain(String),
        Text(Text),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Plain(text) => Text::Inline { text },
        Either::Text(text) => text,
    })
}

#[cfg(test)]
mod tests;
