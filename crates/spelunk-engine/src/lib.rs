//! Deciding and doing: runs, frames, replay, the purse, strategies. Every face of Spelunk builds a [`RunRequest`] and
//! renders a [`RunView`]; nothing here knows the terminal, an HTTP server, the environment or the home directory.
//!
//! A run is a deterministic program plus a journal of its effects. Start reading at `strategy/direct.rs`, then
//! `frame.rs`, the only door a strategy has to the outside.

mod again;
mod analyst;
mod attempt;
mod cancel;
mod choose;
mod clock;
mod conversation;
mod engine;
mod environment;
mod error;
mod estimate;
mod evidence;
mod finder;
mod findings;
mod flights;
mod frame;
mod gate;
mod pace;
mod plain_answer;
mod planning;
mod projection;
mod purse;
mod reader;
mod replay;
mod report;
mod roster;
mod run;
mod schema;
mod scribe;
mod start;
mod strategy;
mod synthesis;
mod task;
#[cfg(test)]
mod testing;
mod transcript;
mod view;
mod watch;
mod wire;
mod words;

pub use again::raising_flag;
pub use cancel::Cancel;
pub use choose::{Choice, QuestionKind, choose};
pub use clock::{Clock, SystemClock};
pub use conversation::{Conversation, ConversationError};
pub use engine::{Engine, ResumeRequest, RunHandle, RunRequest};
pub use error::{EngineError, FrameError, Stop};
pub use finder::index_folder;
pub use findings::{CountedValues, MergedFinding, ReportCoverage, ReportError, RunReport};
pub use frame::Frame;
pub use pace::Paces;
pub use planning::{Forecast, Range, forecast, plan_analysis};
pub use projection::{Projection, Projector};
pub use purse::{BudgetExceeded, Purse, Reservation};
pub use reader::Reader;
pub use roster::Roster;
pub use run::{RunResult, RunSettings};
pub use schema::{Schema, SchemaError};
pub use strategy::{AGENT_GUIDE, AGENT_SKILL, ConsoleCell, console, written_answer};
pub use task::{Answer, Assignment, Program, Task};
pub use view::{
    CallState, CallView, CellView, FrameState, FrameView, ReachedLimit, RunView, TasksView, Ticked,
};
pub use watch::EventStream;
