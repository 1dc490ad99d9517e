//! Running untrusted code. An [`Interpreter`] runs cells of Python and keeps their variables; whatever a cell wants from
//! outside is a [`HostCall`] that suspends it. This crate gives no host call a meaning: the engine does.
//!
//! Start reading at `interpreter.rs`, then `monty.rs` (the default) and `worker.rs` (the process it runs in).

mod error;
mod interpreter;
mod setup;
mod value;

pub use error::InterpreterError;
pub use interpreter::{CellEnd, HostCall, HostReply, Interpreter, Output, Raised, Step};
pub use setup::{HostFunction, SandboxLimits, Setup};
pub use value::{Handle, Value};
