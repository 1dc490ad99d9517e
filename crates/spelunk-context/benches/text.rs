//! A large text as Python sees it: `re.findall` over it compared with `rg -o`, its length, and slices at random
//! offsets, in ASCII and beyond. Every measurement runs in its own process, so start-up counts for both sides and peak
//! memory is that of one operation. Prints one table; exits with 1 if a target is missed. `SPELUNK_BENCH_MB` sets the
//! size of the file (default 1000), `SPELUNK_BENCH_ROUNDS` how often each command runs (default 5); the best round
//! counts. Each waits a while for other programs to become idle.
#![expect(clippy::disallowed_methods, reason = "a bench makes its own file and reads its own settings")]
#![expect(clippy::print_stdout, reason = "a bench prints a table")]

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use spelunk_context::{Flags, LazyText, MatchCursor, PyPattern, Reader};

/// At most this many times slower than `rg -o`.
const RATIO_MAX: f64 = 1.5;
/// In addition to the results.
const PEAK_MB_MAX: f64 = 64.0;
const SLICES: u64 = 1000;

const PATTERNS: [&str; 8] = [
    "connection reset by peer",
    "status=50[0-9]",
    r"user=(?:ada|grace) ",
    r"user=\w+ .*status=50[0-9] took [5-9]\d\dms",
    r"\b9{3}ms\b",
    r"took \d+ms connection",
    r"id=\S+00 status",
    r"(?i)CONNECTION RESET",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--one", what, path] => one(what, Path::new(path)),
        arguments if arguments.contains(&"--bench") => return compare(),
        _ => println!("run with `cargo bench -p spelunk-context --bench text`"),
    }
    ExitCode::SUCCESS
}

/// Runs one operation in this process; prints the number of results, their memory and the cost.
fn one(what: &str, path: &Path) {
    let begun = Instant::now();
    let text = LazyText::over(Reader::open(path).expect("the file was just made"));
    let (n_found, result_bytes) = match what {
        "open" => (text.slice(0..80).expect("text").len() as u64, 0),
        "len" => (text.chars().expect("text"), 0),
        "slices" => (slices(&text), 0),
        pattern => {
            let pattern = PyPattern::compile(pattern, Flags::NONE).expect("a right pattern");
            let found = text.re_findall(&pattern, MatchCursor::default(), u64::MAX, u64::MAX).expect("text");
            let bytes = found.items.capacity() * size_of_val(&found.items[0]) + found.items.len() * 32;
            (found.items.len() as u64, bytes as u64)
        }
    };
    println!("{n_found} {result_bytes} {} {}", begun.elapsed().as_micros(), peak_kb());
}

/// Slices at the same offsets in every run; the first one builds the index.
fn slices(text: &LazyText) -> u64 {
    let n_chars = text.chars().expect("text");
    let (mut state, mut n_bytes) = (0x9E37_79B9_7F4A_7C15_u64, 0);
    for _ in 0..SLICES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let start = state % n_chars;
        n_bytes += text.slice(start..start + 1000).expect("text").len() as u64;
    }
    n_bytes
}

/// The peak memory of this process, including its own code.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0)
}

/// The best of several runs of one operation.
#[derive(Debug, Clone, Copy)]
struct Best {
    process: Duration,
    inside: Duration,
    n_found: u64,
    /// Without the results.
    peak_mb: f64,
}

fn run_one(what: &str, path: &Path) -> Best {
    let program = std::env::current_exe().expect("this program has a path");
    wait_for_quiet();
    let begun = Instant::now();
    let output = Command::new(program).arg("--one").arg(what).arg(path).output().expect("this program runs");
    let process = begun.elapsed();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [n_found, result_bytes, micros, kilobytes] = numbers[..] else { panic!("`{what}` said: {text}") };
    let kilobytes = u32::try_from(kilobytes.saturating_sub(result_bytes / 1024)).unwrap_or(u32::MAX);
    Best { process, inside: Duration::from_micros(micros), n_found, peak_mb: f64::from(kilobytes) / 1024.0 }
}

/// The time that `rg -o` takes, with its output discarded.
fn run_rg(pattern: &str, path: &Path) -> Option<Duration> {
    wait_for_quiet();
    let begun = Instant::now();
    let mut command = Command::new("rg");
    command.args(["--no-config", "-o", "-N", pattern]).arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok()?;
    Some(begun.elapsed())
}

/// Waits, up to a limit, until nothing else runs: one of the two sides uses all cores and would compete with other
/// programs.
fn wait_for_quiet() {
    const QUIET: Duration = Duration::from_millis(50);
    const WAIT_MAX: Duration = Duration::from_secs(4);
    let begun = Instant::now();
    let mut quiet_since = begun;
    while quiet_since.elapsed() < QUIET && begun.elapsed() < WAIT_MAX {
        std::thread::sleep(Duration::from_millis(5));
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let n_running = stat.lines().find_map(|line| line.strip_prefix("procs_running "));
        if n_running.is_some_and(|n_running| n_running != "1") {
            quiet_since = Instant::now();
        }
    }
}

