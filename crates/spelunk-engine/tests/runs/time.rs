//! Limits on time, size and concurrency.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use spelunk_testkit::{Crash, Fault, FaultDisk, Gate, on};
use spelunk_types::{ErrorCode, RunOutcome};

use super::{NOTE, answer, ask_at_once, ask_in_turn, at_gate, shown, told, told_without_waste};
use crate::stage::{PATIENCE, Stage, engine_on, events, view};

/// Long enough for a good reply on a slow machine, short enough to wait for.
const PATIENCE_MS: u64 = 500;

#[tokio::test]
async fn no_more_than_calls_parallel_max_are_open_at_once() {
    let gates: Vec<Gate> = (0..8).map(|_| Gate::new()).collect();
    let rules = gates.iter().enumerate().map(|(idx, gate)| on(&format!("0#{idx}")).gate(gate).reply("yes"));
    let mut stage = Stage::new(&NOTE, rules);
    stage.limits.calls_parallel_max = 3;
    stage.program = Some(ask_at_once(8));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let handle = stage.start(&engine, "").unwrap();
    let test = async {
        for (idx, gate) in gates.iter().enumerate() {
            // Permits are granted in order: while this call is at its gate, only the two after it are open.
            let last_open = (idx + 2).min(7);
            at_gate(&gates[last_open], 1).await;
            assert_eq!(stage.server.requests().len(), last_open + 1);
            gate.open();
        }
    };
    let (result, ()) = tokio::join!(handle.join(), test);
    assert_eq!(result.answer, Some(answer("8 replies")));
}

/// While the second call waits for its reply, the first becomes durable, though nothing asks for it.
#[tokio::test]
async fn what_is_written_is_synced_in_the_background() {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#0").reply("one"), on("0#1").gate(&gate).reply("two")]);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let disk = Arc::new(FaultDisk::sound());
    let handle = stage.start(&engine_on(disk.clone()), "").unwrap();
    let test = async {
        at_gate(&gate, 1).await;
        let is_synced = || {
            let left = disk.after(Crash::LostTail).files();
            let journal = left.iter().find(|(name, _)| name.ends_with("journal.jsonl"));
            journal.is_some_and(|(_, bytes)| String::from_utf8_lossy(bytes).contains("call.settled"))
        };
        let waiting = async {
            while !is_synced() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("it is synced");
        gate.open();
    };
    let (result, ()) = tokio::join!(handle.join(), test);
    assert_eq!(result.answer, Some(answer("one two")));
}

/// How many attempts were wasted.
async fn a_stall_is_tried_again(stall: Fault) -> usize {
    let mut stage = Stage::new(&NOTE, [on("0#0").fault(stall).reply("yes").usage(1, 1)]);
    stage.limits.call_idle_ms_max = PATIENCE_MS;
    // The timeout of the whole call is far away; waiting for it would take too long.
    stage.limits.run_ms_max = 20 * PATIENCE_MS;
    stage.program = Some(ask_in_turn(&["first"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "").await;
    assert_eq!(result.answer, Some(answer("yes")));
    let (facts, n_wasted) = told_without_waste(&engine, &result.run);
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.retried     0#0 attempt=1 model-timed-out
        call.settled     0#0 replied live tokens=1+1
        frame.closed     0 answered uncited
        run.finished     answered"]]
    .assert_eq(&facts);
    n_wasted
}

#[tokio::test]
async fn a_reply_that_never_begins_is_tried_again_and_costs_nothing() {
    assert_eq!(a_stall_is_tried_again(Fault::StallBeforeHeaders).await, 0);
}

#[tokio::test]
async fn a_reply_that_pauses_too_long_is_tried_again_and_what_came_is_paid() {
    assert_eq!(a_stall_is_tried_again(Fault::StallMidStream).await, 1);
}

#[tokio::test]
async fn a_reply_that_takes_too_long_as_a_whole_is_tried_again_and_given_up() {
    // Each pause is short; only the sum is not.
    let rule = on("0#0").chunks(100).pace_ms(PATIENCE_MS / 20).reply("yes ".repeat(100));
    let mut stage = Stage::new(&NOTE, [rule]);
    stage.limits.call_ms_max = PATIENCE_MS;
    stage.limits.retries_max = 1;
    stage.program = Some(ask_in_turn(&["first"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "").await;
    expect![[r"
        model-timed-out: call `0#0` failed: no reply within 500 ms
        hint: raise `limits.call_ms_max` or `limits.call_idle_ms_max`"]]
    .assert_eq(&shown(&result.error.unwrap(), &result.run));
    let (facts, n_wasted) = told_without_waste(&engine, &result.run);
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.retried     0#0 attempt=1 model-timed-out
        run.finished     failed model-timed-out"]]
    .assert_eq(&facts);
    assert_eq!(n_wasted, 2);
}

#[tokio::test]
async fn a_run_that_takes_too_long_stops_and_can_go_on() {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#0").gate(&gate).reply("yes").usage(1, 1)]);
    stage.limits.run_ms_max = PATIENCE_MS;
    stage.program = Some(ask_in_turn(&["first"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: ErrorCode::TimeExhausted });
    expect![[r"
        time-exhausted: time limit reached (0.5 s)
        hint: raise it with `--set limits.run_ms_max=1000`"]]
    .assert_eq(&shown(&stopped.error.unwrap(), &stopped.run));
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.wasted      0#0 tokens=4+1
        limit.reached    run_ms_max=500
        run.finished     partial time-exhausted"]]
    .assert_eq(&told(&engine, &stopped.run));
    // The time is used up: the same limit stops the run again at once.
    let again = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(again.stopped_by(), Some(ErrorCode::TimeExhausted));
    let active_ms = view(&events(&engine, &stopped.run)).active_ms();
    assert!((PATIENCE_MS..2 * PATIENCE_MS).contains(&active_ms), "{active_ms} ms");
    gate.open();
    stage.limits.run_ms_max = 600_000;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("yes")));
    assert_eq!(view(&events(&engine, &stopped.run)).n_resumed, 2);
}

#[tokio::test]
async fn a_reply_longer_than_reply_bytes_max_is_given_up_at_once() {
    let mut stage = Stage::new(&NOTE, [on("0#0").always(Fault::LongReply { bytes: 10_000_000 })]);
    stage.limits.reply_bytes_max = 1_000_000;
    stage.program = Some(ask_in_turn(&["first"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "").await;
    expect![[r"
        model-reply-too-long: call `0#0` failed: the reply is longer than 1000000 bytes
        hint: raise `limits.reply_bytes_max`"]]
    .assert_eq(&shown(&result.error.unwrap(), &result.run));
    assert_eq!(stage.server.times_received("0#0"), 1);
}
