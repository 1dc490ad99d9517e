//! The interpreter: a state machine that runs cells. It never blocks on the host: a host call suspends the cell until the
//! host resumes it. The same cells and the same replies give the same steps; replay depends on it.

use crate::{Handle, InterpreterError, Value};

/// Runs cells one after the other, keeping variables between them.
///
/// `Err` means that the interpreter itself broke and must be thrown away. Broken *code* is a [`CellEnd::Raised`], which
/// the model gets to read and fix.
pub trait Interpreter: Send {
    /// How long cells may compute from the next one on.
    fn set_cell_ms_max(&mut self, cell_ms_max: u64);

    /// Starts a cell. Must not be called while one is suspended.
    fn feed(&mut self, code: &str) -> Result<Step, InterpreterError>;

    /// Continues a suspended cell: one reply for each call of the last step, in the same order.
    fn resume(&mut self, replies: Vec<HostReply>) -> Result<Step, InterpreterError>;

    /// The value of a global variable, between two cells. `None` if there is none of that name.
    fn variable(&mut self, name: &str) -> Result<Option<Value>, InterpreterError>;
}

/// What a cell did next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It waits for the host. More than one call only where the code awaits several at once.
    Calls(Vec<HostCall>),
    /// It is over.
    Finished(CellEnd),
}

/// Something a cell asks of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// The function, or the method of the receiver.
    pub name: String,
    /// The host object whose method is called; `None` for a plain function.
    pub receiver: Option<Handle>,
    /// By position.
    pub args: Vec<Value>,
    /// By name, in the order of the source.
    pub kwargs: Vec<(String, Value)>,
}

/// What the host says to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum HostReply {
    /// The value of the call.
    Return(Value),
    /// The call raises. `kind` is a Python exception by name, built in or one of [`crate::Setup::exceptions`].
    Raise {
        /// The class of the exception.
        kind: String,
        /// Its only argument.
        message: String,
    },
    /// The cell ends here, and no `except` or `finally` of its code runs.
    Finish,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CellEnd {
    /// By running to its last line.
    Done {
        /// What it printed, its last bare expression included.
        output: Output,
    },
    /// By an exception that its code did not catch, or by a limit.
    Raised {
        /// What it printed before.
        output: Output,
        /// The exception.
        raised: Raised,
    },
    /// By [`HostReply::Finish`].
    Finished {
        /// What it printed before.
        output: Output,
    },
}

/// What a cell printed: the beginning and the end of it, if it was long.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The first characters.
    pub head: String,
    /// The last characters, if some between were dropped; else empty.
    pub tail: String,
    /// Characters printed in all.
    pub n_chars: u64,
}

/// An exception that ended a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// The class: `KeyError`.
    pub kind: String,
    /// What `str(e)` gives.
    pub message: String,
    /// What the model is shown: line, code with a caret, kind and message, and a hint where we know one.
    pub traceback: String,
    /// Whether the variables can no longer be trusted (a time or memory limit): the session must be rebuilt.
    pub is_poisoned: bool,
}

impl Output {
    /// The output as it is shown, with the true length where some was dropped.
    pub fn render(&self) -> String {
        if self.tail.is_empty() {
            return self.head.clone();
        }
        let shown = (self.head.chars().count() + self.tail.chars().count()) as u64;
        let dropped = self.n_chars.saturating_sub(shown);
        format!("{}\n... [{dropped} of {} characters not shown] ...\n{}", self.head, self.n_chars, self.tail)
    }
}
