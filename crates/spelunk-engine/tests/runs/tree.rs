//! The tree of frames: how deep and how wide it may grow.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Answer, FrameError, Program, Task};
use spelunk_testkit::{FaultDisk, on};
use spelunk_types::{ErrorCode, Explain, Strategy};

use super::{NOTE, answer, program, told};
use crate::stage::{Stage, engine_on};

/// What came of a child, in words.
fn outcome(child: Result<Answer, FrameError>) -> String {
    match child {
        Ok(answer) => answer.text,
        Err(error) => {
            format!("{}: {error} ({})", error.code(), error.hint().unwrap_or_else(|| "no hint".to_owned()))
        }
    }
}

/// Opens so many children, one after the other, each with this strategy.
fn open_children(n_children: usize, strategy: Strategy) -> Program {
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
    expect!["depth-exceeded: frame `0.0.0` may not go deeper: `limits.depth_max` is 2 (raise `limits.depth_max` or the limit on children)"]
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
        children-exceeded: frame `0` may not go deeper: `limits.children_depth0_max` is 2 (raise `limits.depth_max` or the limit on children)"]]
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
    expect!["children-exceeded: frame `0.0` may not go deeper: `limits.children_depth1_max` is 0 (raise `limits.depth_max` or the limit on children)"]
        .assert_eq(&result.answer.unwrap().text);
}

#[tokio::test]
async fn a_refusal_the_program_does_not_live_with_ends_the_run() {
    let mut stage = Stage::new(&NOTE, []);
    stage.limits.depth_max = 0;
    stage.program = Some(program(|frame, task| async move { frame.descend(task).await }));
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which number?").await;
    assert_eq!(result.stopped_by(), Some(ErrorCode::DepthExceeded));
    assert_eq!(result.error.unwrap().to_string(), "frame `0` may not go deeper: `limits.depth_max` is 0");
}
