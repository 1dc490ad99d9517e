//! Code that exhausts time, memory or stack. The host survives each, it ends as expected and in time, and the next
//! session works normally.

mod list;

use std::time::{Duration, Instant};

use spelunk_sandbox::{CellEnd, InterpreterError, Sandbox, Setup};

use crate::scene::{Backend, Session, setup};
use list::{BOMBS, Bomb};

/// Time limit for bombs that take time. The watchdog's grace period is added to it.
const HASTY_MS: u64 = 700;
/// CPU limit for bombs that take memory.
const PATIENT_MS: u64 = 10_000;
/// The deadline for a bomb: the time of a cell, the grace period, and room for a busy machine.
const OVER_WITHIN: Duration = Duration::from_secs(90);

fn limits(bomb: &Bomb) -> Setup {
    let mut setup = setup();
    setup.limits.cell_ms_max = if bomb.takes_time { HASTY_MS } else { PATIENT_MS };
    setup.limits.memory_bytes_max = 128 << 20;
    setup
}

/// How a cell ended, in a word.
fn outcome(sandbox: &Sandbox, bomb: &Bomb) -> String {
    let mut session = Session::open(sandbox, &limits(bomb));
    match session.run_to_end(bomb.code).1 {
        Ok(CellEnd::Done { .. }) => "done".into(),
        Ok(CellEnd::Finished { .. }) => "finished".into(),
        Ok(CellEnd::Raised { raised, .. }) => raised.kind,
        Err(InterpreterError::Unresponsive { ms }) => {
            assert_eq!(ms, limits(bomb).limits.cell_ms_max + 2_000);
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
        let outcome = outcome(&sandbox, bomb);
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
