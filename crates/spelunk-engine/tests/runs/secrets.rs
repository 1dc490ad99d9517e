//! What is sent to the provider, and what must not reach the disk.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Engine, RunRequest, RunResult};
use spelunk_model::{AnthropicModel, Model, ModelOptions, OpenAiModel, Secret};
use spelunk_testkit::{FaultDisk, on, status};
use spelunk_types::Strategy;

use super::{NOTE, answer, program, prompt, told};
use crate::stage::{Stage, engine_on};

const KEY: &str = "sk-test-3f9a2b1c4d5e6f70";

fn options(stage: &Stage) -> ModelOptions {
    let (base_url, name, key) = (stage.server.base_url(), "scripted".to_owned(), Some(Secret::new(KEY)));
    ModelOptions { base_url, name, key, price: None, label_calls: true }
}

async fn ask(stage: &Stage, engine: &Engine, model: Arc<dyn Model>) -> RunResult {
    let corpus = engine.open_corpus(&stage.sources(), &mut |_| {}).unwrap();
    let request = RunRequest {
        question: "Which number?".into(),
        corpus,
        sources: stage.sources(),
        strategy: if stage.program.is_some() { Strategy::Program } else { Strategy::Direct },
        model,
        sub_model: None,
        synthesis_model: None,
        schema: None,
        turn: None,
        focus: spelunk_types::Focus::General,
        settings: stage.settings(),
        program: stage.program.clone(),
    };
    engine.start(request).unwrap().join().await
}

#[tokio::test]
async fn the_key_never_reaches_the_disk_even_if_the_provider_repeats_it() {
    let echo = |code| status(code).message(format!("the key {KEY} is not welcome"));
    let rules = [
        on("0#0").fault(echo(500)).always(echo(400)),
        on("0#1").fault(echo(500)).reply("fine"),
        on("0#2").always(echo(401)),
    ];
    let mut stage = Stage::new(&NOTE, rules);
    stage.cache_replies = true;
    stage.program = Some(program(|frame, _| async move {
        let failed = frame.ask(prompt("first")).await.unwrap_err();
        frame.ask(prompt(&failed.to_string())).await?;
        Ok(answer(frame.ask(prompt("last")).await?.text))
    }));
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    let result = ask(&stage, &engine, Arc::new(OpenAiModel::new(options(&stage)).unwrap())).await;
    let requests = stage.server.requests();
    assert_eq!(requests.len(), 5);
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let files = disk.files();
    let holding = files.iter().filter(|(_, bytes)| bytes.windows(KEY.len()).any(|w| w == KEY.as_bytes()));
    assert_eq!(holding.map(|(name, _)| name).collect::<Vec<_>>(), Vec::<&String>::new());
    // The echo is on disk, with a mark in place of the key; so this test would have detected the key.
    let echoed = b"the key [key] is not welcome";
    assert!(files.values().any(|bytes| bytes.windows(echoed.len()).any(|w| w == echoed)));
    let error = result.error.unwrap().to_string().replace(&stage.server.base_url(), "URL");
    expect!["call `0#2` failed: the provider at `URL` rejected the key: the key [key] is not welcome"]
        .assert_eq(&error);
}

#[tokio::test]
async fn a_whole_run_speaks_the_anthropic_format_too() {
    let reply = "It is 42.\n\n```evidence\na.md:1: The magic number is 42.\n```\n";
    let rule = on("0#0").fault(status(529)).reply(reply).usage(100, 20).cached(60);
    let stage = Stage::new(&NOTE, [rule]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = ask(&stage, &engine, Arc::new(AnthropicModel::new(options(&stage)).unwrap())).await;
    assert_eq!(result.answer.unwrap().text, "It is 42.");
    expect![[r"
        run.started      direct anthropic/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 direct
        passages.chosen  0 documents=1 bytes=24 of=24
        call.started     0#0
        call.retried     0#0 attempt=1 model-overloaded
        call.settled     0#0 replied live tokens=100+20
        citation.checked 0 exact a.md:1
        frame.closed     0 answered cited=1
        run.finished     answered"]]
    .assert_eq(&told(&engine, &result.run));
    let requests = stage.server.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/messages", "/v1/messages"]);
    assert_eq!(requests[0].header("x-api-key"), Some(KEY));
}
