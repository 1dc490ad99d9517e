//! `cargo xtask wheel`: builds the Python package as a stripped wheel that includes the program, in
//! `target/wheels`. Needs `maturin` (the argument is its path) and, on Linux, `cc` and `nm`: there
//! the program is a small launcher that runs the engine of the module.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tidy::{metadata, say};

/// Builds the program and the module. `--dev` skips optimisation. `--musl` builds for musl instead
/// of glibc and needs the package `ziglang` beside `maturin`. `--embedded` adds the runner of local
/// models and needs cmake, a C++ compiler and libclang.
#[expect(clippy::disallowed_methods, reason = "chores write outputs of the build")]
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let (flags, named): (Vec<&str>, Vec<&str>) =
        arguments.iter().copied().partition(|word: &&str| word.starts_with("--"));
    let maturin = named.first().copied().unwrap_or("maturin");
    if let Some(unknown) = flags.iter().find(|flag| !["--dev", "--musl", "--embedded"].contains(flag)) {
        return Err(format!("there is no flag `{unknown}`"));
    }
    let (profile, folder) = if flags.contains(&"--dev") { ("dev", "debug") } else { ("release", "release") };
    let metadata = metadata()?;
    let place =
        |name: &str| metadata[name].as_str().map(PathBuf::from).ok_or(format!("cargo knows no {name}"));
    let (root, target) = (place("workspace_root")?, place("target_directory")?);
    let package = root.join("crates/spelunk-python");
    let zig = Path::new(maturin).with_file_name("python-zig");
    let musl = flags.contains(&"--musl").then(|| format!("{}-unknown-linux-musl", std::env::consts::ARCH));
    let module = |out: &Path| {
        let mut command = Command::new(maturin);
        command.args(["build", "--strip", "--ignore-rust-version", "--interpreter", "python3"]);
        command.args(["--profile", profile, "--out"]).arg(out);
        if flags.contains(&"--embedded") {
            command.args(["--features", "module,spelunk/embedded"]);
        }
        if let Some(musl) = &musl {
            command.args(["--zig", "--target", musl]).env("CARGO_ZIGBUILD_ZIG_PATH", &zig);
        }
        call(command.current_dir(&package))
    };
    let bin = package.join("python/spelunk/bin");
    std::fs::create_dir_all(&bin)
        .map_err(|error| format!("could not create `{}`: {error}", bin.display()))?;
    if cfg!(target_os = "linux") {
        let scratch = target.join("tmp/launcher");
        module(&scratch)?;
        let mut compiler = Command::new("cc");
        if musl.is_some() {
            compiler = Command::new(&zig);
            compiler.args(["cc", "-dynamic", "-target", &format!("{}-linux-musl", std::env::consts::ARCH)]);
        }
        let module = target.join(musl.as_deref().unwrap_or_default()).join(folder).join("lib_native.so");
        launcher(&mut compiler, &package, &module, &scratch, &bin.join("spelunk"))?;
    } else {
        let program = ["build", "-p", "spelunk", "--ignore-rust-version", "--profile", profile];
        call(Command::new("cargo").args(program).current_dir(&root))?;
        let name = if cfg!(windows) { "spelunk.exe" } else { "spelunk" };
        let built = target.join(folder).join(name);
        std::fs::copy(&built, bin.join(name))
            .map_err(|error| format!("could not copy `{}`: {error}", built.display()))?;
    }
    let wheels = target.join("wheels");
    module(&wheels)?;
    let entries = std::fs::read_dir(&wheels)
        .map_err(|error| format!("could not read `{}`: {error}", wheels.display()))?;
    for wheel in entries.flatten() {
        let n_bytes = wheel.metadata().map_or(0, |metadata| metadata.len());
        say(&format!("{}: {} kB", wheel.path().display(), n_bytes / 1000));
    }
    Ok(())
}

/// Compiles the launcher, with definitions of every Python symbol that the module imports.
#[expect(clippy::disallowed_methods, reason = "chores write outputs of the build")]
fn launcher(
    compiler: &mut Command,
    package: &Path,
    module: &Path,
    scratch: &Path,
    program: &Path,
) -> Result<(), String> {
    let listed = Command::new("nm").args(["-D", "--undefined-only"]).arg(module).output();
    let listed = listed.map_err(|error| format!("could not run `nm`: {error}"))?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = names.lines().filter_map(|line| line.split_whitespace().last());
    let symbols: Vec<String> = names
        .filter(|name| name.starts_with("Py") || name.starts_with("_Py"))
        .map(|name| format!("char {name}[1];\n"))
        .collect();
    if symbols.is_empty() {
        return Err(format!("`{}` is no module of Python", module.display()));
    }
    let header = scratch.join("symbols.h");
    std::fs::write(&header, symbols.concat())
        .map_err(|error| format!("could not write `{}`: {error}", header.display()))?;
    compiler.args(["-O2", "-Wall", "-Wextra", "-s", "-rdynamic", "-I"]).arg(scratch);
    call(compiler.arg(package.join("launcher.c")).arg("-o").arg(program).arg("-ldl"))
}

/// Runs a command; its name is in the error.
pub(crate) fn call(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{name}` ended badly: {status}")),
        Err(error) => Err(format!("could not run `{name}`: {error}")),
    }
}
