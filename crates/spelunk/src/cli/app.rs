//! The two streams of a command: stdout is data, stderr is conversation.

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use spelunk_app::app::App;
use spelunk_app::config::{self, ColorChoice, FlagValue, model_values};
use spelunk_app::env::{self, Environment};
use spelunk_app::error_text::{Paint, error_json, error_text, exit_code};
use spelunk_app::failure::Failure;
use spelunk_app::sandbox::WorkerPlace;
use spelunk_app::units::escaped;
use spelunk_journal::JournalError;
use spelunk_types::Explain;

use super::limits::LimitFlags;
use super::{Common, ModelFlags};

/// The app that the flags of a command ask for.
pub(crate) fn open_app(
    common: Common,
    (model, limits): (Option<ModelFlags>, LimitFlags),
) -> Result<App, Failure> {
    let environment = Environment::capture();
    let current_dir =
        std::env::current_dir().map_err(|source| JournalError::Workspace { path: ".".into(), source })?;
    let mut flags = Vec::new();
    for argument in &common.set {
        flags.push(FlagValue::set(argument)?);
    }
    flags.extend(common.workspace.map(|path| FlagValue::new("--workspace", "workspace.path", path)));
    if let Some(model) = model {
        flags.extend(model_values(model.model, model.sub_model, model.base_url)?);
    }
    flags.extend(limits.values()?);
    let settings = config::load(&environment, &current_dir, &flags)?;
    let no_color = environment.text(env::NO_COLOR.name).is_some();
    let paint = |is_terminal: bool| match settings.color {
        ColorChoice::Always => Paint::Colored,
        ColorChoice::Auto if is_terminal && !no_color => Paint::Colored,
        ColorChoice::Auto | ColorChoice::Never => Paint::Plain,
    };
    let (paint, paint_errors) = (paint(io::stdout().is_terminal()), paint(io::stderr().is_terminal()));
    let mut app = App::quiet(settings, environment, current_dir, WorkerPlace::Own);
    (app.json, app.quiet) = (common.json, common.quiet);
    (app.paint, app.paint_errors) = (paint, paint_errors);
    app.settings.notices().iter().for_each(|notice| app.say(&format!("warning: {notice}")));
    Ok(app)
}

/// Shows an error and gives its exit code.
pub(crate) fn report(app: &App, failure: &Failure) -> ExitCode {
    let error = failure.0.as_ref();
    if app.json {
        print(&format!("{}\n", serde_json::json!({ "error": error_json(error) })));
    }
    report_text(app, error);
    ExitCode::from(exit_code(error.code()))
}

/// Shows an error to a person.
pub(crate) fn report_text(app: &App, error: &dyn Explain) {
    drop(write!(io::stderr().lock(), "{}", escaped(&error_text(error, app.paint_errors))));
}

/// Writes data. A reader that has gone away is not an error: it has seen enough.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    drop(out.write_all(escaped(text).as_bytes()).and_then(|()| out.flush()));
}

/// Writes a text as it is into a file or a pipe; a terminal is shown what is safe to show.
pub(crate) fn print_as_is(text: &str) {
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        drop(out);
        return print(text);
    }
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// The signal of a file that grew beyond the limit of the operating system (`ulimit -f`).
#[cfg(unix)]
const FILE_TOO_LARGE: i32 = 25;

/// Has a write that goes beyond that limit fail, and say so, where it would end the program without a word.
pub(crate) fn survive_file_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        let _entered = runtime.enter();
        // Once caught, it stays caught; nobody listens to it.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE)));
    }
}

/// Runs a command that waits for the network.
pub(crate) fn block_on(
    command: impl Future<Output = Result<ExitCode, Failure>>,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|source| JournalError::Workspace { path: "runtime".into(), source })?;
    let ended = runtime.block_on(command);
    // Blocking work that is still going on has no one left to report to.
    runtime.shutdown_background();
    ended
}

/// For errors before there are settings.
pub(crate) fn report_plain(failure: &Failure, json: bool) -> ExitCode {
    let error = failure.0.as_ref();
    if json {
        print(&format!("{}\n", serde_json::json!({ "error": error_json(error) })));
    }
    drop(write!(io::stderr().lock(), "{}", escaped(&error_text(error, Paint::Plain))));
    ExitCode::from(exit_code(error.code()))
}
