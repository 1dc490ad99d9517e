//! The output of a command: stdout is data, stderr is conversation.

use std::fmt::Display;
use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use spelunk_app::config::{self, ColorChoice, FlagValue, model_values, nearest};
use spelunk_app::env::{self, Environment};
use spelunk_app::error_text::{Paint, error_json, error_text, exit_code};
use spelunk_app::sandbox::WorkerPlace;
use spelunk_app::terminal::{fitted, stderr_width, stdout_width};
use spelunk_app::units::escaped;
use spelunk_journal::JournalError;
use spelunk_types::Explain;

use super::{App, CliResult, Common, Failure, LimitFlags, ModelFlags, Usage};

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
    flags.extend(common.fleet.map(|url| FlagValue::new("--fleet", "fleet.url", url)));
    flags.extend(common.fleet_creds.map(|file| FlagValue::new("--fleet-creds", "fleet.creds_file", file)));
    if let Some(model) = model {
        flags.extend(model_values(model.model, model.sub_model, model.base_url)?);
    }
    flags.extend(limits.values()?);
    let settings = config::load(&environment, &current_dir, &flags)?;
    let no_color = environment.text(env::NO_COLOR).is_some();
    let paint = |is_terminal: bool| match settings.color {
        ColorChoice::Always => Paint::Colored,
        ColorChoice::Auto if is_terminal && !no_color => Paint::Colored,
        ColorChoice::Auto | ColorChoice::Never => Paint::Plain,
    };
    let (paint, paint_errors) = (paint(io::stdout().is_terminal()), paint(io::stderr().is_terminal()));
    let mut app = App::quiet(settings, environment, current_dir, WorkerPlace::Own);
    (app.json, app.quiet) = (common.json, common.quiet);
    (app.paint, app.paint_errors) = (paint, paint_errors);
    app.catalogue_problem.iter().for_each(|problem| app.say(&format!("warning: {problem}")));
    app.settings.notices().iter().for_each(|notice| app.say(&format!("warning: {notice}")));
    Ok(app)
}

pub(crate) fn report(failure: &Failure, json: bool, paint: Paint) -> ExitCode {
    let error = failure.0.as_ref();
    if json {
        print_line(json!({ "error": error_json(error) }));
    }
    report_text(error, paint);
    ExitCode::from(exit_code(error.code()))
}

pub(crate) fn report_text(error: &dyn Explain, paint: Paint) {
    let text = error_text(error, paint);
    drop(write!(io::stderr().lock(), "{}", fitted(&escaped(&text), stderr_width())));
}

/// The error for a word that is not one of those allowed.
pub(crate) fn no_such(what: &str, word: &str, words: &[&str]) -> Usage {
    let meant = nearest(word, words.iter().copied()).map(|meant| format!("did you mean `{meant}`? "));
    Usage::new(
        format!("there is no {what} `{word}`"),
        format!("{}choose one of {}", meant.unwrap_or_default(), words.join(", ")),
    )
}

pub(crate) fn print_line(data: impl Display) {
    print(&format!("{data}\n"));
}

/// Prints the result of a command: one JSON value for programs, text for people.
pub(crate) fn print_result(app: &App, value: &Value, text: &str) {
    if app.json { print_line(value) } else { print_text(text) }
}

/// The same for text that keeps its lines.
pub(crate) fn print_data(app: &App, value: &Value, text: &str) {
    if app.json { print_line(value) } else { print(text) }
}

/// Writes text for people to stdout, wrapped at words on a terminal.
pub(crate) fn print_text(text: &str) {
    print(&fitted(text, stdout_width()));
}

pub(crate) fn print(text: &str) {
    write_out(escaped(text).as_bytes());
}

/// Writes a text unchanged to a file or a pipe; on a terminal, it is escaped.
pub(crate) fn print_as_is(text: &str) {
    if io::stdout().is_terminal() { print(text) } else { write_out(text.as_bytes()) }
}

fn write_out(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    note_written(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Whether something could not be written to stdout: then the command has failed, whatever else it did.
static HAS_LOST_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Reports the first failed write. A closed pipe is not an error: the reader has seen enough.
pub(crate) fn note_written(written: io::Result<()>) {
    let Err(error) = written else { return };
    if error.kind() != io::ErrorKind::BrokenPipe && !HAS_LOST_OUTPUT.swap(true, Ordering::Relaxed) {
        drop(writeln!(io::stderr().lock(), "error: could not write to standard output: {error}"));
    }
}

pub(crate) fn has_lost_output() -> bool {
    HAS_LOST_OUTPUT.load(Ordering::Relaxed)
}

/// `SIGXFSZ`, sent when a file exceeds the operating system's size limit (`ulimit -f`).
#[cfg(unix)]
const FILE_TOO_LARGE: i32 = 25;

/// Makes a write beyond that limit fail with an error instead of silently killing the program.
pub(crate) fn survive_file_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        let _entered = runtime.enter();
        // The handler stays installed after the listener is dropped.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE)));
    }
}

pub(crate) fn block_on(command: impl Future<Output = CliResult>) -> CliResult {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|source| JournalError::Workspace { path: "runtime".into(), source })?;
    let ended = runtime.block_on(command);
    // Do not wait for blocking work: its result is no longer needed.
    runtime.shutdown_background();
    ended
}
