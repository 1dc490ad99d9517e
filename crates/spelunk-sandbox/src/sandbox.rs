//! The sandbox: opens sessions, in this process or in workers.

use std::sync::Arc;

#[cfg(unix)]
use crate::cpython::Python;
#[cfg(unix)]
use crate::pool::{Kind, Pool};
#[cfg(unix)]
use crate::worker::WorkerCommand;
use crate::{Interpreter, InterpreterError, MontyInterpreter, Setup};

/// Opens sessions. Cheap to clone; idle workers end with the last clone.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    place: Place,
}

#[derive(Debug, Clone, Default)]
enum Place {
    #[default]
    InProcess,
    #[cfg(unix)]
    Workers(Arc<Pool>),
}

impl Sandbox {
    /// Sessions in this process, for tests and for programs without a worker. An interpreter bug then affects this
    /// process, and memory is limited only where the interpreter checks.
    pub fn in_process() -> Self {
        Self { place: Place::InProcess }
    }

    /// Sessions in worker processes.
    #[cfg(unix)]
    pub fn monty(worker: WorkerCommand) -> Self {
        Self { place: Place::Workers(Pool::new(Kind::Monty(worker))) }
    }

    /// Sessions in the machine's `CPython`, confined by the operating system.
    #[cfg(unix)]
    pub fn cpython(worker: WorkerCommand, python: Python) -> Self {
        Self { place: Place::Workers(Pool::new(Kind::cpython(worker, python))) }
    }

    /// A session with this setup.
    pub fn open(&self, setup: &Setup) -> Result<Box<dyn Interpreter>, InterpreterError> {
        match &self.place {
            Place::InProcess => Ok(Box::new(MontyInterpreter::open(setup)?)),
            #[cfg(unix)]
            Place::Workers(pool) => pool.open(setup),
        }
    }

    /// Which interpreter runs the cells: `monty` or `cpython`.
    pub fn backend(&self) -> &'static str {
        match &self.place {
            Place::InProcess => "monty",
            #[cfg(unix)]
            Place::Workers(pool) => pool.backend(),
        }
    }

    /// Whether this sandbox may be unavailable on this machine: open it before spending anything.
    pub fn may_refuse(&self) -> bool {
        self.backend() != "monty"
    }
}
