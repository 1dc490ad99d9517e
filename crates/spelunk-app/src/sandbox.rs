//! Where model code runs: in worker processes of this program, or in the machine's `CPython`. Other
//! work that must not run in this process uses the workers too.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use spelunk_sandbox::{Python, PythonModules, Sandbox, Task, WorkerCommand};
use spelunk_types::{ErrorCode, WorkBounds, WorkError, WorkLine, Workers};

use crate::config::SandboxChoice;
use crate::env::{self, Environment};
use crate::failure::{FixedError, Result, Usage};

/// The argument that makes this program a worker. It is hidden from the list of commands.
pub const OWN_WORD: &str = "worker";

/// The argument that makes another program a worker; chosen so that it does not clash with that program's commands.
pub(crate) const HOOK_WORD: &str = "spelunk-worker";

pub const TASKS: &[Task] = &[
    Task { name: spelunk_context::EXTRACT_TASK, run: spelunk_context::serve_extract },
    Task { name: spelunk_desk::SHELL_TASK, run: spelunk_desk::serve_shell },
];

/// Whether this process would become a worker if it were started with that argument.
static IS_HOOKED: AtomicBool = AtomicBool::new(false);

pub(crate) fn hook() {
    IS_HOOKED.store(true, Ordering::Release);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerPlace {
    Own,
    /// This program, which embeds the library, if it registered itself as a worker.
    Hooked,
    /// The `spelunk` program at this path.
    Program(PathBuf),
}

/// The error for a program that embeds the library but did not register itself as a worker.
const NO_WORKER: FixedError = FixedError {
    code: ErrorCode::SandboxFailed,
    message: "this program cannot run model-written code: it has no worker",
    hint: "call `spelunk::serve_worker()` at the start of `main`, name a `spelunk` program with \
           `Builder::worker`, or choose a strategy that runs no code",
};

impl WorkerPlace {
    fn command(&self) -> Result<WorkerCommand> {
        let of = |program: PathBuf, word: &str| WorkerCommand { program, arguments: vec![word.into()] };
        match self {
            Self::Own => Ok(of(own_program()?, OWN_WORD)),
            Self::Hooked if IS_HOOKED.load(Ordering::Acquire) => Ok(of(own_program()?, HOOK_WORD)),
            Self::Hooked => Err(NO_WORKER.into()),
            Self::Program(program) => Ok(of(program.clone(), OWN_WORD)),
        }
    }
}

impl Workers for WorkerPlace {
    fn start(&self, task: &str, bounds: WorkBounds) -> Result<Box<dyn WorkLine>, WorkError> {
        let command = self.command().map_err(|failure| WorkError::NoWorker { why: failure.0.to_string() })?;
        spelunk_sandbox::start_work(&command, task, bounds)
    }
}

/// Opens the chosen sandbox. Nothing is started before the first cell.
pub(crate) fn open(choice: SandboxChoice, environment: &Environment, place: &WorkerPlace) -> Result<Sandbox> {
    let worker = place.command()?;
    Ok(match choice {
        SandboxChoice::Monty => Sandbox::monty(worker),
        SandboxChoice::CPython => Sandbox::cpython(worker, python(environment)?),
    })
}

fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| {
        let message = format!("could not find the path of this program to start its sandbox: {error}");
        Usage { message, hint: "start it by its full path".into() }.into()
    })
}

fn python(environment: &Environment) -> Result<Python> {
    let path = environment.path(env::PATH).unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    let program = programs.find(|program| program.is_file()).ok_or_else(|| Usage {
        message: "`--sandbox cpython` needs `python3`, which is not on the PATH".into(),
        hint: "install Python 3, or leave out `--sandbox`: the default sandbox needs nothing".into(),
    })?;
    Ok(Python { program, modules: PythonModules::Installed })
}
