//! The sandbox: opens sessions, in this process or in workers.

#[cfg(unix)]
use std::sync::Arc;

#[cfg(unix)]
use crate::pool::{Pool, WorkerKind};
use crate::{Interpreter, InterpreterError, MontyInterpreter, Python, Setup, WorkerCommand};

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
