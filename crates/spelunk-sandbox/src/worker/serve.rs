//! The worker's side of sessions, one at a time, because the allocation counter is per process.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::time::Duration;

use super::cpu_limit::CpuLimit;
use super::{CLOCK_FACTOR, lockdown, work};
use crate::wire::{self, REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX, Request, Response, WireError};
use crate::{CellEnd, HostReply, Interpreter, InterpreterError, MontyInterpreter, Raised, Step, Task, Value};

/// The stack of the interpreter thread: deep data is dropped and compared recursively.
pub(super) const STACK_BYTES: usize = 256 << 20;
/// How much the process may allocate beyond a session's memory before it exits: work between two checks of the
/// interpreter, which raises a `MemoryError` where it checks.
const HEADROOM_BYTES: u64 = 32 << 20;
const ERROR_CHARS_MAX: usize = 20_000;
/// Exit code of a worker whose host is gone or sent nonsense.
const LOST: u8 = 70;

/// The main function of a worker process: serves requests on standard input until it is closed. Ends when its parent
/// process does. Besides cells, it performs these tasks.
///
/// The program should use [`crate::LimitedAllocator`] as its global allocator; without it, a cell that takes too much
/// memory kills the process instead of getting a `MemoryError`.
pub fn serve_stdio(tasks: &'static [Task]) -> ExitCode {
    lockdown::follow_parent();
    match serve_process(tasks) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(LOST),
    }
}

fn serve_process(tasks: &'static [Task]) -> Result<(), WireError> {
    // Not `stdin()`, which reads ahead: the program this process becomes must find the rest of the stream.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let first = match wire::read(&mut input, REQUEST_BYTES_MAX)? {
        None => return Ok(()),
        Some(Request::Confine(bounds)) => {
            let why = lockdown::exec(&bounds);
            return wire::write(&mut output, &Response::Unconfined { why }, RESPONSE_BYTES_MAX);
        }
        Some(Request::Work(work)) => return work::serve(&work, tasks, input, output),
        Some(first) => first,
    };
    if let Request::Open { parent, setup } = &first {
        if !lockdown::is_child_of(*parent) {
            return Ok(());
        }
        lockdown::limit_memory(setup.limits.memory_bytes_max);
    }
    // The interpreter has no access to the outside; this is in case it has a bug.
    lockdown::lock_down();
    lockdown::end_with_input();
    // Without the thread, wall-clock time is used.
    let cpu = output.try_clone().and_then(CpuLimit::start).ok();
    let work = move || serve_cells(first, &mut input, &mut output, cpu);
    let thread = std::thread::Builder::new().name("cells".into()).stack_size(STACK_BYTES).spawn(work)?;
    match thread.join() {
        Ok(served) => served,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Serves this request and those of `input` until it ends.
fn serve_cells(
    first: Request<'static>,
    input: &mut File,
    output: &mut File,
    cpu: Option<CpuLimit>,
) -> Result<(), WireError> {
    let mut session =
        Session { interpreter: None, memory_bytes_max: 0, cell_ms_max: 0, cell_left: Duration::ZERO, cpu };
    let mut next = Some(first);
    while let Some(request) = next {
        session.obey(request, output)?;
        next = wire::read(input, REQUEST_BYTES_MAX)?;
    }
    Ok(())
}

struct Session {
    interpreter: Option<Box<MontyInterpreter>>,
    memory_bytes_max: u64,
    cell_ms_max: u64,
    cell_left: Duration,
    cpu: Option<CpuLimit>,
}

impl Session {
    fn obey(&mut self, request: Request<'_>, output: &mut impl Write) -> Result<(), WireError> {
        match request {
            Request::Open { setup, .. } => {
                // Drop the old session first: both together may exceed the limit of one.
                self.interpreter = None;
                let mut setup = setup.into_owned();
                self.memory_bytes_max = setup.limits.memory_bytes_max;
                self.set_cell_ms_max(setup.limits.cell_ms_max);
                setup.limits.cell_ms_max = self.clock_ms_max();
                let opened = self.limited(|_| MontyInterpreter::open(&setup));
                answer(output, &self.opened(opened))
            }
            Request::Feed { code, cell_ms_max } => {
                self.set_cell_ms_max(cell_ms_max);
                let clock_ms_max = self.clock_ms_max();
                if let Some(interpreter) = &mut self.interpreter {
                    interpreter.set_cell_ms_max(clock_ms_max);
                }
                let step = self.limited(|session| session.interpreter()?.feed(&code));
                self.tell(output, step)
            }
            Request::Resume { replies } => {
                let step = self.limited(|session| session.interpreter()?.resume(replies));
                self.tell(output, step)
            }
            Request::Variable { name } => {
                let found = self.limited(|session| session.interpreter()?.variable(&name));
                tell_variable(output, &found)
            }
            Request::Close => {
                self.interpreter = None;
                answer(output, &Response::Closed)
            }
            Request::Confine(_) | Request::Work(_) => answer(
                output,
                &Response::Broken { what: "a worker that runs cells cannot do anything else".into() },
            ),
        }
    }

    fn set_cell_ms_max(&mut self, cell_ms_max: u64) {
        (self.cell_ms_max, self.cell_left) = (cell_ms_max, Duration::from_millis(cell_ms_max));
    }

    /// The interpreter's own limit, which is in wall-clock time.
    fn clock_ms_max(&self) -> u64 {
        if self.cpu.is_some() { self.cell_ms_max.saturating_mul(CLOCK_FACTOR) } else { self.cell_ms_max }
    }

    fn opened(&mut self, opened: Result<MontyInterpreter, InterpreterError>) -> Response<'static> {
        match opened {
            Ok(interpreter) => {
                if let Some(cpu) = &self.cpu {
                    cpu.set_printed(interpreter.capture());
                }
                self.interpreter = Some(Box::new(interpreter));
                Response::Opened
            }
            Err(error) => broken(&error),
        }
    }

    fn interpreter(&mut self) -> Result<&mut MontyInterpreter, InterpreterError> {
        self.interpreter
            .as_deref_mut()
            .ok_or_else(|| InterpreterError::Broken { what: "no session is open".into() })
    }

    /// Runs work of the cell: only then do its memory and time limits apply to the process, because frames are ours.
    fn limited<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let bytes = self.memory_bytes_max.saturating_add(HEADROOM_BYTES);
        arm(usize::try_from(bytes).ok());
        let done = match self.cpu.take() {
            Some(cpu) => {
                let (done, left) = cpu.run(self.cell_ms_max, self.cell_left, || work(self));
                (self.cell_left, self.cpu) = (left, Some(cpu));
                done
            }
            None => work(self),
        };
        arm(None);
        done
    }

    /// Sends a step. Calls too large for a frame never reach the host: they raise in the cell.
    fn tell(
        &mut self,
        output: &mut impl Write,
        mut step: Result<Step, InterpreterError>,
    ) -> Result<(), WireError> {
        loop {
            if let Ok(Step::Finished(CellEnd::Raised { raised, .. })) = &mut step {
                cut(raised);
            }
            let told = match &step {
                Ok(step) => Response::Step(Cow::Borrowed(step)),
                Err(error) => broken(error),
            };
            let calls = match (answer(output, &told), &step) {
                (Err(error), Ok(Step::Calls(calls))) if error.is_size() => calls,
                (told, _) => return told,
            };
            let reply = HostReply::Raise { kind: "ValueError".into(), message: TOO_LARGE.into() };
            let replies = vec![reply; calls.len()];
            step = self.limited(|session| session.interpreter()?.resume(replies));
        }
    }
}

