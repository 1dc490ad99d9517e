//! The ways in which a run ends without an answer: cancelled, broken, diverged, out of disk, taken by another
//! process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use expect_test::expect;
use futures_util::future::join_all;
use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, Program, SystemClock, Task};
use spelunk_journal::Workspace;
use spelunk_testkit::{Crash, Fault, FaultDisk, Gate, on, status};
use spelunk_types::{ErrorCode, RunOutcome, Strategy, Usage};

use super::disk::MoodyDisk;
use super::{NOTE, answer, ask_at_once, ask_in_turn, at_gate, cited, program, prompt, refusal, shown, told};
use crate::stage::{PATIENCE, Stage, engine_on, events, only_run, view};

#[tokio::test]
async fn a_cancelled_run_goes_on_without_repeating_what_was_settled() {
    let gate = Gate::new();
    let second = on("0#1").fault(Fault::StallBeforeHeaders).gate(&gate).reply("two").usage(5, 5);
    let rules = [on("0#0").reply("one").usage(3, 3), second];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let handle = stage.start(&engine, "").unwrap();
    at_gate(&gate, 1).await;
    handle.cancel.cancel();
    let cancelled = handle.join().await;
    assert_eq!((cancelled.outcome, cancelled.answer), (RunOutcome::Cancelled, None));
    assert_eq!(shown(&cancelled.error.unwrap(), &cancelled.run), "cancelled: the run was cancelled");
    gate.open();
    let resumed = stage.resume(&engine, &cancelled.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("one two")));
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.settled     0#0 replied live tokens=3+3
        call.started     0#1
        call.wasted      0#1 tokens=4+0
        run.finished     cancelled
        run.resumed      bytes_dropped=0
        call.started     0#1
        call.settled     0#1 replied live tokens=5+5
        frame.closed     0 answered uncited
        run.finished     answered"]]
    .assert_eq(&told(&engine, &cancelled.run));
    assert_eq!((stage.server.times_received("0#0"), stage.server.times_received("0#1")), (1, 2));
    let spent = view(&events(&engine, &cancelled.run)).spent;
    assert_eq!(
        spent,
        Usage {
            input_tokens: 8 + 4,
            cached_tokens: 0,
            cache_written_tokens: 0,
            output_tokens: 8,
            cost_microusd: 16 + 4
        }
    );
}

/// The journal's queue is full of waiting children that are no longer polled; the end must still get through.
#[tokio::test]
async fn a_wide_run_that_is_cancelled_while_the_disk_is_slow_records_its_end() {
    let mut stage = Stage::new(&NOTE, []);
    stage.limits.children_depth0_max = 5_000;
    stage.program = Some(program(|frame, task| async move {
        let child = || frame.descend(Task { strategy: Strategy::Direct, ..task.clone() });
        join_all((0..5_000).map(|_| child()).collect::<Vec<_>>()).await;
        Ok(answer("never"))
    }));
    let disk = Arc::new(MoodyDisk::default());
    let engine = engine_on(disk.clone());
    let handle = stage.start(&engine, "").unwrap();
    disk.hold(true);
    // Each turn of the driver adds at least a hundred children to the queue.
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
    handle.cancel.cancel();
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
    disk.hold(false);
    let ended = tokio::time::timeout(PATIENCE, handle.join()).await;
    let cancelled = ended.expect("the end is recorded");
    assert_eq!(cancelled.outcome, RunOutcome::Cancelled);
    assert_eq!(told(&engine, &cancelled.run).lines().last(), Some("run.finished     cancelled"));
}

/// Sends a prompt, then panics while the flag is set.
fn breaking(is_broken: &Arc<AtomicBool>) -> Program {
    let is_broken = Arc::clone(is_broken);
    program(move |frame, task| {
        let is_broken = Arc::clone(&is_broken);
        async move {
            if frame.id().depth() == 0 {
                return frame.descend(task).await;
            }
            let reply = frame.ask(prompt("first")).await?;
            assert!(!is_broken.load(Ordering::Relaxed), "the program is wrong");
            Ok(answer(reply.text))
        }
    })
}

