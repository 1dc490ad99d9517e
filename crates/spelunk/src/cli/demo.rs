//! `spelunk demo`: the recursive loop without a key. The documents are bundled, and the model is scripted and says so; the
//! engine, the journal, the sandbox, the citation checks, the crash and the resume are real.

mod script;

use std::sync::Arc;

use script::ScriptedModel;
use spelunk_app::asking::RoleModels;
use spelunk_app::render::tree::tree;
use spelunk_app::render::turn::turn_text;
use spelunk_context::ScanOptions;
use spelunk_engine::{CallState, Engine, ResumeRequest, RunHandle, RunView};
use spelunk_journal::Record;
use spelunk_types::{ModelRef, RunId, SourceSpec, Strategy};

use super::watch::{self};
use super::{App, CliResult, Failure, OutputFlags};

const QUESTION: &str = "Why did checkout fail on 3 March, and what would have prevented it?";
const DOCUMENTS: [(&str, &str); 3] = [
    ("gateway.log", include_str!("../../demo/gateway.log")),
    ("deploys.csv", include_str!("../../demo/deploys.csv")),
    ("runbook.md", include_str!("../../demo/runbook.md")),
];
/// The replies before the simulated crash, which cuts off the next one: the second of the child.
const REPLIES_BEFORE_CRASH: u64 = 3;

pub(crate) async fn demo(app: &App) -> CliResult {
    app.say("This is a demonstration: the model is scripted, and nothing is sent over the network. Everything else is real: the engine, the sandbox, the journal, the checked citations, the crash and the resume.\n");
    let engine = app.engine(ScanOptions::default())?.with_sandbox(app.sandbox(None)?);
    let mut sources = Vec::new();
    for (name, text) in DOCUMENTS {
        sources.push(engine.keep_text(name, text.as_bytes())?);
    }
    let (run, shown_seq) = run_until_crash(app, &engine, sources).await?;
    let short = run.short();
    app.say(&format!("\nResuming, as `spelunk resume {short}` would:\n"));
    let handle = engine.resume(&run, resume_request(app), &mut |_| {})?;
    let output = OutputFlags { verbose: true, shown_seq, ..OutputFlags::default() };
    let (result, view) = watch::follow(app, handle, output).await?;
    let n_new = view.n_settled_calls().saturating_sub(REPLIES_BEFORE_CRASH);
    app.say(&format!(
        "\n{REPLIES_BEFORE_CRASH} replies came from the journal; {n_new} new calls were made.\n"
    ));
    app.say(&tree(&view));
    let code = watch::show_result(app, &result, &view, OutputFlags::default())?;
    app.say("\nTry next:");
    app.say(&format!("  spelunk show {short}                    the run again: its tree, costs and answer"));
    app.say("  spelunk serve                            runs in your browser");
    app.say("  spelunk ask \"what is this about?\" PATH   your own text");
    Ok(code)
}

pub(crate) fn is_demo(model: &ModelRef) -> bool {
    model.provider == script::PROVIDER
}

pub(crate) fn resume_request(app: &App) -> ResumeRequest {
    let mut settings = app.run_settings();
    // The demo is about the calls, so a second demo must not reuse the first one's replies.
    settings.cache_replies = false;
    RoleModels::one(Arc::new(ScriptedModel::new())).request(settings)
}

/// Returns the run and the last event that was shown.
async fn run_until_crash(
    app: &App,
    engine: &Engine,
    sources: Vec<SourceSpec>,
) -> Result<(RunId, u64), Failure> {
    let corpus = engine.open_corpus(&sources, &mut |_| {})?;
    let ResumeRequest { model, settings, .. } = resume_request(app);
    app.say(&format!("Question: {QUESTION}\n"));
    let request = RoleModels::one(model).start(QUESTION, corpus, sources, Strategy::Repl, settings);
    let handle = engine.start(request)?;
    let run = handle.run.clone();
    let (handle, view) = until_crash(app, engine, handle).await?;
    handle.abandon().await;
    app.say("\nCrash! The run was cut off in the middle of a reply. Its journal contains:\n");
    app.say(tree(&view).trim_end());
    Ok((run, view.seq_last))
}

async fn until_crash(
    app: &App,
    engine: &Engine,
    mut handle: RunHandle,
) -> Result<(RunHandle, RunView), Failure> {
    let blobs = engine.workspace().blobs_of(&handle.run);
    let mut view = RunView::default();
    let is_due = |view: &RunView| {
        let is_open = view.calls.values().any(|call| call.state == CallState::Open);
        view.n_settled_calls() == REPLIES_BEFORE_CRASH && is_open
    };
    while !is_due(&view)
        && let Some(record) = handle.events.next().await
    {
        if let Record::Known(event) = record? {
            view.apply(&event);
            if let Some(turn) = turn_text(&event, &blobs) {
                app.say(&turn);
            }
        }
    }
    Ok((handle, view))
}
