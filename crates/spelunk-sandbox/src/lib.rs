//! Runs untrusted code. An [`Interpreter`] runs cells of Python and keeps their variables; anything a cell wants from
//! outside is a [`HostCall`] that suspends it. This crate does not interpret host calls: the engine does.
//!
//! Start reading at `interpreter.rs`, then `monty.rs` (the default) and `worker.rs` (the process it runs in).

#![cfg_attr(not(unix), expect(dead_code, unused_imports, reason = "what only workers use"))]

#[cfg(not(unix))]
mod absent;
mod command;
mod complete;
#[cfg(unix)]
mod cpython;
mod fence;
mod interpreter;
mod last_value;
mod monty;
#[cfg(unix)]
mod pool;
mod sandbox;
mod value;
mod wire;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
pub use absent::{serve_stdio, start_work};
pub use command::{Python, PythonModules, Task, WorkerCommand};
pub use complete::needs_more;
pub use fence::{CELLS_MAX, CodeCell, FinalText, ParsedReply, find_cells};
pub use interpreter::{INTERPRETER_VERSION, Interpreter, InterpreterError};
pub use last_value::last_value_to;
pub use monty::{FILES, MontyInterpreter};
/// The allocator for a program that serves as a worker.
pub use monty_alloc::LimitedAllocator;
pub use sandbox::Sandbox;
pub use value::{Handle, Value};
pub use wire::{
    CellEnd, HostCall, HostFunction, HostReply, Output, Raised, SandboxLimits, Setup, Step, parse_json,
};
#[cfg(unix)]
pub use worker::{serve_stdio, start_work};
