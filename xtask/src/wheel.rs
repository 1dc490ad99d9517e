//! `cargo xtask wheel`: the Python package as a wheel with the program in it, in `target/wheels`, stripped and
//! compressed. Needs `strip` and `maturin`, which may be named by its path.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::tidy::{metadata, say};

/// Builds the program and the module, optimised without `--dev`.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let (flags, named): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|word| *word == "--dev");
    match build(!flags.is_empty(), named.first().copied().unwrap_or("maturin")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            say(&format!("error: {reason}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "chores write outputs of the build")]
fn build(is_dev: bool, maturin: &str) -> Result<(), String> {
    let (profile, folder) = if is_dev { ("dev", "debug") } else { ("release", "release") };
    let metadata = metadata()?;
    let place =
        |name: &str| metadata[name].as_str().map(PathBuf::from).ok_or(format!("cargo knows no {name}"));
    let (root, target) = (place("workspace_root")?, place("target_directory")?);
    let package = root.join("crates/spelunk-python");
    // The installer puts what is here beside the interpreter: the program itself, and no script that starts it.
    let scripts = package.join("spelunk.data/scripts");
    std::fs::create_dir_all(&scripts)
        .map_err(|error| format!("could not create `{}`: {error}", scripts.display()))?;
    let program = ["build", "-p", "spelunk", "--ignore-rust-version", "--profile", profile];
    call(Command::new("cargo").args(program).current_dir(&root))?;
    let built = target.join(folder).join("spelunk");
    call(Command::new("strip").arg("-o").arg(scripts.join("spelunk")).arg(built))?;
    let module =
        ["build", "--strip", "--ignore-rust-version", "--interpreter", "python3", "--profile", profile];
    let wheels = target.join("wheels");
    call(Command::new(maturin).args(module).arg("--out").arg(&wheels).current_dir(&package))?;
    let entries = std::fs::read_dir(&wheels)
        .map_err(|error| format!("could not read `{}`: {error}", wheels.display()))?;
    for wheel in entries.flatten() {
        let n_bytes = wheel.metadata().map_or(0, |metadata| metadata.len());
        say(&format!("{}: {} kB", wheel.path().display(), n_bytes / 1000));
    }
    Ok(())
}

fn call(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{name}` ended badly: {status}")),
        Err(error) => Err(format!("could not run `{name}`: {error}")),
    }
}
