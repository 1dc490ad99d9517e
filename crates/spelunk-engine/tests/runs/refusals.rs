//! What a run cannot be resumed with: its own answer, another model, other settings, other documents, another
//! program.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Engine, ResumeRequest};
use spelunk_model::{ModelOptions, OpenAiModel};
use spelunk_testkit::{FaultDisk, on, status};
use spelunk_types::{BlobId, EventKind, RunId};

use super::{NOTE, answer, ask_in_turn, cited, refusal, shown};
use crate::stage::{Stage, engine_on, events};

/// A run of the direct strategy that failed and can be resumed.
async fn failed_run() -> (Stage, Engine, RunId) {
    let stage = Stage::new(&NOTE, [on("0#0").fault(status(400)).reply("42.")]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "Which number?").await;
    (stage, engine, failed.run)
}

#[tokio::test]
async fn an_answered_run_is_not_resumed() {
    let stage = Stage::new(&NOTE, [on("0#0").reply("42.")]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let answered = stage.ask(&engine, "Which number?").await;
    let refused = refusal(stage.resume(&engine, &answered.run));
    expect![[r"
        run-finished: run `RUN` already has its answer
        hint: see it with `spelunk show RUN`"]]
    .assert_eq(&shown(&refused, &answered.run));
}

#[tokio::test]
async fn another_model_is_refused() {
    let (stage, engine, run) = failed_run().await;
    let (base_url, name) = (stage.server.base_url(), "other".to_owned());
    let options = ModelOptions { base_url, name, key: None, price: None, label_calls: true };
    let model = Arc::new(OpenAiModel::new(options).unwrap());
    let request = ResumeRequest {
        model,
        sub_model: None,
        synthesis_model: None,
        settings: stage.settings(),
        program: None,
    };
    let refused = refusal(engine.resume(&run, request, &mut |_| {}));
    expect![[r"
        settings-changed: run `RUN` was started with model openai/scripted, not openai/other
        hint: resume it with its original settings, or ask again: matching replies are taken from the cache"]]
    .assert_eq(&shown(&refused, &run));
}

fn short(digest: &BlobId) -> String {
    digest.to_string().chars().take(8).collect()
}

/// Prompts are part of the engine, so a journal of another engine stands in for changed ones.
#[tokio::test]
async fn other_prompts_or_settings_are_refused() {
    let (stage, engine, run) = failed_run().await;
    let other = spelunk_journal::digest(b"the prompts of another engine");
    let elsewhere = engine_on(Arc::new(FaultDisk::sound()));
    let mut journal = elsewhere.workspace().create_journal(&run);
    let mut now = String::new();
    for mut event in events(&engine, &run) {
        if let EventKind::RunStarted { settings_digest, .. } = &mut event.kind {
            now = short(&std::mem::replace(settings_digest, other.clone()));
        }
        journal.append(event.at_ms, vec![(event.frame, event.kind)]).unwrap();
    }
    let refused = refusal(stage.resume(&elsewhere, &run));
    expect![[r"
        settings-changed: run `RUN` was started with prompts and settings THEN, not NOW
        hint: resume it with its original settings, or ask again: matching replies are taken from the cache"]]
    .assert_eq(&shown(&refused, &run).replace(&short(&other), "THEN").replace(&now, "NOW"));
}

#[tokio::test]
async fn limits_that_shape_the_path_are_those_of_the_start() {
    let (mut stage, engine, run) = failed_run().await;
    // Under these limits, only part of the document would be read and the prompt would differ.
    (stage.limits.direct_tokens_max, stage.limits.root_output_tokens_max) = (1, 7);
    let resumed = stage.resume(&engine, &run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(cited("42.", "a.md")));
    let requests = stage.server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
}

#[tokio::test]
async fn changed_documents_are_refused() {
    let (stage, engine, run) = failed_run().await;
    std::fs::write(stage.documents.path().join("a.md"), "The magic number is 43.\n").unwrap();
    let refused = refusal(stage.resume(&engine, &run));
    expect![[r"
        corpus-changed: the text of run `RUN` has changed since it was started
        hint: ask again about the new text: matching replies are taken from the cache"]]
    .assert_eq(&shown(&refused, &run));
}

#[tokio::test]
async fn a_program_run_without_its_program_is_refused() {
    let mut stage = Stage::new(&NOTE, [on("0#0").fault(status(400)).reply("one")]);
    stage.program = Some(ask_in_turn(&["first"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "").await;
    let program = stage.program.take();
    let refused = refusal(stage.resume(&engine, &failed.run));
    expect![[r"
        settings-changed: run `RUN` was started by a program with a custom strategy, which this program does not have
        hint: resume it from the program that started it"]]
    .assert_eq(&shown(&refused, &failed.run));
    // The refusal left nothing that prevents a resume.
    stage.program = program;
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("one")));
}

#[tokio::test]
async fn an_unknown_run_is_refused() {
    let (stage, _, run) = failed_run().await;
    let empty = engine_on(Arc::new(FaultDisk::sound()));
    let refused = refusal(stage.resume(&empty, &run));
    expect![[r"
        run-not-found: could not use the journal of run `RUN`
        caused by: there is no run `RUN`
        hint: run `spelunk run list` to see the runs of this workspace"]]
    .assert_eq(&shown(&refused, &run));
}