#[tokio::test]
async fn a_panic_in_a_program_fails_its_run_and_no_other() {
    let gate = Gate::new();
    let mut sound = Stage::new(&NOTE, [on("0#0").gate(&gate).reply("sound")]);
    sound.program = Some(ask_in_turn(&["first"]));
    let mut broken = Stage::new(&NOTE, [on("0.0#0").reply("one").usage(1, 1)]);
    let is_broken = Arc::new(AtomicBool::new(true));
    broken.program = Some(breaking(&is_broken));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let other = sound.start(&engine, "").unwrap();
    at_gate(&gate, 1).await;
    let failed = broken.ask(&engine, "").await;
    expect![[r"
        bug: internal error in frame `0.0`: the program is wrong
        hint: this is a bug: please report it and attach the run's journal"]]
    .assert_eq(&shown(&failed.error.unwrap(), &failed.run));
    let message = "internal error in frame `0.0`: the program is wrong".to_owned();
    assert_eq!(failed.outcome, RunOutcome::Failed { code: ErrorCode::Bug, message });
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        frame.opened     0.0 program
        call.started     0.0#0
        call.settled     0.0#0 replied live tokens=1+1
        run.finished     failed bug"]]
    .assert_eq(&told(&engine, &failed.run));
    gate.open();
    assert_eq!(other.join().await.answer, Some(answer("sound")));
    // The fixed program continues from there.
    is_broken.store(false, Ordering::Relaxed);
    let resumed = broken.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("one")));
    assert_eq!(broken.server.requests().len(), 1);
}

#[tokio::test]
async fn a_program_that_asks_something_else_is_stopped_before_it_sends() {
    let rules = [on("0#0").reply("one"), on("0#1").fault(status(400)).reply("two")];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "").await;
    let run = failed.run;
    // Neither settled nor merely started calls may change.
    for (words, call) in [(&["other", "second"], "0#0"), (&["first", "other"], "0#1")] {
        stage.program = Some(ask_in_turn(words));
        let diverged = stage.resume(&engine, &run).unwrap().join().await;
        let expected = format!(
            "replay-diverged: call `{call}` differs from what the journal recorded\n\
             hint: this is a bug: please report it and attach the run's journal"
        );
        assert_eq!(shown(diverged.error.as_ref().unwrap(), &run), expected);
        assert_eq!(diverged.stopped_by(), Some(ErrorCode::ReplayDiverged));
    }
    assert_eq!(stage.server.requests().len(), 2);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let resumed = stage.resume(&engine, &run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("one two")));
}

#[tokio::test]
async fn a_full_disk_stops_the_run_and_freed_space_lets_it_go_on() {
    // The start takes two writes. How many follow depends on the journal writer's batches: at least four.
    for n in 4.. {
        let stage = Stage::new(&NOTE, [on("0#0").reply("42.")]);
        let full = Arc::new(FaultDisk::sound().full_at(n));
        let stopped = stage.ask(&engine_on(full.clone()), "Which number?").await;
        if !full.is_dead() {
            assert_eq!((stopped.outcome, n > 6), (RunOutcome::Answered, true));
            break;
        }
        let message = format!("could not write `runs/{}/journal.jsonl`", stopped.run);
        assert_eq!(stopped.outcome, RunOutcome::Failed { code: ErrorCode::JournalUnwritable, message });
        expect![[r"
            journal-unwritable: could not write `runs/RUN/journal.jsonl`
            caused by: no storage space
            hint: free some space, then run `spelunk resume`: nothing acknowledged is lost"]]
        .assert_eq(&shown(&stopped.error.unwrap(), &stopped.run));
        let engine = engine_on(Arc::new(full.after(Crash::Torn)));
        if view(&events(&engine, &stopped.run)).outcome.is_none() {
            let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
            assert_eq!(resumed.answer, Some(cited("42.", "a.md")));
        }
        assert_eq!(view(&events(&engine, &stopped.run)).outcome, Some(RunOutcome::Answered));
    }
}

/// A reply may be used while it is being written to disk; a prompt that may depend on it waits.
#[tokio::test]
async fn no_question_is_sent_before_the_reply_before_it_is_on_disk() {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#0").gate(&gate).reply("one"), on("0#1").reply("two")]);
    let has_reply = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&has_reply);
    stage.program = Some(program(move |frame, _| {
        let told = Arc::clone(&told);
        async move {
            let first = frame.ask(prompt("first")).await?;
            told.store(true, Ordering::Relaxed);
            let second = frame.ask(prompt("second")).await?;
            Ok(answer(format!("{} {}", first.text, second.text)))
        }
    }));
    let disk = Arc::new(MoodyDisk::default());
    let engine = engine_on(disk.clone());
    let mut joined = Box::pin(stage.start(&engine, "").unwrap().join());
    at_gate(&gate, 1).await;
    disk.hold(true);
    gate.open();
    // The run is driven while it is watched. Nothing signals that a request is not sent, so wait a while for a wrong
    // one.
    let watched = tokio::time::timeout(Duration::from_millis(300), &mut joined).await;
    assert!(watched.is_err(), "it cannot end");
    assert!(has_reply.load(Ordering::Relaxed), "the reply was not waited for");
    assert_eq!(stage.server.requests().len(), 1, "the second question had to wait");
    disk.hold(false);
    assert_eq!(joined.await.answer, Some(answer("one two")));
    assert_eq!(stage.server.requests().len(), 2);
}

#[tokio::test]
async fn nothing_more_is_sent_once_the_disk_is_full() {
    // Eight calls wait for one permit. The disk is full at the first reply, so the seven others would be paid for in
    // vain.
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#*").gate(&gate).reply("yes")]);
    stage.limits.calls_parallel_max = 1;
    stage.program = Some(ask_at_once(8));
    let disk = Arc::new(MoodyDisk::default());
    let engine = engine_on(disk.clone());
    let handle = stage.start(&engine, "").unwrap();
    at_gate(&gate, 1).await;
    disk.fill(true);
    gate.open();
    let stopped = handle.join().await;
    assert_eq!(stopped.stopped_by(), Some(ErrorCode::JournalUnwritable));
    assert_eq!(stage.server.requests().len(), 1);
    disk.fill(false);
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("8 replies")));
    assert_eq!(stage.server.requests().len(), 9);
}

