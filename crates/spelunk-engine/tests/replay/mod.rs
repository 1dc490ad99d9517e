//! Replay: a run is a program and a journal. A seed generates a program that uses every kind of external input, kills
//! the process at some writes, and gives each later process different delays, replies and budgets. None of them
//! diverges, and the journal alone yields the same answer again.

mod doors;
mod program;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use spelunk_engine::{Clock, EngineError, RunResult, SystemClock};
use spelunk_testkit::{Crash, FaultDisk, on, status};
use spelunk_types::{Event, EventKind, FrameId, RunId, RunOutcome, Strategy};

use crate::stage::{Dice, PATIENCE, Stage, engine_on, events, only_run};
use program::Cells;

const N_FIXED_SEEDS: u64 = 40;
const N_FRESH_SEEDS: u64 = 5;
const N_CRASHES_MAX: u64 = 3;
const CALLS_MAX: u64 = 1_000;
const FILES: [(&str, &str); 2] =
    [("a.md", "Alpha is first.\nAlpha is red.\n"), ("b.md", "Beta is second.\nBeta is blue.\n")];

/// `SPELUNK_SEED=7 cargo test -p spelunk-engine replay` runs only that seed.
#[tokio::test]
async fn a_program_of_every_door_never_diverges_and_its_journal_alone_gives_its_answer() {
    let seeds: Vec<u64> = match std::env::var("SPELUNK_SEED") {
        Ok(seed) => vec![seed.parse().expect("SPELUNK_SEED is a number")],
        Err(_) => {
            let now_ms = SystemClock.now_ms();
            (0..N_FIXED_SEEDS).chain((0..N_FRESH_SEEDS).map(|idx| now_ms * N_FRESH_SEEDS + idx)).collect()
        }
    };
    let (mut n_crashes, mut n_limits) = (0, 0);
    for seed in &seeds {
        let played = AssertUnwindSafe(play(*seed)).catch_unwind().await;
        let (n_died, n_stopped) = played.unwrap_or_else(|_| {
            panic!("reproduce with: SPELUNK_SEED={seed} cargo test -p spelunk-engine replay::a_program")
        });
        (n_crashes, n_limits) = (n_crashes + n_died, n_limits + n_stopped);
    }
    // Enough processes must die and hit limits for this to show anything.
    let is_enough = n_crashes >= seeds.len() / 2 && n_limits >= seeds.len() / 10;
    assert!(is_enough || seeds.len() == 1, "{n_crashes} crashes, {n_limits} limits in {} runs", seeds.len());
}

/// Runs one seed through its crashes; returns how often the process died, and how often a limit stopped it.
async fn play(seed: u64) -> (usize, usize) {
    let mut dice = Dice(seed);
    let cells = Cells::roll(&mut dice);
    let mut disk = FaultDisk::sound();
    // Kept to the end: the journal refers to the documents of the process that started the run.
    let (mut stages, mut n_died, mut n_stopped) = (Vec::new(), 0, 0);
    for n_before in 0..=dice.below(N_CRASHES_MAX) {
        let dying = Arc::new(disk.dying_at(1 + dice.below(60)));
        let known = only_run(&dying.files());
        let calls_max = if dice.below(2) == 0 { 3 * (n_before + 1) + dice.below(4) } else { 500 };
        let process = stage(&cells, &mut dice, calls_max);
        let ended = go_on(&process, &dying, known.as_ref()).await;
        stages.push(process);
        if !dying.is_dead() {
            match ended {
                Ok(ended) if matches!(ended.outcome, RunOutcome::Partial { .. }) => {
                    // A limit stopped it; a later process has a higher one.
                    n_stopped += 1;
                    disk = copy_of(&dying);
                    continue;
                }
                Ok(ended) => check(&cells, &dying, ended, calls_max).await,
                Err(EngineError::LimitNotRaised { .. }) => {
                    disk = copy_of(&dying);
                    continue;
                }
                // It died after its end.
                Err(EngineError::Finished { .. }) => {}
                Err(error) => panic!("{error}\n{}", cells.code()),
            }
            return (n_died, n_stopped);
        }
        n_died += 1;
        disk = dying.after(if dice.below(2) == 0 { Crash::Torn } else { Crash::LostTail });
        if journal_is_empty(&disk) {
            disk = FaultDisk::sound();
        }
    }
    let disk = Arc::new(disk);
    let known = only_run(&disk.files());
    let last = stage(&cells, &mut dice, CALLS_MAX);
    let ended = go_on(&last, &disk, known.as_ref()).await;
    match ended {
        Ok(ended) => check(&cells, &disk, ended, CALLS_MAX).await,
        Err(EngineError::Finished { .. }) => {}
        Err(error) => panic!("{error}\n{}", cells.code()),
    }
    (n_died, n_stopped)
}

