//! Tasks that are not cells: each has its own worker and exchanges plain bytes. Both sides are here.

use std::fs::File;
use std::io::Write as _;

use spelunk_types::{WorkBounds, WorkError, WorkLine};

use super::process::{Deadline, Process};
use super::serve::{STACK_BYTES, arm};
use super::{CLOCK_FACTOR, lockdown};
use crate::wire::{self, REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX, Request, WireError, Work};
use crate::{InterpreterError, Task, WorkerCommand};

/// How long a worker may take to start, besides its task.
const START_MS_MAX: u64 = 2_000;

/// Starts a worker for a task. It ends when the connection is dropped.
pub fn start_work(
    worker: &WorkerCommand,
    task: &str,
    bounds: WorkBounds,
) -> Result<Box<dyn WorkLine>, WorkError> {
    let mut process =
        Process::start(worker).map_err(|error| WorkError::NoWorker { why: error.to_string() })?;
    process.memory_bytes_max = bounds.memory_bytes_max;
    let cpu_ms_max = bounds.cpu_ms_max.saturating_add(START_MS_MAX);
    let deadline = process.deadline_in_cpu_ms(cpu_ms_max, cpu_ms_max.saturating_mul(CLOCK_FACTOR));
    let mut host = Host { process, deadline, bounds };
    let WorkBounds { memory_bytes_max, cpu_ms_max } = bounds;
    let work = Work { parent: std::process::id(), task: task.to_owned(), memory_bytes_max, cpu_ms_max };
    host.try_to(|process, deadline| process.send(&Request::Work(work), deadline))?;
    Ok(Box::new(host))
}

struct Host {
    process: Process,
    deadline: Deadline,
    bounds: WorkBounds,
}

impl Host {
    fn try_to<T>(
        &mut self,
        act: impl FnOnce(&mut Process, &Deadline) -> Result<T, InterpreterError>,
    ) -> Result<T, WorkError> {
        act(&mut self.process, &self.deadline).map_err(|error| match error {
            InterpreterError::Unresponsive { .. } => WorkError::Time { ms_max: self.bounds.cpu_ms_max },
            InterpreterError::Died { .. } if self.process.is_out_of_memory => {
                WorkError::Memory { bytes_max: self.bounds.memory_bytes_max }
            }
            InterpreterError::Died { how } => WorkError::Crashed { how },
            other @ (InterpreterError::Broken { .. }
            | InterpreterError::Protocol { .. }
            | InterpreterError::Spawn { .. }
            | InterpreterError::Unconfined { .. }) => WorkError::Crashed { how: other.to_string() },
        })
    }
}

impl WorkLine for Host {
    fn send(&mut self, message: &[u8]) -> Result<(), WorkError> {
        self.try_to(|process, deadline| process.send_bytes(message, deadline))
    }

    fn receive(&mut self) -> Result<Vec<u8>, WorkError> {
        self.try_to(Process::receive_bytes)
    }
}

/// The worker's side: applies its limits, drops every right, and performs the task.
pub(super) fn serve(work: &Work, tasks: &'static [Task], input: File, output: File) -> Result<(), WireError> {
    let Some(task) = tasks.iter().find(|task| task.name == work.task) else {
        return Err(std::io::Error::other("no such task").into());
    };
    if !lockdown::is_child_of(work.parent) {
        return Ok(());
    }
    lockdown::limit_work(work.memory_bytes_max, work.cpu_ms_max);
    lockdown::lock_down();
    lockdown::end_with_input();
    let memory_bytes_max = usize::try_from(work.memory_bytes_max).ok();
    let act = move || {
        arm(memory_bytes_max);
        (task.run)(Box::new(Pipes { input, output }))
    };
    let thread = std::thread::Builder::new().name("work".into()).stack_size(STACK_BYTES).spawn(act)?;
    match thread.join() {
        Ok(done) => done.map_err(|error| std::io::Error::other(error).into()),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

struct Pipes {
    input: File,
    output: File,
}

impl WorkLine for Pipes {
    fn send(&mut self, message: &[u8]) -> Result<(), WorkError> {
        let head = wire::head(message.len(), RESPONSE_BYTES_MAX).map_err(|error| lost(&error))?;
        let written = self.output.write_all(&head).and_then(|()| self.output.write_all(message));
        written.map_err(|error| lost(&error))
    }

    fn receive(&mut self) -> Result<Vec<u8>, WorkError> {
        let message = wire::read_body(&mut self.input, REQUEST_BYTES_MAX).map_err(|error| lost(&error))?;
        message.ok_or_else(|| lost(&"the pipe was closed"))
    }
}

fn lost(error: &dyn std::fmt::Display) -> WorkError {
    WorkError::Crashed { how: error.to_string() }
}
