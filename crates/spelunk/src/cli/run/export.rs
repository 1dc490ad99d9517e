//! `spelunk run export`: a report of a run, the run itself as an interactive page, or its files for other tools.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use spelunk_app::reports::{Format, render_page, render_report};
use spelunk_app::runs::find_run;
use spelunk_app::units::{bytes, count};
use spelunk_engine::Projection;
use spelunk_journal::{DerivedFiles, JournalError, Workspace};
use spelunk_types::RunId;

use crate::cli::report::{put, writable};
use crate::cli::{App, CliResult, Failure, Usage, print, print_data, print_line};

const WORKSPACE: &str = "workspace";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run: its id or a unique prefix [default: the newest]
    run: Option<String>,
    /// The format: md, html, sarif, json, or workspace for its files [default: the extension of --output, or md]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Write to this path instead of standard output; for `workspace`, a directory
    #[arg(long, short, value_name = "PATH")]
    output: Option<String>,
    /// Write the whole run as one self-contained page: tree, timeline, code, prompts and findings
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "output"])]
    html: Option<String>,
}

pub(crate) fn export(app: &App, args: &ExportArgs) -> CliResult {
    if let Some(typed) = &args.html {
        return write_page(app, args.run.as_deref(), typed);
    }
    let output = args.output.as_deref();
    if args.format.as_deref() == Some(WORKSPACE) {
        let (workspace, run) = find_run(app, args.run.as_deref())?;
        return write_files(app, &workspace, &run, output);
    }
    let format = format(app, args.format.as_deref(), output)?;
    let path = output.map(|typed| writable(app, typed)).transpose()?;
    let (workspace, run) = find_run(app, args.run.as_deref())?;
    let text = render_report(app, &workspace, &run, format)?;
    let (Some(path), Some(typed)) = (path, output) else {
        print(&text);
        return Ok(ExitCode::SUCCESS);
    };
    put(&path, typed, &text)?;
    if app.json {
        print_line(json!({ "run": run, "path": typed, "bytes": text.len() }));
    }
    app.say(&format!("report: {typed} ({})", bytes(text.len() as u64)));
    Ok(ExitCode::SUCCESS)
}

fn write_page(app: &App, run: Option<&str>, typed: &str) -> CliResult {
    let path = writable(app, typed)?;
    let (workspace, run) = find_run(app, run)?;
    let (text, n_left_out) = render_page(app, &workspace, &run)?;
    put(&path, typed, &text)?;
    if app.json {
        let said = json!({ "run": run, "path": typed, "bytes": text.len(), "texts_left_out": n_left_out });
        print_line(said);
    }
    app.say(&format!("page: {typed} ({})", bytes(text.len() as u64)));
    if n_left_out > 0 {
        app.say(&format!("{} left out to keep it small", count(n_left_out, "long text")));
    }
    Ok(ExitCode::SUCCESS)
}

fn format(app: &App, word: Option<&str>, output: Option<&str>) -> Result<Format, Failure> {
    match (word, output.map(|name| (name, Format::of_path(name)))) {
        (Some(word), _) => Ok(Format::of(word).ok_or_else(|| Usage {
            message: format!("there is no format `{word}`"),
            hint: format!("choose one of {}, {WORKSPACE}", Format::WORDS.join(", ")),
        })?),
        (None, Some((_, Some(format)))) => Ok(format),
        (None, Some((name, None))) => Err(Usage::new(
            format!("the file name `{name}` does not determine a report format"),
            "choose one with `--format`, or use the extension .md, .html, .sarif or .json",
        )
        .into()),
        (None, None) if app.json => Ok(Format::Json),
        (None, None) => Ok(Format::Markdown),
    }
}

/// Rewrites the files of the run, next to its journal or elsewhere.
fn write_files(app: &App, workspace: &Workspace, run: &RunId, output: Option<&str>) -> CliResult {
    let files = match output {
        Some(directory) => DerivedFiles::within(app.current_dir.join(directory)),
        None => DerivedFiles::of_run(&app.workspace()?, run)
            .ok_or_else(|| JournalError::NotFound { name: run.to_string() })?,
    };
    let root = files.root().display().to_string();
    Projection::rebuild(workspace, run, files)?;
    print_data(app, &json!({ "run": run, "path": root }), &format!("{root}\n"));
    Ok(ExitCode::SUCCESS)
}