/// A process with its own delays, replies and budget.
fn stage(cells: &Cells, dice: &mut Dice, calls_max: u64) -> Stage {
    let mut stage = Stage::new(&FILES, cells.rules(dice));
    stage.strategy = Strategy::Repl;
    stage.limits.cell_ms_max = 200;
    stage.limits.calls_parallel_max = 1 + dice.below(6);
    stage.limits.calls_max = calls_max;
    stage.limits.retries_max = 0;
    stage
}

async fn go_on(stage: &Stage, disk: &Arc<FaultDisk>, run: Option<&RunId>) -> Result<RunResult, EngineError> {
    let engine = engine_on(disk.clone());
    let handle = match run {
        Some(run) => stage.resume(&engine, run),
        None => stage.start(&engine, "What is there?"),
    };
    Ok(tokio::time::timeout(PATIENCE, handle?.join()).await.expect("a run ends"))
}

fn journal_is_empty(disk: &FaultDisk) -> bool {
    let copy = copy_of(disk);
    only_run(&copy.files()).is_none_or(|run| events(&engine_on(Arc::new(copy)), &run).is_empty())
}

/// The events, one per line.
fn facts_of(events: &[Event]) -> String {
    spelunk_testkit::facts(events).join("\n")
}

fn copy_of(disk: &FaultDisk) -> FaultDisk {
    let copy = FaultDisk::sound();
    for (name, bytes) in &disk.files() {
        copy.put(name, bytes);
    }
    copy
}

/// The run has its answer, and the journal without its end yields the same one from a server that never answers.
async fn check(cells: &Cells, disk: &Arc<FaultDisk>, ended: RunResult, calls_max: u64) {
    let answer = match (ended.answer, ended.error) {
        (Some(answer), _) => answer,
        (None, error) => panic!("{error:?}\n{}", cells.code()),
    };
    let written = events(&engine_on(disk.clone()), &ended.run);
    let is_end =
        |event: &Event| event.frame == FrameId::root() && matches!(event.kind, EventKind::FrameClosed { .. });
    let end = written.iter().rposition(is_end).expect("an answer closes the root");
    if written[end..].iter().any(|event| matches!(event.kind, EventKind::RunResumed { .. })) {
        // It died between its answer and its end; without the answer, the rest is a run of the previous process.
        return;
    }
    let facts = written[..end].iter().map(|event| (event.frame.clone(), event.kind.clone())).collect();
    let name = format!("runs/{}/journal.jsonl", ended.run);
    let bare = FaultDisk::sound();
    for (name, bytes) in disk.files().iter().filter(|(other, _)| **other != name) {
        bare.put(name, bytes);
    }
    let engine = engine_on(Arc::new(bare));
    engine.workspace().create_journal(&ended.run).append(written[0].at_ms, facts).unwrap();
    let mut silent = Stage::new(&FILES, [on("*").always(status(400))]);
    silent.strategy = Strategy::Repl;
    // A higher one would allow calls that were refused.
    silent.limits.calls_max = calls_max;
    let result = silent.resume(&engine, &ended.run).unwrap().join().await;
    let text = result.answer.map(|answer| answer.text);
    let shown = || format!("{:?}\n{}\n{}", result.error, cells.code(), facts_of(&written));
    assert_eq!(text.as_deref(), Some(answer.text.as_str()), "{}", shown());
    assert_eq!(silent.server.requests().len(), 0, "{}", cells.code());
}
