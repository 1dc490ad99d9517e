//! Reading a large file: searching it compared with `rg`, opening it, and counting its lines. Every measurement runs in
//! its own process, so start-up counts for both sides and peak memory is that of one operation. Prints one table; exits
//! with 1 if a target is missed. `SPELUNK_BENCH_MB` sets the size of the file (default 1000), `SPELUNK_BENCH_ROUNDS`
//! how often each command runs (default 7); the best round counts. Each waits a while for other programs to become
//! idle.
#![expect(clippy::disallowed_methods, reason = "a bench makes its own file and reads its own settings")]
#![expect(clippy::print_stdout, reason = "a bench prints a table")]

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use spelunk_context::{Extent, GrepQuery, Reader};

/// At most this many times slower than `rg`.
const RATIO_MAX: f64 = 1.2;
/// How much a search for the first matches may read.
const FIRST_MB_MAX: u64 = 8;
const GREP_MB_MAX: f64 = 64.0;
const OPEN_MB_MAX: f64 = 32.0;
const OPEN_MS_MAX: f64 = 50.0;

const LITERAL: &str = "connection reset by peer";
const COMMON: &str = "status=200";
const REGEX: &str = r"user=\w+ .*status=50[0-9] took [5-9]\d\dms";
const ABSENT: &str = "no such words anywhere";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--one", what, path] => one(what, Path::new(path)),
        arguments if arguments.contains(&"--bench") => return compare(),
        _ => println!("run with `cargo bench -p spelunk-context --bench reading`"),
    }
    ExitCode::SUCCESS
}

/// A search, for this crate and for `rg`.
struct Search {
    what: &'static str,
    rg: &'static [&'static str],
}

const SEARCHES: [Search; 8] = [
    Search { what: "count literal", rg: &["-c", LITERAL] },
    Search { what: "count common literal", rg: &["-c", COMMON] },
    Search { what: "count absent literal", rg: &["-c", ABSENT] },
    Search { what: "count regex", rg: &["-c", REGEX] },
    Search { what: "count any case", rg: &["-c", "-i", LITERAL] },
    Search { what: "count and show 20, literal", rg: &["-c", LITERAL] },
    Search { what: "first 20 literal", rg: &["-n", "-C2", "-m20", LITERAL] },
    Search { what: "first 20 common literal", rg: &["-n", "-C2", "-m20", COMMON] },
];

/// The query for a name in the table.
fn query(what: &str) -> GrepQuery {
    let (pattern, case_sensitive, matches_max, extent) = match what {
        "count literal" => (LITERAL, true, 0, Extent::Whole),
        "count common literal" => (COMMON, true, 0, Extent::Whole),
        "count absent literal" => (ABSENT, true, 20, Extent::Whole),
        "count regex" => (REGEX, true, 0, Extent::Whole),
        "count any case" => (LITERAL, false, 0, Extent::Whole),
        "count and show 20, literal" => (LITERAL, true, 20, Extent::Whole),
        "first 20 literal" => (LITERAL, true, 20, Extent::FirstMatches),
        _ => (COMMON, true, 20, Extent::FirstMatches),
    };
    GrepQuery { case_sensitive, matches_max, extent, ..GrepQuery::new(pattern) }
}

/// Runs one operation in this process; prints its result and its cost.
fn one(what: &str, path: &Path) {
    let begun = Instant::now();
    let reader = Reader::open(path).expect("the file was just made");
    let (n_found, bytes_read) = match what {
        "open, head and last page" => {
            let head = reader.peek(10, 100).expect("text");
            let tail = reader.slice(reader.bytes().saturating_sub(5000)..reader.bytes()).expect("text");
            (head.lines_shown + tail.lines().count() as u64, 0)
        }
        "count lines" => (reader.n_lines().expect("text"), reader.bytes()),
        "last page by its number" => {
            let n_lines = reader.n_lines().expect("text");
            let page = reader.page((n_lines - 1) / 50, 50).expect("text");
            (page.line_end, reader.bytes())
        }
        _ => {
            let report = reader.grep(&query(what), &AtomicBool::new(false)).expect("text");
            (report.n_matches, report.bytes_scanned)
        }
    };
    let micros = begun.elapsed().as_micros();
    println!("{n_found} {bytes_read} {micros} {}", peak_kb());
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
    bytes_read: u64,
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
    let [n_found, bytes_read, micros, kilobytes] = numbers[..] else { panic!("`{what}` said: {text}") };
    let peak_mb = f64::from(u32::try_from(kilobytes).unwrap_or(u32::MAX)) / 1024.0;
    Best { process, inside: Duration::from_micros(micros), n_found, bytes_read, peak_mb }
}

