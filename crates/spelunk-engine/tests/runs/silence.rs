//! Empty replies: retried, never an answer, never cached, and never the end of a conversation.

use std::sync::Arc;

use expect_test::expect;
use spelunk_testkit::{Fault, FaultDisk, on, when};
use spelunk_types::{BlobId, StopReason, Strategy};

use super::{NOTE, answer, cited, shown, told};
use crate::stage::{Stage, engine_on};

/// A stream that ends before any text.
fn nothing() -> Fault {
    Fault::Raw { content_type: "text/event-stream", body: b"data: [DONE]\n\n".to_vec() }
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again() {
    let stage = Stage::new(&NOTE, [on("0#0").fault(nothing()).reply("42.").usage(10, 2)]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    assert_eq!(result.answer, Some(cited("42.", "a.md")));
    expect![[r#"
        run.started      direct openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 direct
        passages.chosen  0 documents=1 bytes=24 of=24
        call.started     0#0
        call.wasted      0#0 tokens=228+0
        call.retried     0#0 attempt=1 model-reply-empty
        call.settled     0#0 replied live tokens=10+2
        frame.closed     0 answered cited=1
        run.finished     answered"#]]
    .assert_eq(&told(&engine, &result.run));
}

#[tokio::test]
async fn a_model_that_never_says_anything_gives_no_answer() {
    let stage = Stage::new(&NOTE, [on("0#0").reply(" \n").stop(StopReason::Other)]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    assert_eq!((result.answer, stage.server.times_received("0#0")), (None, 4));
    expect![[r"
        model-reply-empty: call `0#0` failed: the reply is empty
        hint: for a reasoning model, raise `limits.root_output_tokens_max` (sub-calls and analysts have their own limits), or choose another with `--model`"]]
    .assert_eq(&shown(&result.error.unwrap(), &result.run));
}

/// The next attempt would be as long, and would be charged, too.
#[tokio::test]
async fn reasoning_that_used_up_the_reply_is_not_paid_for_again() {
    let stage = Stage::new(&NOTE, [on("0#0").reasoning("hm").reply("").stop(StopReason::Length)]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    assert_eq!((result.answer, stage.server.times_received("0#0")), (None, 1));
    let error = shown(&result.error.unwrap(), &result.run);
    expect!["model-reply-empty: call `0#0` failed: the reply is empty: the model used up its output limit before it began to answer"]
        .assert_eq(error.lines().next().unwrap());
}

#[tokio::test]
async fn only_a_reply_that_came_to_its_end_or_its_limit_is_kept() {
    for (stop, n_asked) in [
        (StopReason::Finished, 1),
        (StopReason::Length, 1),
        (StopReason::Filtered, 2),
        (StopReason::Other, 2),
        (StopReason::ToolUse, 2),
    ] {
        let mut stage = Stage::new(&NOTE, [on("0#0").reply("42.").stop(stop)]);
        stage.cache_replies = true;
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        for _ in 0..2 {
            assert_eq!(
                stage.ask(&engine, "Which number?").await.answer,
                Some(cited("42.", "a.md")),
                "{stop:?}"
            );
        }
        assert_eq!(stage.server.requests().len(), n_asked, "{stop:?}");
    }
}

/// As an earlier engine stored it.
#[tokio::test]
async fn an_empty_record_of_the_cache_counts_as_absent() {
    let mut stage = Stage::new(&NOTE, [on("0#0").reply("42.")]);
    stage.cache_replies = true;
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    stage.ask(&engine, "Which number?").await;
    let name = disk.files().into_keys().find(|name| name.starts_with("replies-v1/")).unwrap();
    let key: BlobId = name.rsplit('/').next().unwrap().parse().unwrap();
    let record = br#"{"text":"","stop":"finished","usage":{"input_tokens":1,"output_tokens":0}}"#;
    engine.workspace().replies().put(&key, record).unwrap();
    let again = stage.ask(&engine, "Which number?").await;
    assert_eq!((again.answer, stage.server.requests().len()), (Some(cited("42.", "a.md")), 2));
}

#[tokio::test]
async fn a_turn_without_a_word_is_told_to_the_model_and_the_loop_goes_on() {
    let mut stage = Stage::new(
        &NOTE,
        [
            on("0#0").reply("").stop(StopReason::Length),
            on("0#1").reply("```repl\nFINAL(context.split('is ')[1].strip().strip('.'))\n```"),
        ],
    );
    stage.strategy = Strategy::Repl;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    assert_eq!(result.answer, Some(answer("42")));
    let requests = stage.server.requests();
    let messages = requests.last().unwrap().json()["messages"].clone();
    let [.., said, told] = messages.as_array().unwrap().as_slice() else { panic!("{messages}") };
    assert_eq!(said["content"], "(nothing)");
    assert!(told["content"].as_str().unwrap().starts_with("No code was found in your reply"), "{told}");
}

#[tokio::test]
async fn an_agent_that_says_nothing_is_told_so_and_goes_on() {
    let finish = r#"{"answer": "It is 42.", "evidence": ["input/contexts/a.md:1: The magic number is 42."]}"#;
    let mut stage = Stage::new(
        &NOTE,
        [
            on("0#0").reply("").stop(StopReason::Length),
            on("0#1").reply("").tool_call("Finish", finish),
            on("0#2").reply("").tool_call("Finish", "{}"),
        ],
    );
    stage.strategy = Strategy::Agent;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    assert_eq!(result.answer.map(|answer| answer.text).as_deref(), Some("It is 42."));
}

/// Providers refuse a conversation that contains an empty message.
#[tokio::test]
async fn an_analyst_whose_report_was_filtered_is_not_quoted_with_nothing() {
    let mut stage = Stage::new(
        &NOTE,
        [
            on("0.0#0").reply("").stop(StopReason::Filtered),
            on("0.0#1").reply(r#"{"relevant": true, "summary": "It is 42.", "findings": []}"#),
            when(|_| true).reply("All of it."),
        ],
    );
    stage.strategy = Strategy::Map;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Review it").await;
    assert!(result.error.is_none(), "{:?}", result.error);
    let requests = stage.server.requests();
    let repaired = requests.iter().find(|request| request.call.as_deref() == Some("0.0#1")).unwrap().json();
    let said = repaired["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant");
    assert_eq!(said.unwrap()["content"], "(nothing)");
}
