//! Follows a run of this process: progress, Ctrl-C, and the final output.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use spelunk_app::error_text::exit_code;
use spelunk_app::otel;
use spelunk_app::render::answer::{answer_text, closing_line, remarks, result_json};
use spelunk_app::render::progress::{Progress, loading_status, run_status, task_line};
use spelunk_app::render::turn::turn_text;
use spelunk_app::runs::files_incomplete;
use spelunk_engine::{EventStream, Projector, RunHandle, RunResult, RunView, limit_reached, raising_flag};
use spelunk_journal::{Record, Workspace};
use spelunk_model::models_loading;
use spelunk_types::{ErrorCode, EventKind, RunId};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{App, CliResult, Failure, Usage, print_line, print_text, report_text};

const PARTIAL: u8 = 3;

/// What is printed of a run besides its answer.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputFlags {
    /// Print each event as a line of JSON instead of the answer
    #[arg(long)]
    pub(super) events: bool,
    /// Show the code of each turn and what it printed
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Turns up to this event were shown by an earlier process.
    #[arg(skip)]
    pub(super) shown_seq: u64,
}

pub(crate) async fn finish(app: &App, handle: RunHandle, output: OutputFlags) -> CliResult {
    let (result, view) = follow(app, handle, output).await?;
    otel::export(app, &result.run).await;
    show_result(app, &result, &view, output)
}

pub(crate) async fn follow(
    app: &App,
    mut handle: RunHandle,
    output: OutputFlags,
) -> Result<(RunResult, RunView), Failure> {
    let projector = app.own_workspace()?.and_then(|workspace| Projector::start(&workspace, &handle.run));
    let (cancel, run) = (handle.cancel.clone(), handle.run.clone());
    let (events, mut interrupts) = (&mut handle.events, Interrupts::new());
    let shown = show_events(app, (events, &run), output, &mut interrupts, &|| cancel.cancel()).await;
    let view = shown?;
    let result = handle.join().await;
    let projected = projector.map_or(Ok(()), Projector::finish);
    // A failed run has its own error, usually the same one.
    if let Err(error) = projected.or_else(|error| if result.error.is_some() { Ok(()) } else { Err(error) }) {
        app.say(&format!("warning: {}", files_incomplete(&result.run, &error)));
    }
    Ok((result, view))
}

/// Shows the events of a run until it ends. `interrupt` is called at the first Ctrl-C.
pub(crate) async fn show_events(
    app: &App,
    (events, run): (&mut EventStream, &RunId),
    output: OutputFlags,
    interrupts: &mut Interrupts,
    interrupt: &dyn Fn(),
) -> Result<RunView, Failure> {
    let mut progress = Progress::new(app.quiet);
    let workspace = app.own_workspace()?;
    let blobs = workspace.filter(|_| output.verbose).map(|workspace| workspace.blobs_of(run));
    let mut view = RunView::default();
    let began = Instant::now();
    let mut streamed_bytes = 0;
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    loop {
        let record = tokio::select! {
            biased;
            record = events.next() => record,
            _ = ticks.tick() => {
                progress.draw(|| {
                    loading_status(&models_loading())
                        .unwrap_or_else(|| run_status(&view, streamed_bytes, began.elapsed()))
                });
                continue;
            }
            () = interrupts.next() => {
                interrupt();
                continue;
            }
        };
        let Some(record) = record else { break };
        let Record::Known(event) = record? else { continue };
        if output.events {
            print_line(serde_json::to_string(&event).unwrap_or_default());
        }
        if let EventKind::CallStreamed { text, .. } = &event.kind {
            streamed_bytes += text.len() as u64;
        } else if matches!(event.kind, EventKind::CallStarted { .. } | EventKind::CallRetried { .. }) {
            streamed_bytes = 0;
        }
        let is_new = event.seq > output.shown_seq;
        let turn = blobs.as_ref().filter(|_| is_new).and_then(|blobs| turn_text(&event, blobs));
        for line in task_line(&event.kind).filter(|_| !output.events).into_iter().chain(turn) {
            progress.clear();
            app.say(&line);
        }
        view.apply(&event);
        progress.draw(|| run_status(&view, streamed_bytes, began.elapsed()));
    }
    Ok(view)
}

/// Ctrl-C and termination signals. The first stops the run cleanly; the second ends the program at once, which is safe
/// too.
pub(crate) struct Interrupts {
    n_seen: u32,
    /// Always listening, so that no signal is lost while nobody waits.
    #[cfg(unix)]
    signals: [Option<Signal>; 2],
}

impl Interrupts {
    pub(crate) fn new() -> Self {
        Self {
            n_seen: 0,
            #[cfg(unix)]
            signals: [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok()),
        }
    }

    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, terminate] = &mut self.signals;
            tokio::select! {
                () = received(interrupt) => {}
                () = received(terminate) => {}
            }
        }
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await);
        self.n_seen += 1;
        if self.n_seen > 1 {
            // The user asked twice; the journal is consistent at any time.
            std::process::exit(130);
        }
    }
}

#[cfg(unix)]
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

pub(crate) fn show_result(app: &App, result: &RunResult, view: &RunView, output: OutputFlags) -> CliResult {
    if app.json && !output.events {
        let blobs = app.workspace()?.blobs();
        print_line(result_json(result, view, &blobs));
    } else if let Some(answer) = result.answer.as_ref().filter(|_| !output.events) {
        print_text(&answer_text(&answer.text, &answer.citations, app.paint));
    }
    for remark in remarks(view) {
        app.say(&remark);
    }
    app.say(&closing_line(view, &result.run));
    let short = result.run.short();
    Ok(match (result.stopped_by(), &result.error) {
        (None, _) => ExitCode::SUCCESS,
        (Some(ErrorCode::Cancelled), _) => {
            app.say(&format!("Cancelled. Continue: spelunk resume {short}"));
            ExitCode::from(exit_code(ErrorCode::Cancelled))
        }
        (Some(code), Some(error)) => {
            let is_there = |workspace: Workspace| workspace.has(&result.run);
            let is_there = app.existing_workspace()?.is_some_and(is_there);
            if is_there && !raised(view).is_empty() {
                let hint = format!("continue: `spelunk resume {short}{}`", raised(view));
                report_text(&Usage::new(error.to_string(), hint), app.paint_errors);
                return Ok(ExitCode::from(exit_code(code)));
            }
            report_text(error, app.paint_errors);
            // A run cannot continue with another model.
            if is_there && !app.json && code != ErrorCode::ModelNotFound {
                app.say(&format!("Continue: spelunk resume {short}"));
            }
            ExitCode::from(exit_code(code))
        }
        (Some(code), None) => {
            match view.limits_reached.last() {
                Some(reached) => {
                    let limit = capitalised(&limit_reached(&reached.limit, reached.value));
                    app.say(&format!(
                        "Partial answer. {limit}. Continue: spelunk resume {short}{}",
                        raised(view)
                    ));
                }
                None => {
                    app.say(&format!("Partial answer. {}", code.meaning()));
                    app.say(&format!("hint: {}", code.hint().unwrap_or("ask again")));
                }
            }
            ExitCode::from(PARTIAL)
        }
    })
}

/// A space and the flag that raises the limit that stopped the run; empty if no limit did.
fn raised(view: &RunView) -> String {
    let reached = view.limits_reached.last();
    reached.map(|reached| format!(" {}", raising_flag(&reached.limit, reached.value))).unwrap_or_default()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}
