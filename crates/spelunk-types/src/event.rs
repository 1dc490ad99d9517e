//! Events: facts in the past tense, one JSON object per line of a run's journal. Nothing derivable is stored; cost,
//! progress and the call tree are folds over the events.

mod line;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    BlobId, CallId, CallOutcome, CellOutcome, Citation, Confidence, CorpusRecord, EffectClass, EffectId,
    EffectOutcome, ErrorCode, FileChange, Focus, Found, FrameId, FrameOutcome, Limits, ModelRef, OtherModels,
    RunOutcome, ScanOptions, Served, SourceSpec, Strategy, Text, Usage,
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
    /// Synced to disk first: someone outside is told that it happened.
    Promised,
    /// Written first, and synced if a power cut may cost nothing; otherwise synced moments later.
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
#[expect(clippy::large_enum_variant, reason = "only the first event of a run is large")]
pub enum EventKind {
    /// A run began.
    #[serde(rename = "run.started")]
    RunStarted {
        format: u32,
        engine: String,
        /// The version of the interpreter of its cells. 0 in journals from before it was recorded.
        #[serde(default)]
        interpreter: u32,
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
        /// The conversation and the tools of a caller that runs tools itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Text>,
        /// The external tools, as JSON: the description of each, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Text>,
        /// What an analysis focuses on.
        #[serde(default, skip_serializing_if = "crate::is_default")]
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
        #[serde(default, skip_serializing_if = "crate::is_default")]
        observed: u32,
        /// How many external tools it called.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        effects: u32,
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
    /// The user was asked whether an external tool may be called.
    #[serde(rename = "effect.asked")]
    EffectAsked {
        effect: EffectId,
        tool: String,
        class: EffectClass,
        /// A JSON object, with secrets redacted.
        arguments: Text,
    },
    /// The user decided about that call. Nobody is asked again about a recorded decision.
    #[serde(rename = "effect.decided")]
    EffectDecided { effect: EffectId, allowed: bool },
    /// An external tool was about to be called, or would have been had it not been refused.
    #[serde(rename = "effect.started")]
    EffectStarted {
        effect: EffectId,
        tool: String,
        class: EffectClass,
        /// A JSON object.
        arguments: Text,
        /// Whether it was called.
        sent: bool,
    },
    /// A call of an external tool ended, with the outcome the strategy saw.
    #[serde(rename = "effect.settled")]
    EffectSettled { effect: EffectId, outcome: EffectOutcome, took_ms: u64 },
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
    FindingsRecalled {
        units: u64,
        reports: Text,
        /// How sure the analysts were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<Confidence>,
    },
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
        /// How sure the analyst is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<Confidence>,
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

/// Declares the name of each event in the journal and how durable it must be.
macro_rules! events {
    ($($variant:ident = $name:literal, $durability:ident;)+) => {
        impl EventKind {
            /// Every name this engine knows; a reader shows other events unchanged and refuses to resume a run that
            /// has one.
            pub const NAMES: [&str; [$($name),+].len()] = [$($name),+];

            /// The name in the journal: `noun.past_participle`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)+
                }
            }

            /// How durable this event must be before anyone acts on it.
            pub fn durability(&self) -> Durability {
                match self {
                    // An action that must not happen twice is on disk before it starts.
                    Self::EffectStarted { class: EffectClass::Once, .. } => Durability::Promised,
                    $(Self::$variant { .. } => Durability::$durability,)+
                }
            }
        }
    };
}

events! {
    RunStarted = "run.started", Synced;
    RunResumed = "run.resumed", Synced;
    RunFinished = "run.finished", Promised;
    SourceScanned = "source.scanned", Buffered;
    FrameOpened = "frame.opened", Buffered;
    FrameClosed = "frame.closed", Synced;
    StrategyChosen = "strategy.chosen", Buffered;
    PassagesChosen = "passages.chosen", Buffered;
    CallStarted = "call.started", Buffered;
    CallRetried = "call.retried", Buffered;
    CallWasted = "call.wasted", Buffered;
    CallSettled = "call.settled", Synced;
    CellRan = "cell.ran", Buffered;
    DeskLaid = "desk.laid", Buffered;
    ToolRan = "tool.ran", Buffered;
    EffectAsked = "effect.asked", Synced;
    EffectDecided = "effect.decided", Synced;
    EffectStarted = "effect.started", Synced;
    EffectSettled = "effect.settled", Synced;
    QuestionAdded = "question.added", Synced;
    ValueObserved = "value.observed", Buffered;
    TasksPlanned = "tasks.planned", Buffered;
    FindingsRecalled = "findings.recalled", Buffered;
    TaskReported = "task.reported", Buffered;
    CitationChecked = "citation.checked", Buffered;
    LimitReached = "limit.reached", Synced;
    WarningRaised = "warning.raised", Buffered;
    CallStreamed = "call.streamed", Ephemeral;
    ProgressTicked = "progress.ticked", Ephemeral;
}

impl EventKind {
    /// The blobs this event references. `gc` keeps them as long as the run exists.
    pub fn blobs(&self) -> Vec<&BlobId> {
        self.texts().into_iter().filter_map(Text::blob).collect()
    }

    /// The blob of this event that nobody waits for: a prompt, or the copy of a small corpus. It may be missing.
    pub fn expendable(&self) -> Option<&BlobId> {
        if let Self::CallStarted { text, .. } = self {
            text.blob()
        } else if let Self::RunStarted { corpus: Some(corpus), .. } = self {
            corpus.context.as_ref().and_then(Text::blob)
        } else {
            None
        }
    }

    fn texts(&self) -> Vec<&Text> {
        match self {
            Self::RunStarted { question, sources, schema, turn, tools, corpus, .. } => {
                let of_sources = sources.iter().filter_map(SourceSpec::content);
                let of_corpus =
                    corpus.iter().flat_map(|corpus| [&corpus.documents].into_iter().chain(&corpus.context));
                let of_run = [question].into_iter().chain(schema).chain(turn).chain(tools);
                of_run.chain(of_corpus).chain(of_sources).collect()
            }
            Self::FrameOpened { question, note, .. } => [question].into_iter().chain(note).collect(),
            Self::CellRan { code, output, .. } => vec![code, output],
            Self::DeskLaid { files, .. } => files.iter().filter_map(FileChange::content).collect(),
            Self::ToolRan { arguments, output, files, .. } => {
                [arguments, output].into_iter().chain(files.iter().filter_map(FileChange::content)).collect()
            }
            Self::EffectAsked { arguments, .. } | Self::EffectStarted { arguments, .. } => vec![arguments],
            Self::EffectSettled { outcome, .. } => vec![outcome.text()],
            Self::QuestionAdded { question } => vec![question],
            Self::ValueObserved { value, .. } => vec![value],
            Self::FrameClosed { outcome: FrameOutcome::Answered { answer, .. } } => vec![answer],
            Self::FindingsRecalled { reports, .. } => vec![reports],
            Self::CallStarted { text, .. } => vec![text],
            Self::CallSettled { outcome: CallOutcome::Replied { reply, tool_calls, .. }, .. } => {
                [reply].into_iter().chain(tool_calls).collect()
            }
            Self::FrameClosed { outcome: FrameOutcome::Failed { .. } }
            | Self::CallSettled { outcome: CallOutcome::Failed { .. }, .. }
            | Self::EffectDecided { .. }
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
