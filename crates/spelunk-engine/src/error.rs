//! Errors that stop a strategy, a frame or a run. A failed sub-call is an `Err`, never text in an answer.

use std::sync::Arc;

use spelunk_context::SourceError;
use spelunk_journal::JournalError;
use spelunk_sandbox::InterpreterError;
use spelunk_types::{CallId, EffectId, ErrorCode, Explain, FrameId, ModelRef, RunId, Strategy};

use crate::limits::budget::{BudgetExceeded, code_of, limit_reached, raising_flag};
use crate::schema::SchemaError;

pub(crate) type Result<T, E = FrameError> = std::result::Result<T, E>;
/// The error is shared by everything that waits for the same write.
pub(crate) type JournalResult<T = ()> = Result<T, Arc<JournalError>>;

/// Why a frame got no result from outside. A strategy may continue after `Call`, `Child` and `Refused`; the others
/// end the run.
#[derive(Debug, Clone, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FrameError {
    #[error("call `{call}` failed: {message}")]
    Call { call: CallId, code: ErrorCode, message: String },
    #[error("{}: {message}", unanswered(frame))]
    Child { frame: FrameId, code: ErrorCode, message: String },
    #[error("frame `{frame}` {}: {message}", refused(*code))]
    Refused { frame: FrameId, code: ErrorCode, message: String },
    #[error(transparent)]
    Stopped(#[from] Stop),
}

/// The root frame is the question itself, and has no name that a user knows.
fn unanswered(frame: &FrameId) -> String {
    if frame.depth() == 0 { "no answer".to_owned() } else { format!("frame `{frame}` failed") }
}

fn refused(code: ErrorCode) -> &'static str {
    if code == ErrorCode::DepthExceeded {
        "may not open a deeper child"
    } else if code == ErrorCode::ChildrenExceeded {
        "may not open another child"
    } else {
        "could not start"
    }
}

/// What ends a run. A strategy propagates it; every later request is refused too.
#[derive(Debug, Clone, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Stop {
    #[error(transparent)]
    Limit(#[from] BudgetExceeded),
    #[error("the run was cancelled")]
    Cancelled,
    #[error(transparent)]
    Journal(Arc<JournalError>),
    #[error("{what} from what the journal recorded")]
    Diverged { what: String },
    #[error("it is unknown whether call `{effect}` of `{tool}` took effect: {why}")]
    EffectUnknown { effect: EffectId, tool: String, why: String },
    #[error("frame `{frame}` requested `{now}`, but the journal recorded `{recorded}`")]
    ObservationDiverged { frame: FrameId, recorded: String, now: String },
    #[error("{diverged}: the run was started with another version of the Python interpreter")]
    InterpreterChanged { diverged: Box<Stop> },
    #[error("the model `{name}` of this run is not available: {why}")]
    ModelClosed { name: String, why: String },
    #[error(transparent)]
    Source(Arc<SourceError>),
    #[error("the sandbox of frame `{frame}` crashed")]
    Sandbox {
        frame: FrameId,
        #[source]
        source: Arc<InterpreterError>,
    },
    #[error("internal error in frame `{frame}`: {message}")]
    Bug { frame: FrameId, message: String },
}

impl From<Arc<JournalError>> for FrameError {
    fn from(error: Arc<JournalError>) -> Self {
        Self::Stopped(Stop::Journal(error))
    }
}

impl From<SourceError> for FrameError {
    fn from(error: SourceError) -> Self {
        Self::Stopped(Stop::Source(Arc::new(error)))
    }
}

impl Explain for FrameError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Call { code, .. } | Self::Child { code, .. } | Self::Refused { code, .. } => *code,
            Self::Stopped(stop) => stop.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Call { code, .. } | Self::Child { code, .. } | Self::Refused { code, .. } => {
                code.hint().map(str::to_owned)
            }
            Self::Stopped(stop) => stop.hint(),
        }
    }
}

impl Explain for Stop {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Limit(exceeded) => exceeded.code(),
            Self::Cancelled => ErrorCode::Cancelled,
            Self::Journal(error) => error.code(),
            Self::Diverged { .. } | Self::ObservationDiverged { .. } => ErrorCode::ReplayDiverged,
            Self::EffectUnknown { .. } => ErrorCode::ToolOutcomeUnknown,
            Self::Sandbox { source, .. } => match source.as_ref() {
                InterpreterError::Unconfined { .. } => ErrorCode::SandboxUnconfined,
                InterpreterError::Died { .. }
                | InterpreterError::Unresponsive { .. }
                | InterpreterError::Spawn { .. }
                | InterpreterError::Broken { .. }
                | InterpreterError::Protocol { .. } => ErrorCode::SandboxFailed,
            },
            Self::InterpreterChanged { .. } => ErrorCode::SettingsChanged,
            Self::Source(error) => error.code(),
            Self::ModelClosed { .. } => ErrorCode::ModelNotConfigured,
            Self::Bug { .. } => ErrorCode::Bug,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Limit(exceeded) => return exceeded.hint(),
            Self::Journal(error) => return error.hint(),
            Self::Source(error) => return error.hint(),
            Self::Diverged { .. } | Self::ObservationDiverged { .. } | Self::Bug { .. } => {
                "this is a bug: please report it and attach the run's journal".into()
            }
            Self::InterpreterChanged { .. } => "ask again: matching replies are taken from the cache".into(),
            Self::EffectUnknown { effect, .. } => decide_hint("RUN", effect),
            Self::Sandbox { .. } | Self::ModelClosed { .. } => self.code().hint()?.to_owned(),
            Self::Cancelled => return None,
        })
    }
}

