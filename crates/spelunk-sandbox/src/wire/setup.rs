//! The setup of a session: its namespace before the first cell, and its limits.

use serde::{Deserialize, Serialize};

use crate::Value;

/// What a session starts with. The same setup and cells give the same steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Functions of the host, by name.
    pub functions: Vec<HostFunction>,
    /// Variables, bound in this order. Pass large texts as a [`crate::Handle`].
    pub variables: Vec<(String, Value)>,
    /// Names of exception classes that host calls raise besides the builtin ones; each is a subclass of `Exception`.
    pub exceptions: Vec<String>,
    /// Python that runs first, with the rights of a cell: functions that the caller implements with host functions.
    pub prelude: String,
    /// Files that `open(path)` may read, by path, with their text. There are no others.
    pub files: Vec<(String, Value)>,
    /// The start of `time.time()` in Unix ms; it advances by 1 ms per reading and by sleeps, for replay.
    pub clock_ms: u64,
    /// The seed of `random`.
    pub seed: u64,
    /// Its limits.
    pub limits: SandboxLimits,
}

impl Setup {
    /// An empty session with modest limits: to check whether one can be opened at all.
    pub fn empty() -> Self {
        let limits = SandboxLimits {
            cell_ms_max: 5000,
            memory_bytes_max: 64_000_000,
            recursion_max: 100,
            output_chars_max: 1000,
            cell_calls_max: 1,
        };
        Self {
            functions: Vec::new(),
            variables: Vec::new(),
            exceptions: Vec::new(),
            prelude: String::new(),
            files: Vec::new(),
            clock_ms: 0,
            seed: 0,
            limits,
        }
    }
}

/// A function of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFunction {
    /// Its name in the namespace.
    pub name: String,
    /// What `help(name)` prints; the first line is its signature.
    pub doc: String,
    /// Whether it may be awaited: `await f(x)` and `asyncio.gather(f(x), f(y))` then suspend with all calls at once. A
    /// plain `f(x)` always works too.
    pub is_awaitable: bool,
}

/// The limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// CPU time of one cell; waiting for the host takes none. An in-process interpreter uses wall-clock time instead.
    pub cell_ms_max: u64,
    /// Memory of the session, beyond that of an empty one.
    pub memory_bytes_max: u64,
    /// The maximum depth of nested function calls.
    pub recursion_max: u64,
    /// How many characters of a cell's output are kept: two thirds from its beginning, the rest from its end.
    pub output_chars_max: u64,
    /// Host calls that one cell may make.
    pub cell_calls_max: u64,
}
