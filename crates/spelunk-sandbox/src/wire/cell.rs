//! What a cell and the host exchange.

use serde::{Deserialize, Serialize};

use crate::{Handle, Value};

/// What a cell did next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "WireStep")]
pub enum Step {
    /// It is waiting for the host. More than one call only if the code awaits several at once.
    Calls(Vec<HostCall>),
    /// It has ended.
    #[serde(untagged)]
    Finished(CellEnd),
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellEnd {
    /// Ran to its last line.
    Done {
        /// Its output, including its last bare expression.
        output: Output,
    },
    /// Ended by an uncaught exception or a limit.
    Raised {
        /// The output before it.
        output: Output,
        /// The exception.
        raised: Raised,
    },
    /// Ended by [`HostReply::Finish`].
    Finished {
        /// The output before it.
        output: Output,
    },
}

/// A [`Step`] as it is read. Its ends are variants of their own: otherwise all of it would be kept twice.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireStep {
    Calls(Vec<HostCall>),
    Done { output: Output },
    Raised { output: Output, raised: Raised },
    Finished { output: Output },
}

impl From<WireStep> for Step {
    fn from(wire: WireStep) -> Self {
        match wire {
            WireStep::Calls(calls) => Self::Calls(calls),
            WireStep::Done { output } => Self::Finished(CellEnd::Done { output }),
            WireStep::Raised { output, raised } => Self::Finished(CellEnd::Raised { output, raised }),
            WireStep::Finished { output } => Self::Finished(CellEnd::Finished { output }),
        }
    }
}

/// A request from a cell to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCall {
    /// The function, or the method of the receiver.
    pub name: String,
    /// The host object whose method is called; `None` for a plain function.
    pub receiver: Option<Handle>,
    /// Positional arguments.
    pub args: Vec<Value>,
    /// Keyword arguments, in source order.
    pub kwargs: Vec<(String, Value)>,
}

/// The host's reply to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostReply {
    /// The return value.
    Return(Value),
    /// The call raises. `kind` names a Python exception, built in or one of [`crate::Setup::exceptions`].
    Raise {
        /// The class of the exception.
        kind: String,
        /// Its only argument.
        message: String,
    },
    /// The cell ends here, and no `except` or `finally` in it runs.
    Finish,
}

/// The output of a cell: its beginning and its end, if it was long.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Output {
    /// The first characters.
    pub head: String,
    /// The last characters, if some in between were dropped; otherwise empty.
    pub tail: String,
    /// The total number of characters printed.
    pub n_chars: u64,
}

/// An exception that ended a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// The class: `KeyError`.
    pub kind: String,
    /// The result of `str(e)`.
    pub message: String,
    /// What the model is shown: line, code with a caret, kind and message, and a hint if there is one.
    pub traceback: String,
    /// Whether the variables can no longer be trusted (after a time or memory limit): the session must be rebuilt.
    pub is_poisoned: bool,
}

impl Output {
    /// The output as shown, with the true length if some was dropped.
    pub fn render(&self) -> String {
        if self.tail.is_empty() {
            return self.head.clone();
        }
        let shown = (self.head.chars().count() + self.tail.chars().count()) as u64;
        let dropped = self.n_chars.saturating_sub(shown);
        format!("{}\n... [{dropped} of {} characters not shown] ...\n{}", self.head, self.n_chars, self.tail)
    }
}