#[tokio::test]
async fn nothing_more_is_sent_again_once_the_disk_is_full() {
    // The journal has the start of all eight calls, so a resumed run writes nothing before it sends them again.
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#*").gate(&gate).reply("yes")]);
    stage.program = Some(ask_at_once(8));
    let disk = Arc::new(MoodyDisk::default());
    let engine = engine_on(disk.clone());
    let handle = stage.start(&engine, "").unwrap();
    at_gate(&gate, 8).await;
    handle.cancel.cancel();
    let cancelled = handle.join().await;
    stage.limits.calls_parallel_max = 1;
    let handle = stage.resume(&engine, &cancelled.run).unwrap();
    at_gate(&gate, 9).await;
    disk.fill(true);
    gate.open();
    assert_eq!(handle.join().await.stopped_by(), Some(ErrorCode::JournalUnwritable));
    assert_eq!(stage.server.requests().len(), 9);
}

#[tokio::test]
async fn a_run_does_not_start_on_a_full_disk() {
    let stage = Stage::new(&NOTE, []);
    let disk = Arc::new(FaultDisk::sound().full_at(1));
    let refused = refusal(stage.start(&engine_on(disk.clone()), "Which number?"));
    let run = only_run(&disk.files()).unwrap();
    expect![[r"
        journal-unwritable: could not use the journal of run `RUN`
        caused by: could not write `runs/RUN/journal.jsonl`
        caused by: no storage space
        hint: free some space, then run `spelunk resume`: nothing acknowledged is lost"]]
    .assert_eq(&shown(&refused, &run));
}

#[tokio::test]
async fn a_run_of_another_process_is_not_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let process = || {
        Engine::new(Workspace::open(directory.path()).unwrap(), Arc::new(SystemClock), ScanOptions::default())
    };
    let gate = Gate::new();
    let stage = Stage::new(&NOTE, [on("0#0").gate(&gate).reply("42.")]);
    let (first, second) = (process(), process());
    let handle = stage.start(&first, "Which number?").unwrap();
    let run = handle.run.clone();
    at_gate(&gate, 1).await;
    let refused = refusal(stage.resume(&second, &run));
    let pid = std::process::id().to_string();
    expect![[r"
        run-locked: could not use the journal of run `RUN`
        caused by: another process (pid PID) is working on run `RUN`
        hint: watch it with `spelunk tail RUN`"]]
    .assert_eq(&shown(&refused, &run).replace(&format!("pid {pid}"), "pid PID"));
    gate.open();
    assert_eq!(handle.join().await.answer, Some(cited("42.", "a.md")));
    // The lock was released with the run, and the refusal recorded nothing.
    let refused = refusal(stage.resume(&second, &run));
    assert_eq!(refused.to_string(), format!("run `{}` already has its answer", run.short()));
    assert_eq!(view(&events(&second, &run)).n_resumed, 0);
}
