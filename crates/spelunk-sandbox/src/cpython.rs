//! The second backend: the machine's `CPython`. It can run any Python, so nothing in it is trusted: the kernel denies
//! it files, network and other processes, and a worker script inside it speaks the protocol of `wire.rs`.

use std::process::Command;
use std::sync::OnceLock;

use crate::wire::{Confine, Request, Survey};
use crate::worker::{Deadline, Process};
use crate::{InterpreterError, Python, PythonModules, WorkerCommand};

/// In the order in which the parts run.
const SCRIPT: [&str; 6] = [
    include_str!("cpython/wire.py"),
    include_str!("cpython/calm.py"),
    include_str!("cpython/calls.py"),
    include_str!("cpython/handles.py"),
    include_str!("cpython/host_files.py"),
    include_str!("cpython/worker.py"),
];
/// Inspects an interpreter from the inside: its version, and the files it needs to read.
const SURVEY: &str = include_str!("cpython/survey.py");
/// The address space of an empty interpreter with its thread, its modules and a frame in transit.
const BASE_BYTES: u64 = 320 << 20;
/// How long the start may block on the pipe.
const START_MS_MAX: u64 = 5_000;

#[derive(Debug)]
pub(crate) struct Launch {
    worker: WorkerCommand,
    python: Python,
    survey: OnceLock<Survey>,
}

impl Launch {
    pub(crate) fn new(worker: WorkerCommand, python: Python) -> Self {
        Self { worker, python, survey: OnceLock::new() }
    }

    /// Starts one. It confines itself before it reads a session; if it cannot, its first response says so.
    pub(crate) fn start(&self, memory_bytes_max: u64) -> Result<Process, InterpreterError> {
        if !cfg!(target_os = "linux") {
            let why = "confinement is only available on Linux; use the default sandbox".to_owned();
            return Err(InterpreterError::Unconfined { backend: "cpython", why });
        }
        let Survey { program, path, readable } = self.survey()?;
        let name = program.display().to_string();
        let script = SCRIPT.concat();
        let mut arguments: Vec<String> =
            [&name, "-s", "-S", "-B", "-X", "utf8", "-c", &script].map(str::to_owned).into();
        arguments.extend(path);
        let bounds = Confine {
            parent: std::process::id(),
            program,
            arguments,
            // Not `-I`, which would ignore the seed: the order of sets affects what a cell prints.
            environment: ["PYTHONHASHSEED=0", "TZ=UTC", "MALLOC_ARENA_MAX=1"].map(str::to_owned).into(),
            readable,
            memory_bytes_max: memory_bytes_max.saturating_add(BASE_BYTES),
        };
        let mut process = Process::start(&self.worker)?;
        process.send(&Request::Confine(bounds), &Deadline::in_ms(START_MS_MAX))?;
        Ok(process)
    }

    fn survey(&self) -> Result<Survey, InterpreterError> {
        if let Some(survey) = self.survey.get() {
            return Ok(survey.clone());
        }
        let survey = survey(&self.python)?;
        Ok(self.survey.get_or_init(|| survey).clone())
    }
}

/// Asks the interpreter about itself. Only our own code runs, before any cell, so it is not confined: `python3` is
/// often a script that needs its environment.
fn survey(python: &Python) -> Result<Survey, InterpreterError> {
    let program = python.program.display().to_string();
    let failed = |source| InterpreterError::Spawn { program: program.clone(), source };
    let modules = match python.modules {
        PythonModules::Standard => "standard",
        PythonModules::Installed => "installed",
    };
    let output =
        Command::new(&python.program).args(["-I", "-S", "-c", SURVEY, modules]).output().map_err(failed)?;
    let unfit = |why: &str| failed(std::io::Error::other(why));
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(unfit(said.trim().lines().next_back().unwrap_or("it exited without a message")));
    }
    serde_json::from_slice(&output.stdout).map_err(|_| unfit("it is not Python 3.10 or newer"))
}
