//! The host side of a session in a worker. Everything the worker sends is validated: code that has taken over the
//! worker can do no more than a cell, which is to call the functions and host objects it was given.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Weak;

use super::Pool;
use crate::wire::{Request, Response};
use crate::worker::{CLOCK_FACTOR, Deadline, Process};
use crate::{
    CellEnd, Handle, HostCall, HostReply, Interpreter, InterpreterError, Output, Raised, SandboxLimits,
    Setup, Step, Value,
};

/// CPU time beyond a cell's limit before the worker is killed; within it, the worker ends the cell itself.
const GRACE_MS: u64 = 2_000;
/// The timeout for starting a worker and reading a setup.
const OPEN_MS_MAX: u64 = 30_000;
/// The maximum length of a traceback, besides the output.
const TRACEBACK_CHARS_MAX: usize = 100_000;

/// A process that can serve a session, and its pending responses.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) process: Process,
    /// The memory it was started with, if that cannot be changed.
    memory_bytes_max: Option<u64>,
    /// Whether the response to a `close` is still pending.
    is_closing: bool,
}

impl Worker {
    pub(crate) fn new(process: Process, memory_bytes_max: Option<u64>) -> Self {
        Self { process, memory_bytes_max, is_closing: false }
    }

    pub(crate) fn is_for(&self, memory_bytes_max: u64) -> bool {
        self.memory_bytes_max.is_none_or(|bytes_max| bytes_max == memory_bytes_max)
    }
}

#[derive(Debug)]
pub(crate) struct WorkerInterpreter {
    worker: Option<Worker>,
    backend: &'static str,
    home: Weak<Pool>,
    state: State,
    limits: SandboxLimits,
    functions: HashSet<String>,
    issued: HashSet<Handle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Suspended { n_calls: usize, n_made: u64 },
    Gone { why: &'static str },
}

impl WorkerInterpreter {
    /// Opens a session in a worker, which returns to its pool if the session ends cleanly.
    pub(crate) fn open(
        mut worker: Worker,
        setup: &Setup,
        backend: &'static str,
        home: Weak<Pool>,
    ) -> Result<Self, InterpreterError> {
        let ms_max = OPEN_MS_MAX.saturating_add(setup.limits.cell_ms_max);
        worker.process.memory_bytes_max = setup.limits.memory_bytes_max;
        // Its address space is limited by its first session and then fixed.
        worker.memory_bytes_max.get_or_insert(setup.limits.memory_bytes_max);
        if std::mem::take(&mut worker.is_closing) {
            let answer = worker.process.receive(&Deadline::in_ms(ms_max))?;
            if !matches!(answer, Response::Closed) {
                return Err(unexpected(&answer, backend));
            }
        }
        let request = Request::Open { parent: std::process::id(), setup: Cow::Borrowed(setup) };
        let answer = worker.process.ask(&request, &Deadline::in_ms(ms_max))?;
        if !matches!(answer, Response::Opened) {
            return Err(unexpected(&answer, backend));
        }
        let mut issued = HashSet::new();
        setup.variables.iter().for_each(|(_, value)| collect_handles(value, &mut issued));
        Ok(Self {
            worker: Some(worker),
            backend,
            home,
            state: State::Idle,
            limits: setup.limits,
            functions: setup.functions.iter().map(|function| function.name.clone()).collect(),
            issued,
        })
    }

    /// Sends a request. Any error ends the worker.
    fn ask(&mut self, request: &Request<'_>) -> Result<Response<'static>, InterpreterError> {
        if let State::Gone { why } = self.state {
            return Err(InterpreterError::Died { how: why.to_owned() });
        }
        let cell_ms_max = self.limits.cell_ms_max;
        let worker = self.worker.as_mut().expect("a worker is there unless the state says that it is gone");
        let deadline = worker.process.deadline_in_cpu_ms(
            cell_ms_max.saturating_add(GRACE_MS),
            cell_ms_max.saturating_mul(CLOCK_FACTOR).saturating_add(GRACE_MS),
        );
        let answer = worker.process.ask(request, &deadline);
        let answer = match answer {
            Ok(Response::Broken { what }) => Err(InterpreterError::Broken { what }),
            other => other,
        };
        if answer.is_err() {
            self.end("it has ended; open a new session and feed the same cells");
        }
        answer
    }

    fn step(&mut self, request: &Request<'_>, n_made: u64) -> Result<Step, InterpreterError> {
        let answer = self.ask(request)?;
        let Response::Step(step) = answer else { return Err(self.refuse(unexpected(&answer, self.backend))) };
        let step = step.into_owned();
        let checked = match &step {
            Step::Calls(calls) => self.check_calls(calls, n_made),
            Step::Finished(end) => self.check_end(end),
        };
        match checked {
            Ok(state) => self.state = state,
            Err(what) => return Err(self.refuse(InterpreterError::Protocol { what })),
        }
        if let Step::Finished(CellEnd::Raised { raised: Raised { is_poisoned: true, .. }, .. }) = &step {
            self.end("it was stopped at a limit; open a new session and feed the same cells");
        }
        Ok(step)
    }

    fn check_calls(&self, calls: &[HostCall], n_made: u64) -> Result<State, String> {
        if calls.is_empty() {
            return Err("a step without a call".to_owned());
        }
        let n_made = n_made.saturating_add(calls.len() as u64);
        if n_made > self.limits.cell_calls_max {
            return Err(format!("more than the {} host calls a cell may make", self.limits.cell_calls_max));
        }
        for HostCall { name, receiver, .. } in calls {
            match receiver {
                None if self.functions.contains(name) => {}
                None => return Err(format!("a call of `{}`, which is not a function", shown(name))),
                Some(handle) if self.issued.contains(handle) => {}
                Some(handle) => {
                    return Err(format!(
                        "a call on the unknown object `{}` {}",
                        shown(&handle.class),
                        handle.id
                    ));
                }
            }
        }
        Ok(State::Suspended { n_calls: calls.len(), n_made })
    }

    fn check_end(&self, end: &CellEnd) -> Result<State, String> {
        let (output, raised) = match end {
            CellEnd::Done { output } | CellEnd::Finished { output } => (output, None),
            CellEnd::Raised { output, raised } => (output, Some(raised)),
        };
        let Output { head, tail, .. } = output;
        let n_chars = (head.chars().count() + tail.chars().count()) as u64;
        if n_chars > self.limits.output_chars_max {
            return Err(format!(
                "{n_chars} characters of output; the maximum is {}",
                self.limits.output_chars_max
            ));
        }
        let is_long = |text: &String| text.chars().nth(TRACEBACK_CHARS_MAX).is_some();
        if raised
            .is_some_and(|raised| [&raised.kind, &raised.message, &raised.traceback].into_iter().any(is_long))
        {
            return Err(format!("an error of more than {TRACEBACK_CHARS_MAX} characters"));
        }
        Ok(State::Idle)
    }

    fn refuse(&mut self, error: InterpreterError) -> InterpreterError {
        self.end("it broke the protocol; open a new session and feed the same cells");
        error
    }

    fn end(&mut self, why: &'static str) {
        self.state = State::Gone { why };
        self.worker = None;
    }
}

impl Interpreter for WorkerInterpreter {
    fn set_cell_ms_max(&mut self, cell_ms_max: u64) {
        self.limits.cell_ms_max = cell_ms_max;
    }

