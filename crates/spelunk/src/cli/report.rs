//! Report files of runs: the file name determines the format.

use std::path::{Path, PathBuf};

use spelunk_app::render::report::Excerpts;
use spelunk_app::reports::{Format, excerpts, needs_sources, report_text};
use spelunk_app::units::bytes;
use spelunk_engine::RunReport;
use spelunk_journal::Workspace;
use spelunk_types::RunId;

use super::{App, Failure, Usage};

pub(crate) struct Target {
    typed: String,
    path: PathBuf,
    format: Format,
}

/// Validates the names before anything is spent: each must imply a format and be in an existing directory.
pub(crate) fn targets(app: &App, names: &[String]) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::new();
    for typed in names {
        let format = Format::of_path(typed).ok_or_else(|| Usage {
            message: format!("the file name `{typed}` does not determine a report format"),
            hint: "use the extension .md, .html, .sarif or .json".into(),
        })?;
        targets.push(Target { typed: typed.clone(), path: writable(app, typed)?, format });
    }
    Ok(targets)
}

/// The path of a file that can be created.
pub(crate) fn writable(app: &App, typed: &str) -> Result<PathBuf, Failure> {
    let path = app.current_dir.join(typed);
    let has_home = path.parent().is_some_and(Path::is_dir);
    if has_home && !path.is_dir() {
        return Ok(path);
    }
    let message = if has_home {
        format!("`{typed}` is a directory")
    } else {
        format!("the directory of `{typed}` does not exist")
    };
    Err(Usage::new(message, "choose a file in an existing directory").into())
}

pub(crate) fn write(
    app: &App,
    workspace: &Workspace,
    run: &RunId,
    targets: &[Target],
) -> Result<(), Failure> {
    if targets.is_empty() {
        return Ok(());
    }
    let report = RunReport::read(workspace, run)?;
    let needs_sources = targets.iter().any(|target| needs_sources(target.format));
    let excerpts = if needs_sources { excerpts(app, &report) } else { Excerpts::default() };
    for target in targets {
        let text = report_text(app, &report, &excerpts, target.format);
        put(&target.path, &target.typed, &text)?;
        app.say(&format!("report: {} ({})", target.typed, bytes(text.len() as u64)));
    }
    Ok(())
}

pub(crate) fn put(path: &Path, typed: &str, text: &str) -> Result<(), Failure> {
    #[expect(clippy::disallowed_methods, reason = "the binary writes what the user names")]
    let written = std::fs::write(path, text);
    written.map_err(|error| {
        let message = format!("could not write `{typed}`: {error}");
        Usage::new(message, "the run is kept: export it with `spelunk run export`").into()
    })
}
