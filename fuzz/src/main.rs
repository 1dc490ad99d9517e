//! The driver: `cargo run -p spelunk-fuzz -- splitters 100000 7` feeds a target that many inputs from that seed. The
//! first input that breaks an invariant is printed, in a form that a test can hold, and ends the run.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use spelunk_fuzz::{Mutator, TARGETS, Target};

/// An input that takes longer than this is one that does not end.
const INPUT_TIME_MAX: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |idx: usize, default: u64| match arguments.get(idx) {
        None => Some(default),
        Some(word) => word.parse().ok(),
    };
    let wanted = arguments.first().map_or("all", String::as_str);
    let targets: Vec<&(&str, Target)> =
        TARGETS.iter().filter(|(name, _)| wanted == "all" || wanted == *name).collect();
    let (Some(n_inputs), Some(seed)) = (number(1, 10_000), number(2, 1)) else { return usage() };
    if targets.is_empty() {
        return usage();
    }
    for (name, target) in targets {
        if let Err(broken) = drive(*target, n_inputs, seed) {
            say(&format!("{name}: {broken}"));
            return ExitCode::FAILURE;
        }
        say(&format!("{name}: {n_inputs} inputs from seed {seed}, all invariants kept"));
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    say(&format!("usage: spelunk-fuzz [all|{}] [INPUTS] [SEED]", names.join("|")));
    ExitCode::from(2)
}

fn drive(target: Target, n_inputs: u64, seed: u64) -> Result<(), String> {
    let mut mutator = Mutator::new(seed);
    for idx in 0..n_inputs {
        let input = mutator.input();
        let begun = Instant::now();
        // What a target says when it panics is printed as it does.
        let kept = catch_unwind(AssertUnwindSafe(|| target(&input))).is_ok();
        let took = begun.elapsed();
        if !kept || took > INPUT_TIME_MAX {
            let what = if kept { "takes too long" } else { "breaks an invariant" };
            return Err(format!("input {idx} of seed {seed} {what}: b\"{}\"", input.escape_ascii()));
        }
    }
    Ok(())
}

fn say(line: &str) {
    drop(writeln!(std::io::stdout().lock(), "{line}"));
}
