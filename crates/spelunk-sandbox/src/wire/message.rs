//! The messages, and conversions from the types of the interface. They borrow when sent, so that a large variable is
//! not copied into a message first.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::value::WireValue;
use crate::{
    CellEnd, Handle, HostCall, HostFunction, HostReply, Output, Raised, SandboxLimits, Setup, Step, Value,
};

/// From the host to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request<'a> {
    /// Confine yourself and become another interpreter. Answered only if that is impossible.
    Confine(Confine),
    /// Start a session, replacing the previous one.
    Open { parent: u32, setup: Box<WireSetup<'a>> },
    /// Start a cell with this limit on CPU time.
    Feed { code: Cow<'a, str>, cell_ms_max: u64 },
    /// Continue it.
    Resume { replies: Vec<WireReply> },
    /// Return the value of a variable.
    Variable { name: Cow<'a, str> },
    /// Discard the session, and wait for the next.
    Close,
    /// Perform one task and exit. Messages after this are plain bytes.
    Work(Work),
}

/// From a worker to the host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Response<'a> {
    /// The session is open.
    Opened,
    /// What the cell did next.
    Step(WireStep<'a>),
    /// The value of a variable.
    Variable(WireValue<'a>),
    /// There is no variable of that name.
    NoVariable,
    /// The session is discarded.
    Closed,
    /// The interpreter failed.
    Broken { what: String },
    /// This machine cannot confine it.
    Unconfined { why: String },
}

/// A task that is not a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The parent process; the worker ends with it.
    pub(crate) parent: u32,
    /// The name of the task.
    pub(crate) task: String,
    pub(crate) memory_bytes_max: u64,
    pub(crate) cpu_ms_max: u64,
}

/// What a worker becomes, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confine {
    /// The parent process; the worker ends with it.
    pub(crate) parent: u32,
    /// The interpreter's executable, not a script.
    pub(crate) program: PathBuf,
    /// Its arguments, starting with its own name.
    pub(crate) arguments: Vec<String>,
    /// Its whole environment, as `NAME=value`.
    pub(crate) environment: Vec<String>,
    /// Directories and files it may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Address space.
    pub(crate) memory_bytes_max: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireSetup<'a> {
    functions: Vec<WireFunction<'a>>,
    variables: Vec<(Cow<'a, str>, WireValue<'a>)>,
    exceptions: Vec<Cow<'a, str>>,
    prelude: Cow<'a, str>,
    files: Vec<(Cow<'a, str>, WireValue<'a>)>,
    clock_ms: u64,
    seed: u64,
    limits: WireLimits,
}

impl WireSetup<'_> {
    pub(crate) fn memory_bytes_max(&self) -> u64 {
        self.limits.memory_bytes_max
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct WireFunction<'a> {
    name: Cow<'a, str>,
    doc: Cow<'a, str>,
    is_awaitable: bool,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "limits are all of the form `unit_max`")]
