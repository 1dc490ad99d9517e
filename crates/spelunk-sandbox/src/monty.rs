//! The in-process interpreter: `monty` under our limits. A prelude and a rewrite of the cell before it runs make up for
//! the Python features it lacks. It handles operating system calls itself (clock, scratch files) and passes everything
//! else to the host.

mod callers;
mod capture;
mod files;
mod hints;
mod host_files;
mod internal;
mod names;
mod patterns;
mod prelude;
mod rewrite;
mod source_map;
mod start;
mod system;
mod trace;
mod values;

use std::collections::HashMap;
use std::mem;
use std::time::Duration;

use monty::{MontyRepl, ReplFunctionCall, ReplOsCall, ReplProgress, ReplResolveFutures, ReplStartError};
use monty_types::{
    ExcType, ExtFunctionResult, MontyException, MontyObject, NameLookupResult, NamedValues, ObjectRef,
    PrintWriter,
};

use self::callers::CallerPrelude;
pub(crate) use self::capture::Capture;
use self::files::Files;
pub use self::host_files::FILES;
use self::patterns::Patterns;
use self::rewrite::Session;
use self::system::Clock;
use self::trace::{MARK, Sources};
use self::values::{Handles, from_monty, to_monty};
use crate::{
    CellEnd, Handle, HostCall, HostFunction, HostReply, Interpreter, InterpreterError, Output, SandboxLimits,
    Setup, Step, Value,
};

/// Runs cells with `monty`, in this process.
#[derive(Debug)]
pub struct MontyInterpreter {
    state: State,
    functions: HashMap<String, HostFunction>,
    exceptions: Vec<String>,
    limits: SandboxLimits,
    handles: Handles,
    files: Files,
    clock: Clock,
    sources: Sources,
    session: Session,
    callers: CallerPrelude,
    patterns: Patterns,
    /// How many classes of host objects the prelude knows.
    n_shown_classes: usize,
    capture: Capture,
    cell: Cell,
}

#[derive(Debug)]
enum State {
    Idle(Box<MontyRepl>),
    Call(Box<ReplFunctionCall>),
    /// Suspended on a file operation that the host handles.
    File(Box<ReplOsCall>),
    /// The calls to be answered next, by number.
    Futures(Box<ReplResolveFutures>, Vec<u32>),
    Gone,
}

#[derive(Debug, Default)]
struct Cell {
    n_calls: u64,
    /// Awaitable calls made but not awaited yet, in program order.
    pending: Vec<(u32, HostCall)>,
    /// Generator tasks waiting for their turn: the call, by the generator's key.
    parked: HashMap<i64, u32>,
    /// Which of them continue next.
    woken: Vec<i64>,
    is_finished: bool,
}

type Progress = Result<ReplProgress, Box<ReplStartError>>;
/// What comes next: more running, or a step for the host.
type Turn = Result<Progress, Box<Step>>;

impl MontyInterpreter {
    /// Opens a session.
    pub fn open(setup: &Setup) -> Result<Self, InterpreterError> {
        start::open(setup)
    }

    pub(crate) fn capture(&self) -> Capture {
        self.capture.clone()
    }

