//! Workers on systems that have none yet (Windows): the names of `worker.rs`, which refuse to start anything.
//! Model-written code never runs in this process instead.

use std::process::ExitCode;

use spelunk_types::{WorkBounds, WorkError, WorkLine};

use crate::{Task, WorkerCommand};

pub(crate) const WHY: &str = "worker processes are only available on Linux and macOS";

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
