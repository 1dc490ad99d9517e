//! Where the code of models runs: in worker processes of this program, or in the `CPython` of the machine.

use std::path::PathBuf;

use spelunk_sandbox::{Python, PythonModules, Sandbox, WorkerCommand};

use crate::cli::{Failure, Usage};
use crate::config::SandboxChoice;
use crate::env::{self, Environment};

/// The sandbox of this choice. Nothing is started before the first cell.
pub(crate) fn open(choice: SandboxChoice, environment: &Environment) -> Result<Sandbox, Failure> {
    let worker = WorkerCommand { program: own_program()?, arguments: vec!["worker".into()] };
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
