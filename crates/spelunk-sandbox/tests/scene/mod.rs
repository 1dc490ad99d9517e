//! Sessions under test: the backends, a host, and what a cell did as a few lines of text.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use spelunk_sandbox::{
    CellEnd, Handle, HostCall, HostFunction, HostReply, Interpreter, InterpreterError, Python, PythonModules,
    Sandbox, SandboxLimits, Setup, Step, Value, WorkerCommand,
};

mod host;
mod show;

pub(crate) use host::{all_kinds, reply};
pub(crate) use show::show;

/// The backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    InProcess,
    Worker,
    Cpython,
}

static MONTY: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::monty(worker()));
static CPYTHON: LazyLock<Result<Sandbox, String>> = LazyLock::new(|| {
    let python = Python { program: "python3".into(), modules: PythonModules::Standard };
    let sandbox = Sandbox::cpython(worker(), python);
    match sandbox.open(&setup()) {
        Ok(_) => Ok(sandbox),
        Err(error @ (InterpreterError::Unconfined { .. } | InterpreterError::Spawn { .. })) => {
            Err(error.to_string())
        }
        Err(error) => panic!("CPython is there and can be confined, but {error}"),
    }
});

/// A worker, as `cargo test` builds it next to the tests.
pub(crate) fn worker() -> WorkerCommand {
    let test = std::env::current_exe().expect("a test has a path");
    let directory = test.ancestors().nth(2).expect("tests are built in `deps`").join("examples");
    let program: PathBuf = directory.join("worker");
    assert!(program.is_file(), "`{}` is missing: run `cargo test` without `--test`", program.display());
    WorkerCommand { program, arguments: vec![] }
}

impl Backend {
    /// The sandbox, or `None` if this machine does not support it. That is reported even if the test passes.
    pub(crate) fn sandbox(self) -> Option<Sandbox> {
        match self {
            Self::InProcess => Some(Sandbox::in_process()),
            Self::Worker => Some(MONTY.clone()),
            Self::Cpython => match &*CPYTHON {
                Ok(sandbox) => Some(sandbox.clone()),
                Err(why) => {
                    // Not `eprintln!`, which the test runner captures.
                    drop(writeln!(std::io::stderr(), "SKIPPED for cpython: {why}"));
                    None
                }
            },
        }
    }
}

/// A setup with a function, a text behind a handle, an exception and a file.
pub(crate) fn setup() -> Setup {
    Setup {
        functions: vec![
            HostFunction { name: "ask".into(), doc: "ask(text) -> str\n\nAsks.".into(), is_awaitable: true },
            HostFunction { name: "give".into(), doc: "give(name)".into(), is_awaitable: false },
        ],
        variables: vec![("context".into(), Value::Handle(Handle { class: "Text".into(), id: 1 }))],
        exceptions: vec!["BudgetError".into()],
        prelude: String::new(),
        files: vec![("/data/notes.txt".into(), "one\ntwo\n".into())],
        clock_ms: 1_700_000_000_000,
        seed: 7,
        limits: SandboxLimits {
            cell_ms_max: 20_000,
            memory_bytes_max: 256 << 20,
            recursion_max: 200,
            output_chars_max: 3_000,
            cell_calls_max: 40,
        },
    }
}

/// A session and what happened in it.
pub(crate) struct Session {
    interpreter: Box<dyn Interpreter>,
}

impl Session {
    pub(crate) fn open(sandbox: &Sandbox, setup: &Setup) -> Self {
        Self { interpreter: sandbox.open(setup).expect("a session opens") }
    }

    /// Runs a cell with the host of `host.rs`, and shows what it did.
    pub(crate) fn run(&mut self, code: &str) -> String {
        let (calls, end) = self.run_to_end(code);
        show(&calls, &end.expect("the interpreter lives"))
    }

    /// Runs a cell: its steps with calls, and its end.
    pub(crate) fn run_to_end(
        &mut self,
        code: &str,
    ) -> (Vec<Vec<HostCall>>, Result<CellEnd, InterpreterError>) {
        let mut steps = Vec::new();
        let mut step = self.interpreter.feed(code);
        loop {
            match step {
                Ok(Step::Calls(calls)) => {
                    let replies: Vec<HostReply> = calls.iter().map(reply).collect();
                    steps.push(calls);
                    step = self.interpreter.resume(replies);
                }
                Ok(Step::Finished(end)) => return (steps, Ok(end)),
                Err(error) => return (steps, Err(error)),
            }
        }
    }

    /// How a cell ended that must fail.
    pub(crate) fn fail(&mut self, code: &str) -> spelunk_sandbox::Raised {
        match self.run_to_end(code).1.expect("the interpreter lives") {
            CellEnd::Raised { raised, .. } => raised,
            other @ (CellEnd::Done { .. } | CellEnd::Finished { .. }) => {
                panic!("it did not raise: {other:?}")
            }
        }
    }

    pub(crate) fn variable(&mut self, name: &str) -> Option<Value> {
        self.interpreter.variable(name).expect("the interpreter lives")
    }

    pub(crate) fn interpreter(&mut self) -> &mut dyn Interpreter {
        &mut *self.interpreter
    }
}
