//! The setup of a session: what its namespace holds before the first cell, and what it may use.

use crate::Value;

/// What a session starts with. The same setup and the same cells give the same steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Functions of the host, by name.
    pub functions: Vec<HostFunction>,
    /// Variables, bound in this order. Large texts belong behind a [`crate::Handle`].
    pub variables: Vec<(String, Value)>,
    /// Names of exception classes that host calls raise beside the built-in ones; each a subclass of `Exception`.
    pub exceptions: Vec<String>,
    /// Python that runs first, with the rights of a cell: functions the caller defines in terms of host functions.
    pub prelude: String,
    /// Files that `open(path)` may read, by path, with their text. There are no others.
    pub files: Vec<(String, Value)>,
    /// What `time.time()` starts from, in Unix milliseconds. It moves on by one millisecond with each reading and by as
    /// much as a cell sleeps, so that replay sees the same times.
    pub clock_ms: u64,
    /// The seed of `random`.
    pub seed: u64,
    /// What it may use.
    pub limits: SandboxLimits,
}

impl Setup {
    /// A session with nothing in it, under modest limits: to see whether one can be opened at all.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFunction {
    /// Its name in the namespace.
    pub name: String,
    /// What `help(name)` prints; the first line is its signature.
    pub doc: String,
    /// Whether it may be awaited: `await f(x)` and `asyncio.gather(f(x), f(y))` then suspend with all calls at once. A
    /// plain `f(x)` always works too.
    pub is_awaitable: bool,
}

/// What a session may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxLimits {
    /// Processor time that one cell may take; waiting for the host takes none. An interpreter in this process goes by the
    /// clock instead.
    pub cell_ms_max: u64,
    /// Memory of the session above that of an empty one.
    pub memory_bytes_max: u64,
    /// Calls of functions within functions.
    pub recursion_max: u64,
    /// Characters of output that are kept from a cell: two thirds of them from its beginning, the rest from its end.
    pub output_chars_max: u64,
    /// Host calls one cell may make.
    pub cell_calls_max: u64,
}
