//! `spelunk demo`: a whole run without a key. The documents are bundled, and the model is scripted and says so; the
//! engine, the journal, the citation checks, the crash and the resume are real.

mod script;

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::join_all;
use script::ScriptedModel;
use spelunk_app::app::App;
use spelunk_app::asking::RoleModels;
use spelunk_app::failure::Failure;
use spelunk_app::render::tree::tree;
use spelunk_context::ScanOptions;
use spelunk_engine::{
    Answer, Engine, Frame, FrameError, Program, ResumeRequest, RunHandle, RunRequest, RunView, Task,
};
use spelunk_journal::Record;
use spelunk_model::Prompt;
use spelunk_types::{Grounding, ModelRef, RunId, SourceSpec, Strategy};

use super::watch;

const QUESTION: &str = "Why did checkout fail on 3 March, and what would have prevented it?";
const DOCUMENTS: [(&str, &str); 3] = [
    ("gateway.log", include_str!("../../demo/gateway.log")),
    ("deploys.csv", include_str!("../../demo/deploys.csv")),
    ("runbook.md", include_str!("../../demo/runbook.md")),
];
/// The number of replies before the simulated crash.
const REPLIES_BEFORE_CRASH: u64 = 2;
const SYNTHESIS: &str = "Join the findings into one answer to the question. Say only what the findings say.";

pub(crate) async fn demo(app: &App) -> Result<ExitCode, Failure> {
    app.say("A demonstration. The model is scripted: its replies are shipped with the program, nothing is sent anywhere.");
    app.say("Everything else is real: the engine, its journal, the checked citations, the crash and the resume.\n");
    let engine = app.engine(ScanOptions::default())?;
    let mut sources = Vec::new();
    for (name, text) in DOCUMENTS {
        sources.push(engine.keep_text(name, text.as_bytes())?);
    }
    let run = run_until_crash(app, &engine, sources).await?;
    app.say(&format!("\nresuming, as `spelunk resume {}` would:", run.short()));
    let handle = engine.resume(&run, resume_request(app), &mut |_| {})?;
    let (result, view) = watch::follow(app, handle, false).await?;
    let n_new = view.n_settled_calls().saturating_sub(REPLIES_BEFORE_CRASH);
    app.say(&format!(
        "{REPLIES_BEFORE_CRASH} replies came from the journal, only {n_new} calls were made now\n"
    ));
    app.say(&tree(&view));
    let code = watch::show_result(app, &result, &view, false)?;
    app.say(&format!(
        "\nlook at it again:  spelunk show {short}   spelunk tail {short}",
        short = run.short()
    ));
    app.say("ask about your own text:  spelunk ask \"what is this about?\" PATH");
    Ok(code)
}

/// Whether this is the model of a demo run.
pub(crate) fn is_demo(model: &ModelRef) -> bool {
    model.provider == script::PROVIDER
}

/// The request to resume a demo run.
pub(crate) fn resume_request(app: &App) -> ResumeRequest {
    let mut settings = app.run_settings();
    // The point is to see calls, so a second demo must not find the first one's replies.
    settings.cache_replies = false;
    let request = RoleModels::one(Arc::new(ScriptedModel::new())).request(settings);
    ResumeRequest { program: Some(survey()), ..request }
}

async fn run_until_crash(app: &App, engine: &Engine, sources: Vec<SourceSpec>) -> Result<RunId, Failure> {
    let corpus = engine.open_corpus(&sources, &mut |_| {})?;
    let ResumeRequest { model, settings, program, .. } = resume_request(app);
    app.say(&format!("question: {QUESTION}"));
    let request = RoleModels::one(model).start(QUESTION, corpus, sources, Strategy::Program, settings);
    let handle = engine.start(RunRequest { program, ..request })?;
    let run = handle.run.clone();
    app.say(&format!("run {} over {} documents, a child frame for each", run.short(), DOCUMENTS.len()));
    let (handle, view) = until_replies(handle, REPLIES_BEFORE_CRASH).await?;
    handle.abandon().await;
    app.say(&format!(
        "\ncrash! The run was cut off after {REPLIES_BEFORE_CRASH} replies. What its journal holds:\n"
    ));
    app.say(&tree(&view));
    Ok(run)
}

async fn until_replies(mut handle: RunHandle, n: u64) -> Result<(RunHandle, RunView), Failure> {
    let mut view = RunView::default();
    while view.n_settled_calls() < n
        && let Some(record) = handle.events.next().await
    {
        if let Record::Known(event) = record? {
            view.apply(&event);
        }
    }
    Ok((handle, view))
}

/// One child per document, then a call that combines what they found. A strategy in twenty lines.
fn survey() -> Program {
    Arc::new(|frame: Frame, task: Task| {
        Box::pin(async move {
            let children = task.view.documents().map(|document| {
                let name = document.name.clone();
                let view = task.view.narrow(|other| other.name == name);
                frame.descend(Task::new(task.question.clone(), view, Strategy::Direct))
            });
            let answers = join_all(children.collect::<Vec<_>>())
                .await
                .into_iter()
                .collect::<Result<Vec<_>, FrameError>>()?;
            let findings: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
            let prompt = format!("Findings:\n{}\n\nQuestion: {}", findings.join("\n"), task.question);
            let reply =
                frame.ask(Prompt::single(SYNTHESIS, prompt, frame.limits().root_output_tokens_max)).await?;
            let citations = answers.into_iter().flat_map(|answer| answer.citations).collect();
            Ok(Answer { text: reply.text, citations, grounding: Grounding::Cited })
        })
    })
}