fn decide_hint(run: &str, effect: &EffectId) -> String {
    format!(
        "check whether it did, then continue with `spelunk resume {run} --tool '{effect}=done'` or `--tool '{effect}=again'`"
    )
}

/// Why a run could not be started, resumed or watched.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EngineError {
    #[error("could not use the journal of run `{}`", run.short())]
    Journal {
        run: RunId,
        #[source]
        source: JournalError,
    },
    #[error("could not read the text that came with the request")]
    GivenText {
        #[source]
        source: JournalError,
    },
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error("run `{}` already has its answer", run.short())]
    Finished { run: RunId },
    #[error("run `{}` has a partial answer: {}, and the limit is now {now}", run.short(), limit_reached(limit, *value))]
    LimitNotRaised { run: RunId, limit: String, value: u64, now: u64 },
    #[error("run `{}` has a partial answer that no higher spending limit can complete: {}", run.short(), stopped_by.meaning())]
    PartForGood {
        run: RunId,
        stopped_by: ErrorCode,
        /// The limit that is part of the run, with its value.
        limit: Option<(&'static str, u64)>,
    },
    #[error("run `{}` takes no follow-up question: it used the strategy `{strategy}`, and only `agent` keeps its work", run.short())]
    NotAgent { run: RunId, strategy: Strategy },
    #[error("run `{}` has no answer yet", run.short())]
    Unfinished { run: RunId },
    #[error("run `{}` was started with {what} {recorded}, not {now}", run.short())]
    SettingsChanged { run: RunId, what: &'static str, recorded: String, now: String },
    #[error("it is unknown whether call `{effect}` of `{tool}` in run `{}` took effect", run.short())]
    EffectUnknown { run: RunId, effect: EffectId, tool: String },
    #[error("run `{}` has no call `{effect}` of a tool with an unknown outcome", run.short())]
    EffectKnown { run: RunId, effect: EffectId },
    #[error("the text of run `{}` has changed since it was started", run.short())]
    CorpusChanged { run: RunId },
    #[error("run `{}` was started by a program with a custom strategy, which this program does not have", run.short())]
    ProgramMissing { run: RunId },
    #[error("no price is known for `{model}`, so `limits.cost_microusd_max` would have no effect")]
    PriceUnknown { model: ModelRef },
}

impl Explain for EngineError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Journal { source, .. } | Self::GivenText { source } => source.code(),
            Self::Source(source) => source.code(),
            Self::Schema(_) => ErrorCode::SchemaInvalid,
            Self::Finished { .. } => ErrorCode::RunFinished,
            Self::LimitNotRaised { limit, .. } => code_of(limit),
            Self::PartForGood { stopped_by, .. } => *stopped_by,
            Self::NotAgent { .. } | Self::Unfinished { .. } | Self::EffectKnown { .. } => {
                ErrorCode::UsageWrong
            }
            Self::EffectUnknown { .. } => ErrorCode::ToolOutcomeUnknown,
            Self::SettingsChanged { .. } | Self::ProgramMissing { .. } => ErrorCode::SettingsChanged,
            Self::CorpusChanged { .. } => ErrorCode::CorpusChanged,
            Self::PriceUnknown { .. } => ErrorCode::PriceUnknown,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Journal { source, .. } | Self::GivenText { source } => return source.hint(),
            Self::Source(source) => return source.hint(),
            Self::Schema(_) => "use only the keywords of JSON Schema listed in `docs/schemas.md`".into(),
            Self::NotAgent { .. } => "ask a new question about its files with another `--strategy`".into(),
            Self::Unfinished { run } => format!("finish it first with `spelunk resume {}`", run.short()),
            Self::EffectUnknown { run, effect, .. } => decide_hint(run.short(), effect),
            Self::EffectKnown { run, .. } => format!("resume it with `spelunk resume {}`", run.short()),
            Self::Finished { run } => format!("see it with `spelunk show {}`", run.short()),
            Self::LimitNotRaised { run, limit, value, .. } => {
                format!("continue: `spelunk resume {} {}`", run.short(), raising_flag(limit, *value))
            }
            Self::PartForGood { limit: Some((limit, value)), .. } => format!(
                "`limits.{limit}` is fixed for a run; ask again with `--set limits.{limit}={}`: matching replies are taken from the cache",
                value.saturating_mul(2).max(1)
            ),
            Self::PartForGood { limit: None, .. } => "ask again: matching replies are taken from the cache".into(),
            Self::SettingsChanged { .. } => {
                "resume it with its original settings, or ask again: matching replies are taken from the cache".into()
            }
            Self::CorpusChanged { .. } => {
                "ask again about the new text: matching replies are taken from the cache".into()
            }
            Self::ProgramMissing { .. } => "resume it from the program that started it".into(),
            Self::PriceUnknown { .. } => self.code().hint()?.to_owned(),
        })
    }
}