/// The time that `rg` takes, and the number it printed if it counts.
fn run_rg(arguments: &[&str], path: &Path) -> Option<(Duration, Option<u64>)> {
    wait_for_quiet();
    let begun = Instant::now();
    let mut command = Command::new("rg");
    command.arg("--no-config").args(arguments).arg(path).stderr(Stdio::null());
    let output = command.output().ok()?;
    let elapsed = begun.elapsed();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = if text.is_empty() { Some(0) } else { text.trim().parse().ok() };
    Some((elapsed, count.filter(|_| arguments.contains(&"-c"))))
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
    let (megabytes, rounds) = (number("SPELUNK_BENCH_MB", 1000_u64), number("SPELUNK_BENCH_ROUNDS", 7));
    let directory =
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the target directory is writable");
    let path = directory.path().join("large.log");
    generate(&path, megabytes * 1_000_000).expect("there is room on the disk");
    let has_rg = Command::new("rg").arg("--version").output().is_ok_and(|output| output.status.success());
    println!("{megabytes} MB of log lines, best of {rounds}, whole processes");
    if !has_rg {
        println!("`rg` is not installed: no ratios (install it with `apt-get install ripgrep`)");
    }
    let mut is_kept = compare_searches(&path, rounds, has_rg);
    is_kept &= measure_opening(&path, rounds);
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compare_searches(path: &Path, rounds: u64, has_rg: bool) -> bool {
    println!(
        "\n{:<28}{:>9}{:>9}{:>7}{:>10}{:>10}{:>9}",
        "search", "ours ms", "rg ms", "ratio", "found", "read MB", "peak MB"
    );
    let mut is_kept = true;
    for search in &SEARCHES {
        let (mut ours, mut theirs): (Option<Best>, Option<Duration>) = (None, None);
        for _ in 0..rounds {
            let run = run_one(search.what, path);
            ours = ours.filter(|best| best.process < run.process).or(Some(run));
            if let Some((elapsed, count)) = run_rg(search.rg, path).filter(|_| has_rg) {
                theirs = theirs.filter(|best| *best < elapsed).or(Some(elapsed));
                assert!(count.is_none_or(|count| count == run.n_found), "`{}` counts {count:?}", search.what);
            }
        }
        let ours = ours.expect("there is a round");
        let ratio = theirs.map(|theirs| ours.process.as_secs_f64() / theirs.as_secs_f64());
        let read_mb = ours.bytes_read / 1_000_000;
        // A search that ends after a few milliseconds is judged by how little it read.
        let is_fast = if search.what.starts_with("first") {
            read_mb <= FIRST_MB_MAX
        } else {
            ratio.is_none_or(|ratio| ratio <= RATIO_MAX)
        };
        let is_fast = is_fast && ours.peak_mb <= GREP_MB_MAX;
        is_kept &= is_fast;
        println!(
            "{:<28}{:>9.1}{:>9}{:>7}{:>10}{:>10}{:>9.1}{}",
            search.what,
            ms(ours.process),
            theirs.map_or("-".to_owned(), |theirs| format!("{:.1}", ms(theirs))),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            ours.n_found,
            read_mb,
            ours.peak_mb,
            if is_fast { "" } else { "  BROKEN" },
        );
    }
    is_kept
}

fn measure_opening(path: &Path, rounds: u64) -> bool {
    println!("\n{:<28}{:>9}{:>9}{:>10}{:>9}", "reading", "ms", "process", "found", "peak MB");
    let mut is_kept = true;
    for what in ["open, head and last page", "count lines", "last page by its number"] {
        let runs = (0..rounds).map(|_| run_one(what, path));
        let best = runs.min_by_key(|run| run.inside).expect("there is a round");
        let is_quick = what != "open, head and last page" || ms(best.inside) <= OPEN_MS_MAX;
        let is_fine = is_quick && best.peak_mb <= OPEN_MB_MAX;
        is_kept &= is_fine;
        println!(
            "{what:<28}{:>9.2}{:>9.1}{:>10}{:>9.1}{}",
            ms(best.inside),
            ms(best.process),
            best.n_found,
            best.peak_mb,
            if is_fine { "" } else { "  BROKEN" },
        );
    }
    is_kept
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Log lines that never repeat, the same in every run. About one in a thousand has the rare words.
fn generate(path: &Path, bytes_min: u64) -> std::io::Result<()> {
    const VERBS: [&str; 8] = ["GET", "PUT", "POST", "HEAD", "PATCH", "DELETE", "TRACE", "OPTIONS"];
    const NAMES: [&str; 8] = ["ada", "grace", "edsger", "barbara", "donald", "leslie", "tony", "niklaus"];
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
            NAMES[bits(53, 3)],
        );
        n_bytes += line.len() as u64;
        file.write_all(line.as_bytes())?;
    }
    file.flush()
}
