//! What workers are started with.

use std::ffi::OsString;
use std::path::PathBuf;

use spelunk_types::{WorkError, WorkLine};

/// How to start a worker: a program that calls [`serve_stdio`](crate::serve_stdio) when given these arguments.
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
    /// Performs it over the connection. Failures are reported there; an error means that it is broken.
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
    /// Also installed packages. Their code may see the real time.
    Installed,
}
