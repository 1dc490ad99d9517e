//! Simulation: a seed decides the documents, the provider's faults, the number of parallel calls, and when the disk
//! dies, several times per run. The run always ends as it would have without a crash.

mod oracles;
mod plan;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use spelunk_engine::{Clock, Engine, RunHandle, SystemClock};
use spelunk_testkit::FaultDisk;
use spelunk_types::{Event, RunId};

use crate::stage::{Stage, engine_in, engine_on, events, only_run, survey, view};
use oracles::{Ledger, check_end};
use plan::{CrashPlan, Plan};

const N_FIXED_SEEDS: u64 = 60;
const N_FRESH_SEEDS: u64 = 5;
const QUESTION: &str = "What is there?";

/// `SPELUNK_SEED=7 cargo test -p spelunk-engine simulation` runs only that seed.
#[tokio::test]
async fn every_seed_ends_as_it_would_have_without_crashes() {
    let seeds: Vec<u64> = match std::env::var("SPELUNK_SEED") {
        Ok(seed) => vec![seed.parse().expect("SPELUNK_SEED is a number")],
        Err(_) => {
            let now_ms = SystemClock.now_ms();
            (0..N_FIXED_SEEDS).chain((0..N_FRESH_SEEDS).map(|idx| now_ms * N_FRESH_SEEDS + idx)).collect()
        }
    };
    let mut n_crashes = 0;
    for seed in &seeds {
        let simulated = AssertUnwindSafe(simulate(*seed)).catch_unwind().await;
        n_crashes += simulated.unwrap_or_else(|_| {
            panic!("reproduce with: SPELUNK_SEED={seed} cargo test -p spelunk-engine simulation")
        });
    }
    // Enough disks must die for this to simulate anything.
    assert!(n_crashes * 2 >= seeds.len() || seeds.len() == 1, "{n_crashes} crashes in {} runs", seeds.len());
}

/// Runs one seed with and without its crashes; returns how often the disk died.
async fn simulate(seed: u64) -> usize {
    let plan = Plan::from_seed(seed);
    let undisturbed = stage(&plan);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = undisturbed.ask(&engine, QUESTION).await;
    let expected = events(&engine, &result.run);
    check_end(&plan, &undisturbed.server, &expected, &expected, 0);

    let stage = stage(&plan);
    let (n_crashes, crashed) = run_through_crashes(&plan, &stage).await;
    check_end(&plan, &stage.server, &crashed, &expected, n_crashes);
    n_crashes
}

fn stage(plan: &Plan) -> Stage {
    let files = plan.files();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut stage = Stage::new(&files, plan.rules());
    stage.limits.calls_parallel_max = plan.n_parallel;
    stage.cache_replies = plan.cache_replies;
    stage.program = Some(survey());
    stage
}

/// Starts the run and resumes it on what each crash leaves, until it has ended.
async fn run_through_crashes(plan: &Plan, stage: &Stage) -> (usize, Vec<Event>) {
    let mut disk = FaultDisk::sound();
    let mut ledger = Ledger::default();
    for (n_crashes, CrashPlan { at_write, leaves }) in plan.crashes.iter().enumerate() {
        let dying = Arc::new(disk.dying_at(*at_write));
        let known = only_run(&dying.files());
        if let Ok(handle) = go_on(stage, &engine_in(plan.mode, dying.clone()), known.as_ref()) {
            handle.join().await;
        }
        if !dying.is_dead() {
            let run = only_run(&dying.files()).expect("a run that ended was started");
            let ended = events(&engine_on(dying), &run);
            ledger.check(&stage.server, &ended);
            return (n_crashes, ended);
        }
        disk = dying.after(*leaves);
        let survivors = journal(&disk);
        ledger.check(&stage.server, &survivors);
        if view(&survivors).outcome.is_some() {
            return (n_crashes + 1, survivors);
        }
        if survivors.is_empty() {
            // Nothing of the start survived: there is no run to resume.
            disk = FaultDisk::sound();
        }
    }
    let disk = Arc::new(disk);
    let engine = engine_in(plan.mode, disk.clone());
    let known = only_run(&disk.files());
    let result = go_on(stage, &engine, known.as_ref()).expect("a sound disk refuses nothing").join().await;
    let ended = events(&engine, &result.run);
    ledger.check(&stage.server, &ended);
    (plan.crashes.len(), ended)
}

fn go_on(
    stage: &Stage,
    engine: &Engine,
    run: Option<&RunId>,
) -> Result<RunHandle, spelunk_engine::EngineError> {
    match run {
        Some(run) => stage.resume(engine, run),
        None => stage.start(engine, QUESTION),
    }
}

fn journal(disk: &FaultDisk) -> Vec<Event> {
    let files = disk.files();
    let copy = FaultDisk::sound();
    for (name, bytes) in &files {
        copy.put(name, bytes);
    }
    only_run(&files).map(|run| events(&engine_on(Arc::new(copy)), &run)).unwrap_or_default()
}