struct WireLimits {
    cell_ms_max: u64,
    memory_bytes_max: u64,
    recursion_max: u64,
    output_chars_max: u64,
    cell_calls_max: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireReply {
    Return(WireValue<'static>),
    Raise { kind: String, message: String },
    Finish,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireStep<'a> {
    Calls(Vec<WireCall<'a>>),
    Done { output: WireOutput<'a> },
    Raised { output: WireOutput<'a>, raised: WireRaised<'a> },
    Finished { output: WireOutput<'a> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireCall<'a> {
    name: Cow<'a, str>,
    receiver: Option<(Cow<'a, str>, u64)>,
    args: Vec<WireValue<'a>>,
    kwargs: Vec<(Cow<'a, str>, WireValue<'a>)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireOutput<'a> {
    head: Cow<'a, str>,
    tail: Cow<'a, str>,
    n_chars: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireRaised<'a> {
    kind: Cow<'a, str>,
    message: Cow<'a, str>,
    traceback: Cow<'a, str>,
    is_poisoned: bool,
}

impl<'a> From<&'a Setup> for WireSetup<'a> {
    fn from(setup: &'a Setup) -> Self {
        let SandboxLimits { cell_ms_max, memory_bytes_max, recursion_max, output_chars_max, cell_calls_max } =
            setup.limits;
        Self {
            functions: setup.functions.iter().map(WireFunction::from).collect(),
            variables: named(&setup.variables),
            exceptions: setup.exceptions.iter().map(|name| name.as_str().into()).collect(),
            prelude: setup.prelude.as_str().into(),
            files: named(&setup.files),
            clock_ms: setup.clock_ms,
            seed: setup.seed,
            limits: WireLimits {
                cell_ms_max,
                memory_bytes_max,
                recursion_max,
                output_chars_max,
                cell_calls_max,
            },
        }
    }
}

impl From<WireSetup<'_>> for Setup {
    fn from(wire: WireSetup<'_>) -> Self {
        let WireLimits { cell_ms_max, memory_bytes_max, recursion_max, output_chars_max, cell_calls_max } =
            wire.limits;
        Self {
            functions: wire.functions.into_iter().map(HostFunction::from).collect(),
            variables: unnamed(wire.variables),
            exceptions: wire.exceptions.into_iter().map(Cow::into_owned).collect(),
            prelude: wire.prelude.into_owned(),
            files: unnamed(wire.files),
            clock_ms: wire.clock_ms,
            seed: wire.seed,
            limits: SandboxLimits {
                cell_ms_max,
                memory_bytes_max,
                recursion_max,
                output_chars_max,
                cell_calls_max,
            },
        }
    }
}

fn named(pairs: &[(String, Value)]) -> Vec<(Cow<'_, str>, WireValue<'_>)> {
    pairs.iter().map(|(name, value)| (name.as_str().into(), value.into())).collect()
}

fn unnamed(pairs: Vec<(Cow<'_, str>, WireValue<'_>)>) -> Vec<(String, Value)> {
    pairs.into_iter().map(|(name, value)| (name.into_owned(), value.into_value())).collect()
}

impl<'a> From<&'a HostFunction> for WireFunction<'a> {
    fn from(function: &'a HostFunction) -> Self {
        let HostFunction { name, doc, is_awaitable } = function;
        Self { name: name.into(), doc: doc.into(), is_awaitable: *is_awaitable }
    }
}

impl From<WireFunction<'_>> for HostFunction {
    fn from(wire: WireFunction<'_>) -> Self {
        let WireFunction { name, doc, is_awaitable } = wire;
        Self { name: name.into_owned(), doc: doc.into_owned(), is_awaitable }
    }
}

impl From<HostReply> for WireReply {
    fn from(reply: HostReply) -> Self {
        match reply {
            HostReply::Return(value) => Self::Return(value.into()),
            HostReply::Raise { kind, message } => Self::Raise { kind, message },
            HostReply::Finish => Self::Finish,
        }
    }
}

impl From<WireReply> for HostReply {
    fn from(wire: WireReply) -> Self {
        match wire {
            WireReply::Return(value) => Self::Return(value.into_value()),
            WireReply::Raise { kind, message } => Self::Raise { kind, message },
            WireReply::Finish => Self::Finish,
        }
    }
}

impl<'a> From<&'a Step> for WireStep<'a> {
    fn from(step: &'a Step) -> Self {
        match step {
            Step::Calls(calls) => Self::Calls(calls.iter().map(WireCall::from).collect()),
            Step::Finished(CellEnd::Done { output }) => Self::Done { output: output.into() },
            Step::Finished(CellEnd::Raised { output, raised }) => {
                Self::Raised { output: output.into(), raised: raised.into() }
            }
            Step::Finished(CellEnd::Finished { output }) => Self::Finished { output: output.into() },
        }
    }
}

impl From<WireStep<'_>> for Step {
    fn from(wire: WireStep<'_>) -> Self {
        match wire {
            WireStep::Calls(calls) => Self::Calls(calls.into_iter().map(HostCall::from).collect()),
            WireStep::Done { output } => Self::Finished(CellEnd::Done { output: output.into() }),
            WireStep::Raised { output, raised } => {
                Self::Finished(CellEnd::Raised { output: output.into(), raised: raised.into() })
            }
            WireStep::Finished { output } => Self::Finished(CellEnd::Finished { output: output.into() }),
        }
    }
}

impl<'a> From<&'a HostCall> for WireCall<'a> {
    fn from(call: &'a HostCall) -> Self {
        let HostCall { name, receiver, args, kwargs } = call;
        Self {
            name: name.into(),
            receiver: receiver.as_ref().map(|Handle { class, id }| (class.into(), *id)),
            args: args.iter().map(WireValue::from).collect(),
            kwargs: named(kwargs),
        }
    }
}

impl From<WireCall<'_>> for HostCall {
    fn from(wire: WireCall<'_>) -> Self {
        Self {
            name: wire.name.into_owned(),
            receiver: wire.receiver.map(|(class, id)| Handle { class: class.into_owned(), id }),
            args: wire.args.into_iter().map(WireValue::into_value).collect(),
            kwargs: unnamed(wire.kwargs),
        }
    }
}

impl<'a> From<&'a Output> for WireOutput<'a> {
    fn from(output: &'a Output) -> Self {
        let Output { head, tail, n_chars } = output;
        Self { head: head.into(), tail: tail.into(), n_chars: *n_chars }
    }
}

impl From<WireOutput<'_>> for Output {
    fn from(wire: WireOutput<'_>) -> Self {
        Self { head: wire.head.into_owned(), tail: wire.tail.into_owned(), n_chars: wire.n_chars }
    }
}

impl<'a> From<&'a Raised> for WireRaised<'a> {
    fn from(raised: &'a Raised) -> Self {
        let Raised { kind, message, traceback, is_poisoned } = raised;
        Self {
            kind: kind.into(),
            message: message.into(),
            traceback: traceback.into(),
            is_poisoned: *is_poisoned,
        }
    }
}

impl From<WireRaised<'_>> for Raised {
    fn from(wire: WireRaised<'_>) -> Self {
        Self {
            kind: wire.kind.into_owned(),
            message: wire.message.into_owned(),
            traceback: wire.traceback.into_owned(),
            is_poisoned: wire.is_poisoned,
        }
    }
}