/// Truncates an error to what the host accepts. Only its last line, the message, can be long.
fn cut(raised: &mut Raised) {
    for text in [&mut raised.kind, &mut raised.message, &mut raised.traceback] {
        if let Some((at, _)) = text.char_indices().nth(ERROR_CHARS_MAX) {
            text.truncate(at);
            text.push_str("...");
        }
    }
}

/// The message of a call that does not fit a frame.
const TOO_LARGE: &str = "the arguments are too large for a host call: pass less text";

fn tell_variable(
    output: &mut impl Write,
    found: &Result<Option<Value>, InterpreterError>,
) -> Result<(), WireError> {
    let told = match found {
        Ok(Some(value)) => Response::Variable(Cow::Borrowed(value)),
        Ok(None) => Response::NoVariable,
        Err(error) => broken(error),
    };
    match (answer(output, &told), found) {
        (Err(error), Ok(Some(value))) if error.is_size() => {
            let type_name = value.type_name().to_owned();
            let opaque = Value::Opaque { repr: format!("<{type_name}, too large to show>"), type_name };
            answer(output, &Response::Variable(Cow::Owned(opaque)))
        }
        (told, _) => told,
    }
}

fn answer(output: &mut impl Write, response: &Response<'_>) -> Result<(), WireError> {
    wire::write(output, response, RESPONSE_BYTES_MAX)
}

fn broken(error: &InterpreterError) -> Response<'static> {
    Response::Broken { what: error.to_string() }
}

/// Limits the memory of the process; without our allocator, only the address space is limited.
pub(super) fn arm(bytes_max: Option<usize>) {
    monty_alloc::set_hard_limit(bytes_max).ok();
}
