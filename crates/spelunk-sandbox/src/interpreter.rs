//! The interpreter: a state machine that runs cells. It never blocks on the host: a host call suspends the cell until
//! the host resumes it. The same cells and replies give the same steps; replay depends on it.

use crate::{HostReply, Step, Value};

/// The interpreter's version, raised when a cell may end differently: interrupted runs then cannot
/// be replayed.
pub const INTERPRETER_VERSION: u32 = 2;

/// Runs cells in sequence, keeping variables between them.
///
/// `Err` means that the interpreter itself failed and must be discarded. A failure of the *code* is a
/// [`crate::CellEnd::Raised`], which the model can read and fix.
pub trait Interpreter: Send {
    /// Sets the time limit of the next cells.
    fn set_cell_ms_max(&mut self, cell_ms_max: u64);

    /// Starts a cell. Must not be called while one is suspended.
    fn feed(&mut self, code: &str) -> Result<Step, InterpreterError>;

    /// Continues a suspended cell: one reply for each call of the last step, in the same order.
    fn resume(&mut self, replies: Vec<HostReply>) -> Result<Step, InterpreterError>;

    /// The value of a global variable, between two cells. `None` if it does not exist.
    fn variable(&mut self, name: &str) -> Result<Option<Value>, InterpreterError>;
}

/// Why an interpreter is gone. The session can be rebuilt in a new one by feeding the same cells again.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum InterpreterError {
    #[error("the sandbox process died: {how}")]
    Died { how: String },
    #[error("the sandbox process did not respond within {ms} ms and was killed")]
    Unresponsive { ms: u64 },
    #[error("could not start the sandbox `{program}`")]
    Spawn {
        program: String,
        #[source]
        source: std::io::Error,
    },
    #[error("the sandbox sent an invalid message: {what}")]
    Protocol { what: String },
    #[error("the sandbox could not continue: {what}")]
    Broken { what: String },
    #[error("this machine cannot confine `{backend}`: {why}")]
    Unconfined { backend: &'static str, why: String },
}
