//! `spelunk repl`: the sandbox of the recursive loop, for people, with the same functions and
//! limits. Model calls are recorded in a run of their own.

mod line;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_app::asking::{RoleModels, keep};
use spelunk_app::provider::{self, Nobody};
use spelunk_engine::{ConsoleCell, RunRequest, console};
use spelunk_types::Strategy;
use tokio::sync::{mpsc, oneshot};

use self::line::Editor;
use super::scan::scan;
use super::{App, CliResult, ModelFlags, ScanFlags, inputs, print};

/// In effect no limit on the cells of a user.
const CELLS_MAX: u64 = 1_000_000;

#[derive(Debug, Args)]
pub(crate) struct ReplArgs {
    /// Files or directories to explore, or `-` for standard input [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// The sandbox for the code: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<String>,
    #[command(flatten)]
    scan: ScanFlags,
}

pub(crate) async fn repl(app: &App, args: ReplArgs) -> CliResult {
    let chosen = provider::choose(&app.settings, &app.environment).await?;
    let models = chosen.map_or_else(|| RoleModels::one(Arc::new(Nobody::default())), RoleModels::from);
    let inputs = inputs(app, &args.paths)?;
    let options = args.scan.options(&app.settings.limits)?;
    let corpus = scan(app, &inputs, &options)?;
    let engine = app.engine(options)?.with_sandbox(app.sandbox(args.sandbox.as_deref())?);
    let sources = keep(&engine, inputs)?;
    let (cells, typed) = mpsc::unbounded_channel();
    let (ready, described) = oneshot::channel();
    let mut settings = app.run_settings();
    settings.limits.cells_max = CELLS_MAX;
    let request = models.start("an interactive session", corpus, sources, Strategy::Program, settings);
    let handle = engine.start(RunRequest { program: Some(console(typed, ready)), ..request })?;
    if let Ok(description) = described.await {
        app.say(&description);
        app.say("Ctrl-D ends the session.");
    }
    let editor = Editor::new(app.own_workspace_dir()?);
    let typing = tokio::task::spawn_blocking(move || converse(editor, &cells));
    let result = handle.join().await;
    // If a limit ended the session, the editor thread still waits for a line that is no longer needed.
    drop(typing);
    match result.error {
        Some(error) => Err(error.into()),
        None => {
            app.say(&format!("run {}", result.run.short()));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Reads cells and prints their output until the user or the run ends the session.
fn converse(mut editor: Editor, cells: &mpsc::UnboundedSender<ConsoleCell>) {
    while let Some(code) = editor.read_cell() {
        if code.trim().is_empty() {
            continue;
        }
        let (said, hear) = oneshot::channel();
        if cells.send(ConsoleCell { code, said }).is_err() {
            return;
        }
        match hear.blocking_recv() {
            Ok(text) if text.is_empty() => {}
            Ok(text) => print(&format!("{text}\n")),
            Err(_) => return,
        }
    }
}
