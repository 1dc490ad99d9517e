//! The engine: runs, frames, replay, the budget and the strategies. Every front end of Spelunk builds a
//! [`RunRequest`] and renders a [`RunView`]; nothing here knows about the terminal, an HTTP server, environment
//! variables or the home directory.
//!
//! A run is a deterministic program plus a journal of its effects. Start reading at `strategy/direct.rs`, then
//! `frame.rs`, a strategy's only access to the outside.

mod cancel;
mod certainty;
mod choose;
mod clock;
mod conversation;
mod engine;
mod environment;
mod error;
mod evidence;
mod findings;
mod frame;
mod journal;
mod limits;
mod models;
mod plain_answer;
mod projection;
mod question;
mod report;
mod retrieval;
mod rows;
mod run_start;
mod schema;
mod session;
mod strategy;
mod sync;
mod task;
#[cfg(test)]
mod testing;
mod tools;
mod transcript;
mod turn;
mod view;

pub use cancel::Cancel;
pub use choose::first_strategy;
pub use clock::{Clock, SystemClock};
pub use conversation::{Conversation, ConversationError};
pub use engine::{Engine, ResumeRequest, RunHandle, RunRequest, RunResult, snapshot_input};
pub use error::{EngineError, FrameError, Stop};
use error::{JournalResult, Result};
pub use findings::RunReport;
pub use frame::{Frame, Program, RunSettings};
pub use journal::EventStream;
pub use limits::{Budget, BudgetExceeded, RateLimits, Reservation, limit_reached, raising_flag};
pub use models::{ModelCapacity, NamedModels};
pub use projection::{Projection, Projector};
pub use report::{CountedValues, MergedFinding, ReportCoverage};
pub use retrieval::index_folder;
pub use schema::{Schema, SchemaError};
pub use strategy::{
    AGENT_GUIDE, AGENT_SKILL, ConsoleCell, Forecast, Range, console, forecast, plan_analysis, written_answer,
};
pub use task::{Answer, Assignment, Noted, Task};
pub use tools::{
    ConsentFn, ConsentRequest, EffectDecision, ExternalTool, ExternalTools, ToolError, ToolFn, ToolNameError,
    tool_sources,
};
pub use turn::CallerTurn;
pub use view::{
    CallState, CallView, CellView, ConsentView, EffectView, FrameView, ReachedLimit, ReportError, RunView,
    TasksView, Ticked,
};
