//! `cargo xtask tidy`: project rules that the compiler does not check. Each check is a pure function over paths and
//! texts in its own file; this file reads the repository, runs all checks and prints the results.

mod benchmark;
mod code;
mod cycles;
mod dependencies;
mod docs;
mod edges;
mod files;
pub(crate) mod links;
mod manifests;
mod modules;
mod places;
mod readers;
mod shape;

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use spelunk_types::{ErrorCode, Limits};

pub(crate) use self::shape::source_lines;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepoFile {
    /// Relative to the root of the repository, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl RepoFile {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Warning,
    Failure,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) path: String,
    /// From 1; 0 for the file as a whole.
    pub(crate) line: usize,
    pub(crate) weight: Weight,
    pub(crate) message: String,
}

impl Complaint {
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, weight: Weight::Failure, message: message.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.weight {
            Weight::Warning => "warning",
            Weight::Failure => "error",
        };
        match self.line {
            0 => write!(f, "{word}: {}: {}", self.path, self.message),
            line => write!(f, "{word}: {}:{line}: {}", self.path, self.message),
        }
    }
}

pub(crate) fn run() -> Result<(), String> {
    let (n_files, complaints) = check_repository()?;
    for complaint in &complaints {
        say(&complaint.to_string());
    }
    let n_failures = complaints.iter().filter(|complaint| complaint.weight == Weight::Failure).count();
    say(&format!("tidy: {n_files} files, {n_failures} errors, {} warnings", complaints.len() - n_failures));
    if n_failures == 0 { Ok(()) } else { Err("the repository is not tidy".to_owned()) }
}

/// Prints a line. A closed pipe is no reason to stop checking.
pub(crate) fn say(line: &str) {
    drop(writeln!(std::io::stdout().lock(), "{line}"));
}

pub(crate) fn repository() -> Result<(PathBuf, Vec<RepoFile>), String> {
    let metadata = metadata()?;
    let root = metadata["workspace_root"].as_str().ok_or("cargo metadata names no workspace root")?;
    Ok((PathBuf::from(root), files::read_all(Path::new(root))?))
}

fn check_repository() -> Result<(usize, Vec<Complaint>), String> {
    let metadata = metadata()?;
    let (_, files) = repository()?;
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    let mut complaints = edges::check(&metadata);
    // Packages for systems other than Linux are checked by `cargo deny` only.
    let packages = ["--filter-platform", "x86_64-unknown-linux-gnu", "--all-features"];
    complaints.extend(dependencies::check(&files, &cargo_metadata(&packages)?));
    complaints.extend(modules::check(&files));
    complaints.extend(cycles::check(&files));
    complaints.extend(shape::check_total(&files));
    complaints.extend(docs::check_errors(&files, &codes));
    complaints.extend(docs::check_promises(&files));
    complaints.extend(docs::check_coverage(&files));
    complaints.extend(docs::check_named_files(&files));
    complaints.extend(links::check(&files));
    let limits: Vec<&str> = Limits::ALL.iter().map(|limit| limit.name).collect();
    complaints.extend(readers::check_limits(&files, &limits));
    complaints.extend(readers::check_settings(&files));
    for file in &files {
        complaints.extend(check_file(file));
    }
    complaints.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok((files.len(), complaints))
}

fn check_file(file: &RepoFile) -> Vec<Complaint> {
    let mut complaints = docs::check_paths(file);
    complaints.extend(manifests::check(file));
    complaints.extend(benchmark::check(file));
    if file.is_rust() {
        complaints.extend(shape::check_header(file));
        complaints.extend(shape::check_length(file));
        complaints.extend(places::check_serde(file));
        complaints.extend(places::check_type_names(file));
        complaints.extend(places::check_unfinished(file));
    }
    complaints
}

/// The output of `cargo metadata`.
pub(crate) fn metadata() -> Result<Value, String> {
    cargo_metadata(&["--no-deps"])
}

fn cargo_metadata(flags: &[&str]) -> Result<Value, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .args(flags)
        .output()
        .map_err(|error| format!("could not run `cargo metadata`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo metadata` ended badly: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("`cargo metadata` is not JSON: {error}"))
}

#[cfg(test)]
mod tests;