    fn begin(&mut self, code: &str, is_cell: bool) -> Result<Step, InterpreterError> {
        let State::Idle(repl) = mem::replace(&mut self.state, State::Gone) else {
            return Err(InterpreterError::Protocol {
                what: "a cell was started while another is running".to_owned(),
            });
        };
        // The host may have returned its first object in the last cell.
        self.session.has_handles |= !self.handles.is_empty();
        self.session.has_wide |= self.handles.has_wide;
        self.cell = Cell::default();
        self.capture.reset(self.limits.output_chars_max);
        let rewritten = match self.session.cell(code) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                self.state = State::Idle(repl);
                let raised = self.sources.syntax_error(code, error);
                return Ok(self.ended(|output| CellEnd::Raised { output, raised }));
            }
        };
        let repl = self.load(repl, &rewritten.parts)?;
        let text = rewritten.code.text.clone();
        if is_cell {
            self.sources.add_cell(repl.next_script_name(), code, rewritten.code);
        } else {
            self.sources.add_prelude(repl.next_script_name());
        }
        let mut inputs = NamedValues::new();
        if self.functions.values().any(|function| function.is_awaitable) {
            inputs.push("__sp_async", MontyObject::bool(rewritten.is_async));
        }
        if self.handles.n_classes() > self.n_shown_classes {
            self.n_shown_classes = self.handles.n_classes();
            inputs.push("__sp_handle_types", self.handles.shown_classes());
        }
        if let Some(names) = rewritten.names {
            inputs.push("__sp_names", MontyObject::list(names.into_iter().map(MontyObject::string)));
        }
        let progress = repl.feed_start(&text, inputs, self.writer());
        Ok(self.drive(progress))
    }

    /// Runs the parts of the prelude that the cell needs and the session has not loaded yet.
    fn load(&mut self, repl: Box<MontyRepl>, parts: &[String]) -> Result<MontyRepl, InterpreterError> {
        let mut repl = *repl;
        for part in parts {
            self.sources.add_prelude(repl.next_script_name());
            repl.feed_run(part, vec![], PrintWriter::Disabled).map_err(|error| broken_prelude(&error))?;
        }
        Ok(repl)
    }

    fn drive(&mut self, mut progress: Progress) -> Step {
        loop {
            let at = match progress {
                Ok(at) => at,
                Err(error) => return self.failed(*error),
            };
            let turn = match at {
                ReplProgress::Complete { repl, .. } => {
                    self.state = State::Idle(Box::new(repl));
                    return self.ended(|output| CellEnd::Done { output });
                }
                ReplProgress::NameLookup(lookup) => {
                    Ok(lookup.resume(NameLookupResult::Undefined, self.writer()))
                }
                ReplProgress::OsCall(call) => self.system_call(call),
                ReplProgress::FunctionCall(call) => self.called(call),
                ReplProgress::ResolveFutures(futures) => self.blocked(futures),
            };
            progress = match turn {
                Ok(progress) => progress,
                Err(step) => return *step,
            };
        }
    }

    fn called(&mut self, call: ReplFunctionCall) -> Turn {
        if let Some(id) = call.object_id {
            return match self.handles.get(id).cloned() {
                Some(handle) => self.ask(call, Some(handle), false),
                None => {
                    let what = if self.handles.is_class(id) {
                        "cannot create instances of host objects"
                    } else {
                        "is not a host object"
                    };
                    let error = MontyException::new(ExcType::TypeError, Some(what.to_owned()));
                    Ok(call.resume(error, self.writer()))
                }
            };
        }
        if self.functions.get(&call.function_name).is_some_and(|function| !function.is_awaitable) {
            return self.ask(call, None, false);
        }
        for (way, is_awaited) in [(names::NOW, false), (names::LATER, true)] {
            if let Some(name) = call.function_name.strip_prefix(way)
                && self.functions.get(name).is_some_and(|function| function.is_awaitable)
            {
                return self.ask(call, None, is_awaited);
            }
        }
        if call.function_name.starts_with(names::RESERVED) {
            return self.internal(call);
        }
        let answer = ExtFunctionResult::NotFound(call.function_name.clone());
        Ok(call.resume(answer, self.writer()))
    }

    /// Passes a call to the host, at once or when it is awaited.
    fn ask(&mut self, call: ReplFunctionCall, receiver: Option<Handle>, is_awaited: bool) -> Turn {
        let args: Vec<Value> = call.args.args().map(|arg| from_monty(arg, &self.handles)).collect();
        let kwargs = self.kwargs_of(&call);
        let name = call.function_name.as_str();
        let name = name.strip_prefix(names::NOW).or_else(|| name.strip_prefix(names::LATER)).unwrap_or(name);
        let asked = HostCall { name: name.to_owned(), receiver, args, kwargs };
        self.ask_for(call, asked, is_awaited)
    }

    fn kwargs_of(&self, call: &ReplFunctionCall) -> Vec<(String, Value)> {
        let text_of = |name: ObjectRef<'_>| name.as_str().unwrap_or_default().to_owned();
        let kwargs = call.args.kwargs();
        kwargs.map(|(name, value)| (text_of(name), from_monty(value, &self.handles))).collect()
    }

    fn ask_for(&mut self, call: ReplFunctionCall, asked: HostCall, is_awaited: bool) -> Turn {
        self.cell.n_calls += 1;
        if self.cell.n_calls > self.limits.cell_calls_max {
            let what = format!("this cell made more than {} host calls", self.limits.cell_calls_max);
            let error = MontyException::new(ExcType::RuntimeError, Some(what));
            return Ok(call.abort(error, self.writer()));
        }
        if is_awaited {
            self.cell.pending.push((call.call_id, asked));
            return Ok(call.resume_pending(self.writer()));
        }
        self.state = State::Call(Box::new(call));
        Err(Box::new(Step::Calls(vec![asked])))
    }

    /// Passes a file operation to the host if it keeps the files; anything else is answered here.
    fn system_call(&mut self, call: ReplOsCall) -> Turn {
        if self.functions.contains_key(FILES)
            && let Some(asked) = host_files::asked(&call.function_call)
        {
            self.cell.n_calls += 1;
            self.state = State::File(Box::new(call));
            return Err(Box::new(Step::Calls(vec![asked])));
        }
        let answer = system::answer(&call.function_call, &mut self.clock, &mut self.files);
        Ok(call.resume(answer, self.writer()))
    }

    /// All tasks are waiting. Generators take their turn first, then the host.
    fn blocked(&mut self, futures: ReplResolveFutures) -> Turn {
        while let Some(key) = self.cell.woken.pop() {
            if let Some(id) = self.cell.parked.remove(&key) {
                let answer = vec![(id, ExtFunctionResult::Return(MontyObject::none()))];
                return Ok(futures.resume(answer, self.writer()));
            }
        }
        let waiting = futures.pending_call_ids();
        let (asked, rest): (Vec<_>, Vec<_>) =
            mem::take(&mut self.cell.pending).into_iter().partition(|(id, _)| waiting.contains(id));
        self.cell.pending = rest;
        if asked.is_empty() {
            let error = MontyException::runtime_error("this code waits for something that can never happen");
            return Ok(futures.abort(error, self.writer()));
        }
        let (ids, calls) = asked.into_iter().unzip();
        self.state = State::Futures(Box::new(futures), ids);
        Err(Box::new(Step::Calls(calls)))
    }

    fn answered(&mut self, replies: Vec<HostReply>) -> Result<Step, InterpreterError> {
        let finish = || MontyException::new(ExcType::SystemExit, None);
        let protocol = |what: &str| Err(InterpreterError::Protocol { what: what.to_owned() });
        let progress = match mem::replace(&mut self.state, State::Gone) {
            State::Call(call) => {
                let reply = only(replies)?;
                if reply == HostReply::Finish {
                    self.cell.is_finished = true;
                    call.abort(finish(), self.writer())
                } else {
                    call.resume(self.answer(reply), self.writer())
                }
            }
            State::File(call) => {
                let answer = match only(replies)? {
                    HostReply::Return(value) => host_files::answered(&call.function_call, value),
                    refused @ (HostReply::Raise { .. } | HostReply::Finish) => self.answer(refused),
                };
                call.resume(answer, self.writer())
            }
            State::Futures(futures, ids) => {
                if ids.len() != replies.len() {
                    return Err(wrong_count(ids.len(), replies.len()));
                }
                if replies.contains(&HostReply::Finish) {
                    self.cell.is_finished = true;
                    futures.abort(finish(), self.writer())
                } else {
                    let replies = ids.into_iter().zip(replies);
                    let answers = replies.map(|(id, reply)| (id, self.answer(reply))).collect();
                    futures.resume(answers, self.writer())
                }
            }
            State::Idle(repl) => {
                self.state = State::Idle(repl);
                return protocol("a reply came without a call");
            }
            State::Gone => return protocol("the interpreter has ended"),
        };
        Ok(self.drive(progress))
    }

    fn answer(&mut self, reply: HostReply) -> ExtFunctionResult {
        match reply {
            HostReply::Return(value) => ExtFunctionResult::Return(to_monty(value, &mut self.handles)),
            HostReply::Raise { kind, message } => ExtFunctionResult::Error(self.exception(&kind, message)),
            // A finish never gets here: it ends the cell.
            HostReply::Finish => ExtFunctionResult::Return(MontyObject::none()),
        }
    }

    fn exception(&self, kind: &str, message: String) -> MontyException {
        if !self.exceptions.iter().any(|name| name == kind)
            && let Ok(exc_type) = kind.parse::<ExcType>()
        {
            return MontyException::new(exc_type, Some(message));
        }
        MontyException::new(ExcType::Exception, Some(format!("{MARK}h:{kind}{MARK}{message}")))
    }

    fn failed(&mut self, error: ReplStartError) -> Step {
        self.state = State::Idle(Box::new(error.repl));
        if self.cell.is_finished {
            return self.ended(|output| CellEnd::Finished { output });
        }
        let raised = self.sources.raised(&error.error);
        self.ended(|output| CellEnd::Raised { output, raised })
    }

    fn writer(&mut self) -> PrintWriter<'_> {
        PrintWriter::Callback(&mut self.capture)
    }

    fn ended(&mut self, end: impl FnOnce(Output) -> CellEnd) -> Step {
        self.cell = Cell::default();
        Step::Finished(end(self.capture.finish()))
    }
}

