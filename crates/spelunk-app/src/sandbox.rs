//! Where the code of models runs: in worker processes of this program, or in the `CPython` of the machine. What else may
//! not run in this process runs in workers, too.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use spelunk_sandbox::{Python, PythonModules, Sandbox, Task, WorkerCommand};
use spelunk_types::{ErrorCode, Explain, WorkBounds, WorkError, WorkLine, Workers};

use crate::config::SandboxChoice;
use crate::env::{self, Environment};
use crate::failure::{Failure, Usage};

/// The word that makes this program a worker. It is in no list of commands, because it is none for people.
pub const OWN_WORD: &str = "worker";

/// The word that makes another program a worker: no command of its own is called so.
pub(crate) const HOOK_WORD: &str = "spelunk-worker";

/// What this program does as a worker, beside cells.
pub const TASKS: &[Task] = &[
    Task { name: spelunk_context::EXTRACT_TASK, run: spelunk_context::serve_extract },
    Task { name: spelunk_context::PARSE_TASK, run: spelunk_context::serve_parse },
    Task { name: spelunk_desk::SHELL_TASK, run: spelunk_desk::serve_shell },
];

/// Whether this process would become a worker if it were started with that word.
static IS_HOOKED: AtomicBool = AtomicBool::new(false);

/// From here on this program can be started as a worker.
pub(crate) fn hook() {
    IS_HOOKED.store(true, Ordering::Release);
}

/// Which program is started to run the code of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerPlace {
    /// This one, which is `spelunk`.
    Own,
    /// This one, if it said that it can be; another program has the library in it.
    Hooked,
    /// A `spelunk` that lies there.
    Program(PathBuf),
}

/// A program with the library in it that did not say how workers are started.
#[derive(Debug, thiserror::Error)]
#[error("this program cannot run the code of models: it has no worker")]
pub(crate) struct NoWorker;

impl Explain for NoWorker {
    fn code(&self) -> ErrorCode {
        ErrorCode::SandboxFailed
    }

    fn hint(&self) -> Option<String> {
        let hint = "call `spelunk::serve_worker()` first thing in `main`, name a `spelunk` program with \
            `Builder::worker`, or choose a strategy that runs no code";
        Some(hint.to_owned())
    }
}

impl WorkerPlace {
    fn command(&self) -> Result<WorkerCommand, Failure> {
        let of = |program: PathBuf, word: &str| WorkerCommand { program, arguments: vec![word.into()] };
        match self {
            Self::Own => Ok(of(own_program()?, OWN_WORD)),
            Self::Hooked if IS_HOOKED.load(Ordering::Acquire) => Ok(of(own_program()?, HOOK_WORD)),
            Self::Hooked => Err(NoWorker.into()),
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

/// The sandbox of this choice. Nothing is started before the first cell.
pub(crate) fn open(
    choice: SandboxChoice,
    environment: &Environment,
    place: &WorkerPlace,
) -> Result<Sandbox, Failure> {
    let worker = place.command()?;
    Ok(match choice {
        SandboxChoice::Monty => Sandbox::monty(worker),
        SandboxChoice::CPython => Sandbox::cpython(worker, python(environment)?),
    })
}

fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        let message = format!("could not find this program to run its sandbox: {error}");
        Usage { message, hint: "start it by its full path".into() }.into()
    })
}

fn python(environment: &Environment) -> Result<Python, Failure> {
    let path = environment.path(env::PATH.name).unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    let program = programs.find(|program| program.is_file()).ok_or_else(|| Usage {
        message: "there is no `python3` on the PATH for `--sandbox cpython`".into(),
        hint: "install Python 3, or leave out `--sandbox`: the default needs nothing".into(),
    })?;
    Ok(Python { program, modules: PythonModules::Installed })
}
