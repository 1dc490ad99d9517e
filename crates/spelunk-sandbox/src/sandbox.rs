//! The sandbox: opens sessions, in this process or in workers, and what workers are started with.

use std::ffi::OsString;
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::Arc;

use spelunk_types::{WorkError, WorkLine};

#[cfg(unix)]
use crate::pool::{Pool, WorkerKind};
use crate::{Interpreter, InterpreterError, MontyInterpreter, Setup};

/// Opens sessions. Cheap to clone; idle workers end with the last clone.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// The workers that sessions run in; `None` if they run in this process.
    #[cfg(unix)]
    workers: Option<Arc<Pool>>,
    /// The interpreter that would run in workers, where there are none: it never runs in this process instead.
    #[cfg(not(unix))]
    refused: Option<&'static str>,
}

impl Sandbox {
    /// Sessions in this process, for tests and for programs without a worker. An interpreter bug then affects this
    /// process, and memory is limited only where the interpreter checks.
    pub fn in_process() -> Self {
        Self::default()
    }

    /// Sessions in worker processes.
    #[cfg(unix)]
    pub fn monty(worker: WorkerCommand) -> Self {
        Self { workers: Some(Pool::new(WorkerKind::Monty(worker))) }
    }

    /// Sessions in the machine's `CPython`, confined by the operating system.
    #[cfg(unix)]
    pub fn cpython(worker: WorkerCommand, python: Python) -> Self {
        Self { workers: Some(Pool::new(WorkerKind::cpython(worker, python))) }
    }

    /// No sessions: there are no workers.
    #[cfg(not(unix))]
    pub fn monty(_worker: WorkerCommand) -> Self {
        Self { refused: Some("monty") }
    }

    /// No sessions: there are no workers.
    #[cfg(not(unix))]
    pub fn cpython(_worker: WorkerCommand, _python: Python) -> Self {
        Self { refused: Some("cpython") }
    }

    /// A session with this setup.
    pub fn open(&self, setup: &Setup) -> Result<Box<dyn Interpreter>, InterpreterError> {
        #[cfg(unix)]
        if let Some(pool) = &self.workers {
            return pool.open(setup);
        }
        #[cfg(not(unix))]
        if let Some(backend) = self.refused {
            return Err(InterpreterError::Unconfined { backend, why: crate::absent::WHY.to_owned() });
        }
        Ok(Box::new(MontyInterpreter::open(setup)?))
    }

    /// Which interpreter runs the cells: `monty` or `cpython`.
    pub fn backend(&self) -> &'static str {
        #[cfg(unix)]
        if let Some(pool) = &self.workers {
            return pool.backend();
        }
        #[cfg(not(unix))]
        if let Some(backend) = self.refused {
            return backend;
        }
        "monty"
    }

    /// Whether this sandbox may be unavailable on this machine: open it before spending anything.
    pub fn may_refuse(&self) -> bool {
        cfg!(not(unix)) || self.backend() != "monty"
    }
}

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