impl Interpreter for MontyInterpreter {
    fn set_cell_ms_max(&mut self, cell_ms_max: u64) {
        if let State::Idle(repl) = &mut self.state {
            repl.tracker_mut().set_max_feed_duration(Duration::from_millis(cell_ms_max));
        }
    }

    fn feed(&mut self, code: &str) -> Result<Step, InterpreterError> {
        if matches!(self.state, State::Idle(_)) {
            self.run_callers_prelude(code)?;
        }
        self.begin(code, true)
    }

    fn resume(&mut self, replies: Vec<HostReply>) -> Result<Step, InterpreterError> {
        self.answered(replies)
    }

    fn variable(&mut self, name: &str) -> Result<Option<Value>, InterpreterError> {
        if !names::is_variable(name) || self.session.is_builtin(name) {
            return Ok(None);
        }
        let State::Idle(repl) = &mut self.state else {
            return Err(InterpreterError::Protocol {
                what: "a variable was requested while a cell is running".to_owned(),
            });
        };
        self.sources.add_prelude(repl.next_script_name());
        match repl.feed_run(name, vec![], PrintWriter::Disabled) {
            Ok(value) => Ok(Some(from_monty(value.as_ref(), &self.handles))),
            // Not bound: the only error a lookup can have.
            Err(_) => Ok(None),
        }
    }
}

fn only(replies: Vec<HostReply>) -> Result<HostReply, InterpreterError> {
    match <[HostReply; 1]>::try_from(replies) {
        Ok([reply]) => Ok(reply),
        Err(replies) => Err(wrong_count(1, replies.len())),
    }
}

fn wrong_count(n_calls: usize, n_replies: usize) -> InterpreterError {
    InterpreterError::Protocol { what: format!("{n_replies} replies to {n_calls} calls") }
}

#[derive(Debug)]
struct RefusedCell {
    kind: &'static str,
    message: String,
    start: usize,
    end: usize,
}

fn broken_prelude(error: &dyn std::fmt::Display) -> InterpreterError {
    InterpreterError::Protocol { what: format!("the prelude does not run: {error}") }
}
