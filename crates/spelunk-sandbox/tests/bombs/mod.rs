//! Code that exhausts time, memory or stack. The host survives each, it ends as expected and in time, and the next
//! session works normally.

mod list;

use std::time::{Duration, Instant};

use spelunk_sandbox::{CellEnd, InterpreterError, Sandbox, Setup};

use crate::scene::{Backend, Session, setup};
use list::{BOMBS, Bomb};

/// Time limit for bombs that end by it. The watchdog's grace period is added to it.
const HASTY_MS: u64 = 700;
/// CPU limit for all others, which a busy machine must not reach.
const PATIENT_MS: u64 = 10_000;
/// The deadline for a bomb: the time of a cell, the grace period, and room for a busy machine.
const OVER_WITHIN: Duration = Duration::from_secs(90);

fn limits(expected: &str) -> Setup {
    let mut setup = setup();
    let ends_by_time = expected.contains("TimeoutError") || expected.contains("killed");
    setup.limits.cell_ms_max = if ends_by_time { HASTY_MS } else { PATIENT_MS };
    setup.limits.memory_bytes_max = 128 << 20;
    setup
}

/// How a cell ended, in a word.
fn outcome(sandbox: &Sandbox, bomb: &Bomb, limits: &Setup) -> String {
    let mut session = Session::open(sandbox, limits);
    match session.run_to_end(bomb.code).1 {
        Ok(CellEnd::Done { .. }) => "done".into(),
        Ok(CellEnd::Finished { .. }) => "finished".into(),
        Ok(CellEnd::Raised { raised, .. }) => raised.kind,
        Err(InterpreterError::Unresponsive { ms }) => {
            assert_eq!(ms, limits.limits.cell_ms_max + 2_000);
            "killed".into()
        }
        Err(other) => other.to_string(),
    }
}

fn explode_all(backend: Backend, expected: fn(&Bomb) -> &'static str) {
    let Some(sandbox) = backend.sandbox() else { return };
    let mut wrong = Vec::new();
    for bomb in BOMBS {
        let start = Instant::now();
        let outcome = outcome(&sandbox, bomb, &limits(expected(bomb)));
        let elapsed = start.elapsed();
        if !expected(bomb).split(" or ").any(|ending| ending == outcome) || elapsed > OVER_WITHIN {
            wrong.push(format!("{}: {outcome}, not {} ({elapsed:?})", bomb.code, expected(bomb)));
        }
        assert_eq!(Session::open(&sandbox, &setup()).run("1 + 1"), "2\n= done", "after {}", bomb.code);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_worker_survives_every_bomb_or_is_replaced() {
    explode_all(Backend::Worker, |bomb| bomb.monty);
}

#[test]
fn the_cpython_worker_survives_every_bomb_or_is_replaced() {
    explode_all(Backend::Cpython, |bomb| bomb.cpython);
}
