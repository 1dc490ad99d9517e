//! Watching: every durable event once, in order and without gaps, however late or slow the watcher is and whichever
//! process drives the run.

use std::path::Path;
use std::sync::Arc;

use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, EventStream, RunHandle, SystemClock};
use spelunk_journal::{Record, Workspace};
use spelunk_testkit::{Gate, on, status};
use spelunk_types::{Durability, Event, EventKind, RunId, RunOutcome};
use tokio::time::timeout;

use crate::runs::{NOTE, answer, ask_in_turn, at_gate, program, prompt, shown};
use crate::stage::{PATIENCE, Stage, events, view};

/// Follows to the end, including ephemeral events.
async fn follow(mut stream: EventStream) -> Vec<Event> {
    let mut seen = Vec::new();
    let mut next = async || timeout(PATIENCE, stream.next()).await.expect("the stream goes on or ends");
    while let Some(record) = next().await {
        match record.unwrap() {
            Record::Known(event) => seen.push(*event),
            Record::Unknown { name, .. } => panic!("unknown event {name}"),
        }
    }
    seen
}

fn durable(seen: &[Event]) -> Vec<Event> {
    seen.iter().filter(|event| event.kind.durability() != Durability::Ephemeral).cloned().collect()
}

/// An engine as another process would have it.
fn process(directory: &Path) -> Engine {
    Engine::new(Workspace::open(directory).unwrap(), Arc::new(SystemClock), ScanOptions::default())
}

/// Takes the stream of a run's own process; the handle follows the file instead.
fn live(engine: &Engine, handle: &mut RunHandle) -> EventStream {
    std::mem::replace(&mut handle.events, engine.watch(&handle.run, 0).unwrap())
}

/// Two calls, the second held at the gate.
fn held_stage(gate: &Gate) -> Stage {
    let rules = [on("0#0").reply("one"), on("0#1").gate(gate).reply("two")];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    stage
}

#[tokio::test]
async fn a_watcher_sees_every_event_and_every_piece_of_text() {
    let gate = Gate::new();
    gate.open();
    let stage = held_stage(&gate);
    let directory = tempfile::tempdir().unwrap();
    let engine = process(directory.path());
    let mut handle = stage.start(&engine, "").unwrap();
    let stream = live(&engine, &mut handle);
    // The file already has the start.
    let Some(Ok(first)) = handle.events.next().await else { panic!("a run begins with an event") };
    let (result, seen) = tokio::join!(handle.join(), follow(stream));
    let written = events(&engine, &result.run);
    assert_eq!(first, Record::Known(Box::new(written[0].clone())));
    assert_eq!(durable(&seen), written);
    let streamed: String = seen
        .iter()
        .filter_map(|event| {
            let EventKind::CallStreamed { call, text } = &event.kind else { return None };
            (call.ordinal == 1).then_some(text.as_str())
        })
        .collect();
    assert_eq!(streamed, "two");
}

#[tokio::test]
async fn a_watcher_that_falls_far_behind_misses_no_durable_event() {
    let gate = Gate::new();
    let rules = [on("0#0").gate(&gate).reply("one"), on("0#*").chunks(200).reply("x".repeat(200))];
    let mut stage = Stage::new(&NOTE, rules);
    stage.limits.calls_parallel_max = 50;
    // The first reply is settled early; the pieces of fifty others push it out of the watcher's buffer.
    stage.program = Some(program(|frame, _| async move {
        frame.ask(prompt("first")).await?;
        let prompts = (0..50).map(|idx| prompt(&idx.to_string())).collect();
        Ok(answer(format!("{} replies", frame.ask_all(prompts).await.len())))
    }));
    let directory = tempfile::tempdir().unwrap();
    let engine = process(directory.path());
    let mut handle = stage.start(&engine, "").unwrap();
    at_gate(&gate, 1).await;
    let stream = live(&engine, &mut handle);
    gate.open();
    let result = handle.join().await;
    let seen = follow(stream).await;
    assert_eq!(durable(&seen), events(&engine, &result.run));
    // Pieces were dropped; otherwise this watcher has not lagged.
    assert!(seen.len() < 9_000, "{} events", seen.len());
}

#[tokio::test]
async fn the_stream_of_a_resumed_run_begins_with_its_first_event() {
    let rules = [on("0#0").reply("one"), on("0#1").fault(status(400)).reply("two")];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let directory = tempfile::tempdir().unwrap();
    let engine = process(directory.path());
    let failed = stage.ask(&engine, "").await;
    let mut handle = stage.resume(&engine, &failed.run).unwrap();
    let stream = live(&engine, &mut handle);
    let (result, seen) = tokio::join!(handle.join(), follow(stream));
    assert_eq!(result.answer, Some(answer("one two")));
    assert_eq!(durable(&seen), events(&engine, &failed.run));
}

#[tokio::test]
async fn another_process_follows_the_file_to_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let (driver, watcher) = (process(directory.path()), process(directory.path()));
    let gate = Gate::new();
    let stage = held_stage(&gate);
    let handle = stage.start(&driver, "").unwrap();
    at_gate(&gate, 1).await;
    let (whole, rest) = (watcher.watch(&handle.run, 0).unwrap(), watcher.watch(&handle.run, 4).unwrap());
    gate.open();
    let (result, all, late) = tokio::join!(handle.join(), follow(whole), follow(rest));
    let written = events(&driver, &result.run);
    assert_eq!(all, written);
    assert_eq!(late, written[4..]);
}

#[tokio::test]
async fn another_process_follows_a_resumed_run_past_its_earlier_end() {
    let directory = tempfile::tempdir().unwrap();
    let (driver, watcher) = (process(directory.path()), process(directory.path()));
    let gate = Gate::new();
    let rules = [on("0#0").fault(status(400)).reply("one"), on("0#1").gate(&gate).reply("two")];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let failed = stage.ask(&driver, "").await;
    let handle = stage.resume(&driver, &failed.run).unwrap();
    at_gate(&gate, 1).await;
    // The file contains the earlier end, the resumption, and more after it.
    let stream = watcher.watch(&failed.run, 0).unwrap();
    gate.open();
    let (result, seen) = tokio::join!(handle.join(), follow(stream));
    assert_eq!(result.answer, Some(answer("one two")));
    let written = events(&driver, &failed.run);
    assert_eq!(seen, written);
    assert_eq!(view(&written).outcome, Some(RunOutcome::Answered));
}

#[tokio::test]
async fn a_run_that_has_ended_is_told_from_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let engine = process(directory.path());
    let stage = Stage::new(&NOTE, [on("0#0").reply("42.")]);
    let result = stage.ask(&engine, "Which number?").await;
    let seen = follow(engine.watch(&result.run, 0).unwrap()).await;
    assert_eq!(seen, events(&engine, &result.run));
}

#[tokio::test]
async fn a_run_that_does_not_exist_is_one_error_and_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let run = RunId::new(0, 7);
    let mut stream = process(directory.path()).watch(&run, 0).unwrap();
    let error = stream.next().await.unwrap().unwrap_err();
    expect_test::expect![[r"
        run-not-found: there is no run `RUN`
        hint: run `spelunk run list` to see the runs of this workspace"]]
    .assert_eq(&shown(&error, &run));
    assert_eq!(stream.next().await.map(|record| record.map_err(|error| error.to_string())), None);
}
