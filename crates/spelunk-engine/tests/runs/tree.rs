//! The tree of frames: its limits on depth and width.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Answer, FrameError, Program, Task};
use spelunk_testkit::{Fault, FaultDisk, on, status};
use spelunk_types::{ErrorCode, Explain, Strategy};

use super::{NOTE, answer, program, prompt, shown, told};
use crate::stage::{Stage, engine_on};

/// The result of a child, as text.
fn outcome(child: Result<Answer, FrameError>) -> String {
    match child {
        Ok(answer) => answer.text,
        Err(error) => {
            format!("{}: {error} ({})", error.code(), error.hint().unwrap_or_else(|| "no hint".to_owned()))
        }
    }
}

/// Opens this many children, one after the other, each with this strategy.
pub(super) fn open_children(n_children: usize, strategy: Strategy) -> Program {
    program(move |frame, task| async move {
        let mut outcomes = Vec::new();
        for _ in 0..n_children {
            outcomes.push(outcome(frame.descend(Task { strategy, ..task.clone() }).await));
        }
        Ok(answer(outcomes.join("\n")))
    })
}

#[tokio::test]
async fn frames_do_not_nest_deeper_than_depth_max() {
    let mut stage = Stage::new(&NOTE, []);
    stage.limits.depth_max = 2;
    stage.program = Some(open_children(1, Strategy::Program));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    expect![
        "depth-exceeded: frame `0.0.0` may not open a deeper child: `limits.depth_max` is 2 (raise `limits.depth_max`)"
    ]
    .assert_eq(&result.answer.unwrap().text);
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        frame.opened     0.0 program
        frame.opened     0.0.0 program
        frame.closed     0.0.0 answered uncited
        frame.closed     0.0 answered uncited
        frame.closed     0 answered uncited
        run.finished     answered"]]
    .assert_eq(&told(&engine, &result.run));
}

#[tokio::test]
async fn a_frame_opens_no_more_children_than_its_limit() {
    let mut stage = Stage::new(&NOTE, [on("0.*#0").reply("yes").usage(1, 1)]);
    stage.limits.children_depth0_max = 2;
    stage.program = Some(open_children(3, Strategy::Direct));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    expect![[r"
        yes
        yes
        children-exceeded: frame `0` may not open another child: `limits.children_depth0_max` is 2 (raise the limit for that depth: `limits.children_depth0_max`, `limits.children_depth1_max` or `limits.children_depth2_max`)"]]
    .assert_eq(&result.answer.unwrap().text);
    let calls: Vec<Option<String>> =
        stage.server.requests().into_iter().map(|request| request.call).collect();
    assert_eq!(calls, [Some("0.0#0".to_owned()), Some("0.1#0".to_owned())]);
}

#[tokio::test]
async fn each_depth_has_its_own_limit_on_children() {
    let mut stage = Stage::new(&NOTE, []);
    (stage.limits.depth_max, stage.limits.children_depth0_max, stage.limits.children_depth1_max) = (2, 9, 0);
    stage.program = Some(open_children(1, Strategy::Program));
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which number?").await;
    expect!["children-exceeded: frame `0.0` may not open another child: `limits.children_depth1_max` is 0 (raise the limit for that depth: `limits.children_depth0_max`, `limits.children_depth1_max` or `limits.children_depth2_max`)"]
        .assert_eq(&result.answer.unwrap().text);
}

#[tokio::test]
async fn a_refusal_the_program_does_not_live_with_ends_the_run() {
    let mut stage = Stage::new(&NOTE, []);
    stage.limits.depth_max = 0;
    stage.program = Some(program(|frame, task| async move { frame.descend(task).await }));
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which number?").await;
    assert_eq!(result.stopped_by(), Some(ErrorCode::DepthExceeded));
    assert_eq!(
        result.error.unwrap().to_string(),
        "frame `0` may not open a deeper child: `limits.depth_max` is 0"
    );
}

#[tokio::test]
async fn a_child_that_takes_too_long_has_failed_and_its_parent_may_live_with_that() {
    let mut stage =
        Stage::new(&NOTE, [on("0.0#0").always(Fault::StallBeforeHeaders), on("0.1#0").reply("quick")]);
    stage.limits.frame_ms_max = 100;
    stage.program = Some(open_children(2, Strategy::Direct));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    expect![[r"
        time-exhausted: frame `0.0` failed: `limits.frame_ms_max` is 100 (raise `limits.run_ms_max` or `limits.frame_ms_max`)
        quick"]].assert_eq(&result.answer.unwrap().text);
    expect![[r#"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        frame.opened     0.0 direct
        passages.chosen  0.0 documents=1 bytes=24 of=24
        call.started     0.0#0
        call.wasted      0.0#0 tokens=228+0
        frame.closed     0.0 failed time-exhausted
        frame.opened     0.1 direct
        passages.chosen  0.1 documents=1 bytes=24 of=24
        call.started     0.1#0
        call.settled     0.1#0 replied live tokens=228+2
        frame.closed     0.1 answered uncited
        frame.closed     0 answered uncited
        run.finished     answered"#]]
    .assert_eq(&told(&engine, &result.run));
}

#[tokio::test]
async fn a_child_that_is_given_another_task_is_stopped() {
    let mut stage = Stage::new(&NOTE, [on("0.0#0").reply("yes"), on("0#0").fault(status(400)).reply("end")]);
    let asking = |question: &'static str| {
        program(move |frame, task| async move {
            let found =
                frame.descend(Task { question: question.into(), strategy: Strategy::Direct, ..task }).await?;
            Ok(answer(found.text + &frame.ask(prompt("end")).await?.text))
        })
    };
    stage.program = Some(asking("Which number?"));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "").await;
    stage.program = Some(asking("Which colour?"));
    let diverged = stage.resume(&engine, &failed.run).unwrap().join().await;
    expect![[r"
        replay-diverged: the task of frame `0.0` differs from what the journal recorded
        hint: this is a bug: please report it and attach the run's journal"]]
    .assert_eq(&shown(diverged.error.as_ref().unwrap(), &failed.run));
    stage.program = Some(asking("Which number?"));
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("yesend")));
}

/// Moving on records a failure, even if what the program does next is never awaited.
#[tokio::test]
async fn a_failure_is_a_fact_once_the_program_asks_on() {
    let mut stage =
        Stage::new(&NOTE, [on("0#0").always(status(400)), on("0#2").fault(status(400)).reply("end")]);
    stage.program = Some(program(|frame, _| async move {
        let refused = frame.ask(prompt("one")).await.err().map(|error| error.code());
        drop(frame.ask(prompt("two")));
        Ok(answer(format!("{refused:?} {}", frame.ask(prompt("three")).await?.text)))
    }));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "").await;
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("Some(ModelRequestRefused) end")));
    assert_eq!(stage.server.times_received("0#0"), 1);
}
