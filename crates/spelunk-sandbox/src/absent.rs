//! Workers on systems that have none yet (Windows): the names of `worker.rs` and `cpython.rs`, which refuse to start
//! anything. Model-written code never runs in this process instead.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use spelunk_types::{WorkBounds, WorkError, WorkLine};

/// Why nothing starts.
pub(crate) const WHY: &str = "worker processes are only available on Linux and macOS";

/// How to start a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// A task that a program performs when started as a worker.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// The name it is requested by.
    pub name: &'static str,
    /// Performs it, over the connection to the host.
    pub run: fn(Box<dyn WorkLine>) -> Result<(), WorkError>,
}

/// A `CPython` installation on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    /// The `python3`, or a script that starts it.
    pub program: PathBuf,
    /// Which modules cells may import.
    pub modules: PythonModules,
}

/// What cells may import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PythonModules {
    /// The standard library.
    #[default]
    Standard,
    /// Also installed packages.
    Installed,
}

/// Serves nothing.
pub fn serve_stdio(_tasks: &[Task]) -> ExitCode {
    ExitCode::FAILURE
}

/// Starts nothing.
pub fn start_work(
    _worker: &WorkerCommand,
    _task: &str,
    _bounds: WorkBounds,
) -> Result<Box<dyn WorkLine>, WorkError> {
    Err(WorkError::NoWorker { why: WHY.to_owned() })
}