    fn feed(&mut self, code: &str) -> Result<Step, InterpreterError> {
        if let State::Suspended { .. } = self.state {
            return Err(InterpreterError::Broken { what: "a cell was started while another waits".into() });
        }
        let cell_ms_max = self.limits.cell_ms_max;
        self.step(&Request::Feed { code: code.into(), cell_ms_max }, 0)
    }

    fn resume(&mut self, replies: Vec<HostReply>) -> Result<Step, InterpreterError> {
        let (n_calls, n_made) = match self.state {
            State::Suspended { n_calls, n_made } => (n_calls, n_made),
            State::Idle => (0, 0),
            State::Gone { why } => return Err(InterpreterError::Died { how: why.to_owned() }),
        };
        if n_calls == 0 || replies.len() != n_calls {
            let what = format!("{} replies to {n_calls} calls", replies.len());
            return Err(InterpreterError::Broken { what });
        }
        for reply in &replies {
            if let HostReply::Return(value) = reply {
                collect_handles(value, &mut self.issued);
            }
        }
        self.step(&Request::Resume { replies }, n_made)
    }

    fn variable(&mut self, name: &str) -> Result<Option<Value>, InterpreterError> {
        if let State::Suspended { .. } = self.state {
            return Err(InterpreterError::Broken {
                what: "a variable was requested while a cell is waiting".into(),
            });
        }
        let answer = self.ask(&Request::Variable { name: name.into() })?;
        match answer {
            Response::Variable(value) => Ok(Some(value.into_owned())),
            Response::NoVariable => Ok(None),
            Response::Opened
            | Response::Step(_)
            | Response::Closed
            | Response::Broken { .. }
            | Response::Unconfined { .. } => Err(self.refuse(unexpected(&answer, self.backend))),
        }
    }
}

impl Drop for WorkerInterpreter {
    /// A worker whose session ended between two cells is reusable.
    fn drop(&mut self) {
        let (State::Idle, Some(mut worker), Some(home)) =
            (self.state, self.worker.take(), self.home.upgrade())
        else {
            return;
        };
        if worker.process.send(&Request::Close, &Deadline::in_ms(0)).is_ok() {
            worker.is_closing = true;
            home.put_back(worker);
        }
    }
}

/// Collects the handles in a value, without recursion: the host may nest values arbitrarily deep.
fn collect_handles(value: &Value, issued: &mut HashSet<Handle>) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Handle(handle) => drop(issued.insert(handle.clone())),
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => waiting.extend(items),
            Value::Dict(pairs) => waiting.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
            Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::Str(_)
            | Value::Bytes(_)
            | Value::Slice(..)
            | Value::Opaque { .. } => {}
        }
    }
}

/// The first characters of a name that hostile code chose.
fn shown(name: &str) -> String {
    name.chars().take(40).flat_map(char::escape_debug).collect()
}

fn unexpected(response: &Response<'_>, backend: &'static str) -> InterpreterError {
    let what = match response {
        Response::Unconfined { why } => return InterpreterError::Unconfined { backend, why: why.clone() },
        Response::Broken { what } => return InterpreterError::Broken { what: what.clone() },
        Response::Opened => "`opened`",
        Response::Step(_) => "`step`",
        Response::Variable(_) => "`variable`",
        Response::NoVariable => "`no_variable`",
        Response::Closed => "`closed`",
    };
    InterpreterError::Protocol { what: format!("{what}, which is not the expected reply") }
}