fn compare() -> ExitCode {
    let number = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (megabytes, rounds) = (number("SPELUNK_BENCH_MB", 1000_u64), number("SPELUNK_BENCH_ROUNDS", 5));
    let directory =
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the target directory is writable");
    let (ascii, beyond) = (directory.path().join("ascii.log"), directory.path().join("beyond.log"));
    generate(&ascii, megabytes * 1_000_000, "ada").expect("there is room on the disk");
    generate(&beyond, megabytes * 1_000_000, "Åsa Ähn 😀").expect("there is room on the disk");
    println!("{megabytes} MB of log lines, best of {rounds}, whole processes");
    let is_kept = compare_patterns(&ascii, rounds)
        & measure(&ascii, "ASCII", rounds)
        & measure(&beyond, "beyond", rounds);
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compare_patterns(path: &Path, rounds: u64) -> bool {
    println!(
        "\n{:<48}{:>9}{:>9}{:>7}{:>10}{:>9}",
        "findall", "ours ms", "rg ms", "ratio", "found", "peak MB"
    );
    let has_rg = Command::new("rg").arg("--version").output().is_ok_and(|output| output.status.success());
    let mut is_kept = true;
    for pattern in PATTERNS {
        let (mut ours, mut theirs): (Option<Best>, Option<Duration>) = (None, None);
        for _ in 0..rounds {
            let run = run_one(pattern, path);
            ours = ours.filter(|best| best.process < run.process).or(Some(run));
            if has_rg && let Some(elapsed) = run_rg(pattern, path) {
                theirs = theirs.filter(|best| *best < elapsed).or(Some(elapsed));
            }
        }
        let ours = ours.expect("there is a round");
        let ratio = theirs.map(|theirs| ours.process.as_secs_f64() / theirs.as_secs_f64());
        let is_fine = ratio.is_none_or(|ratio| ratio <= RATIO_MAX) && ours.peak_mb <= PEAK_MB_MAX;
        is_kept &= is_fine;
        println!(
            "{pattern:<48}{:>9.1}{:>9}{:>7}{:>10}{:>9.1}{}",
            ms(ours.process),
            theirs.map_or("-".to_owned(), |theirs| format!("{:.1}", ms(theirs))),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            ours.n_found,
            ours.peak_mb,
            if is_fine { "" } else { "  BROKEN" },
        );
    }
    is_kept
}

fn measure(path: &Path, name: &str, rounds: u64) -> bool {
    println!("\n{name:<28}{:>9}{:>9}{:>12}{:>9}", "ms", "process", "found", "peak MB");
    let mut is_kept = true;
    for what in ["open", "len", "slices"] {
        let best =
            (0..rounds).map(|_| run_one(what, path)).min_by_key(|run| run.inside).expect("there is a round");
        let is_fine = best.peak_mb <= PEAK_MB_MAX;
        is_kept &= is_fine;
        let title = if what == "slices" { format!("len and {SLICES} slices") } else { what.to_owned() };
        println!(
            "{title:<28}{:>9.2}{:>9.1}{:>12}{:>9.1}",
            ms(best.inside),
            ms(best.process),
            best.n_found,
            best.peak_mb
        );
    }
    is_kept
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Log lines that never repeat, the same in every run. About one in a thousand has the rare words.
fn generate(path: &Path, bytes_min: u64, first_name: &str) -> std::io::Result<()> {
    const VERBS: [&str; 8] = ["GET", "PUT", "POST", "HEAD", "PATCH", "DELETE", "TRACE", "OPTIONS"];
    let names = [first_name, "grace", "edsger", "barbara", "donald", "leslie", "tony", "niklaus"];
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut state, mut n_bytes) = (0x9E37_79B9_7F4A_7C15_u64, 0);
    while n_bytes < bytes_min {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let bits =
            |shift: u32, n_bits: u32| usize::try_from((state >> shift) & ((1 << n_bits) - 1)).unwrap_or(0);
        let status = [200, 200, 200, 200, 301, 404, 500, 503][bits(0, 3)];
        let (second, took) = (bits(3, 6) % 60, bits(9, 10));
        let note = if bits(20, 10) == 7 { " connection reset by peer" } else { "" };
        let line = format!(
            "2024-03-1{}T12:{:02}:{second:02}Z {} /api/v2/items/{:x} user={} id={state:016x} status={status} took {took}ms{note}\n",
            bits(30, 3),
            bits(33, 5),
            VERBS[bits(38, 3)],
            bits(41, 12),
            names[bits(53, 3)],
        );
        n_bytes += line.len() as u64;
        file.write_all(line.as_bytes())?;
    }
    file.flush()
}
