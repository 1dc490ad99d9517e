//! The driver: `cargo run -p spelunk-fuzz -- splitters 100000 7` feeds a target that many inputs from that seed, and
//! `-- all 60s 7` feeds all targets for that long in total. The first input that violates an invariant is printed in a
//! form suitable for a test, saved to a file, and ends the run.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use spelunk_fuzz::{Mutator, TARGETS, Target, corpus};

/// An input that takes longer than this counts as a hang.
const INPUT_TIME_MAX: Duration = Duration::from_secs(20);
/// More memory than this means that an input is a bomb: 6 kB in, and a hundred thousand times as much.
const MEMORY_KB_MAX: u64 = 800_000;

/// How long a target is fed.
#[derive(Clone, Copy)]
enum Span {
    Inputs(u64),
    /// For all targets together.
    Time(Duration),
}

impl Span {
    fn read(word: &str) -> Option<Self> {
        match word.strip_suffix('s') {
            Some(seconds) => seconds.parse().ok().map(|seconds| Self::Time(Duration::from_secs(seconds))),
            None => word.parse().ok().map(Self::Inputs),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |idx: usize, default: &'static str| arguments.get(idx).map_or(default, String::as_str);
    let wanted = word(0, "all");
    let targets: Vec<(&str, Target)> =
        TARGETS.into_iter().filter(|(name, _)| wanted == "all" || wanted == *name).collect();
    let (Some(span), Ok(seed)) = (Span::read(word(1, "10000")), word(2, "1").parse()) else { return usage() };
    let Some(n_targets) = u32::try_from(targets.len()).ok().filter(|n| *n > 0) else { return usage() };
    let span = match span {
        Span::Inputs(n_inputs) => Span::Inputs(n_inputs),
        Span::Time(time) => Span::Time(time / n_targets),
    };
    for (name, target) in targets {
        let begun = Instant::now();
        match drive(name, target, span, seed) {
            Ok(n_inputs) => {
                let took = begun.elapsed().as_secs_f64();
                say(&format!(
                    "{name}: {n_inputs} inputs from seed {seed} in {took:.1} s, all invariants kept"
                ));
            }
            Err(broken) => {
                say(&format!("{name}: {broken}"));
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    say(&format!("usage: spelunk-fuzz [all|{}] [INPUTS|SECONDSs] [SEED]", names.join("|")));
    ExitCode::from(2)
}

/// Feeds a target, and returns how many inputs it got.
fn drive(name: &str, target: Target, span: Span, seed: u64) -> Result<u64, String> {
    let mut mutator = Mutator::new(seed).with(&corpus(name));
    let mut last = Last::create(name).map_err(|error| format!("no input can be kept: {error}"))?;
    let begun = Instant::now();
    let mut n_inputs = 0;
    while match span {
        Span::Inputs(n_inputs_max) => n_inputs < n_inputs_max,
        Span::Time(time) => begun.elapsed() < time,
    } {
        let input = mutator.input();
        last.keep(&input).map_err(|error| format!("no input can be kept: {error}"))?;
        let begun = Instant::now();
        // The panic message of a target is printed as it happens.
        let is_kept = catch_unwind(AssertUnwindSafe(|| target(&input))).is_ok();
        let what = match (is_kept, begun.elapsed(), memory_kb()) {
            (false, ..) => Some("breaks an invariant"),
            (true, took, _) if took > INPUT_TIME_MAX => Some("takes too long"),
            (true, _, memory_kb) if memory_kb > MEMORY_KB_MAX => Some("takes too much memory"),
            (true, ..) => None,
        };
        if let Some(what) = what {
            let input = input.escape_ascii();
            let file = last.path.display();
            return Err(format!("input {n_inputs} of seed {seed} {what}, see {file}: b\"{input}\""));
        }
        n_inputs += 1;
    }
    last.remove();
    Ok(n_inputs)
}

/// The current input of a target, saved to a file: a stack overflow ends the process, and leaves it behind.
struct Last {
    file: File,
    path: PathBuf,
}

impl Last {
    #[expect(clippy::disallowed_methods, reason = "it is no document and not durable")]
    fn create(name: &str) -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("spelunk-fuzz-{}-{name}", std::process::id()));
        Ok(Self { file: File::create(&path)?, path })
    }

    fn keep(&mut self, input: &[u8]) -> std::io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(input)?;
        self.file.set_len(input.len() as u64)
    }

    #[expect(clippy::disallowed_methods, reason = "it was made here")]
    fn remove(self) {
        drop(std::fs::remove_file(self.path));
    }
}

/// The peak memory of this process; 0 if the system does not report it.
#[expect(clippy::disallowed_methods, reason = "the system says it in a file")]
fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}

fn say(line: &str) {
    drop(writeln!(std::io::stdout().lock(), "{line}"));
}
