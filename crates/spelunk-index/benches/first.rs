//! The first search over a folder without an index, compared with `rg` for the same words: both as whole processes, in
//! turn, and the best round counts. Over the named directories, or over fifty copies of this crate and its neighbours.
//! A ratio of processor time, which other programs affect less, above the target fails the bench.
//! `cargo bench -p spelunk-index --bench first --ignore-rust-version [-- DIRECTORY …]`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, fails by panicking, and makes the files it measures"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use spelunk_context::{Corpus, Detector, ScanOptions, SourceInput, View};
use spelunk_index::{Notice, Query, search_by_reading};

const RATIO_MAX: f64 = 2.0;
const N_ROUNDS: usize = 5;
const N_COPIES: usize = 50;
/// Rare words, and words that are in most files.
const QUERIES: [&str; 3] = ["retry policy timeout", "zanzibar expedition", "return value error"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--one", query, root] => {
            one(query, Path::new(root));
            ExitCode::SUCCESS
        }
        arguments => {
            let mut roots: Vec<PathBuf> =
                arguments.iter().filter(|word| !word.starts_with("--")).map(PathBuf::from).collect();
            let copies = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            if roots.is_empty() {
                let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
                (0..N_COPIES).for_each(|n| copy(source, &copies.path().join(format!("copy{n}"))));
                roots.push(copies.path().to_owned());
            }
            let kept: Vec<bool> = roots.iter().map(|root| compare(root)).collect();
            if kept.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
    }
}

/// One search in this process; prints what it cost.
fn one(query: &str, root: &Path) {
    let query = Query::new(query);
    let begun = Instant::now();
    let sources = [SourceInput::Path(root.to_owned())];
    let corpus = Corpus::scan_for(query.needles(), &sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    let scanned = begun.elapsed();
    let view = View::of(Arc::new(corpus));
    let because = Notice::NotIndexed { bytes: view.bytes(), is_building: false };
    let found = search_by_reading(&view, &query, &Detector::default(), because).unwrap();
    println!(
        "{} files, {} MB: scan {:.2} s of {:.2} s, {} MB of memory, first {}",
        view.documents().len(),
        view.bytes() / 1_000_000,
        scanned.as_secs_f64(),
        begun.elapsed().as_secs_f64(),
        peak_kb() / 1000,
        found.hits.first().map_or("-".to_owned(), |hit| format!("{}:{}", hit.document, hit.line_start)),
    );
}

fn compare(root: &Path) -> bool {
    let program = std::env::current_exe().unwrap();
    let mut is_kept = true;
    for query in QUERIES {
        let mut ours = Command::new(&program);
        ours.args(["--one", query]).arg(root).stdout(Stdio::null());
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "--count", "--ignore-case"]);
        rg.args(query.split(' ').flat_map(|word| ["-e", word])).arg(root).stdout(Stdio::null());
        let (mut best, mut best_rg) = (Cost::MAX, Cost::MAX);
        for _ in 0..N_ROUNDS {
            best = best.min(Cost::of(&mut ours));
            best_rg = best_rg.min(Cost::of(&mut rg));
        }
        let ratio = best.cpu_s / best_rg.cpu_s;
        let mark = if ratio <= RATIO_MAX { "" } else { "  BROKEN" };
        is_kept &= ratio <= RATIO_MAX;
        println!(
            "`{query}`: {:.2} s, rg {:.2} s; of processor time {:.2} s, rg {:.2} s, {ratio:.2} times (<= {RATIO_MAX}){mark}",
            best.clock_s, best_rg.clock_s, best.cpu_s, best_rg.cpu_s,
        );
        ours.stdout(Stdio::inherit()).status().unwrap();
    }
    is_kept
}

/// What a process cost.
#[derive(Clone, Copy)]
struct Cost {
    clock_s: f64,
    cpu_s: f64,
}

impl Cost {
    const MAX: Self = Self { clock_s: f64::MAX, cpu_s: f64::MAX };

    fn of(command: &mut Command) -> Self {
        let (begun, cpu_begun) = (Instant::now(), children_cpu_seconds());
        command.status().expect("`rg` is installed");
        Self { clock_s: begun.elapsed().as_secs_f64(), cpu_s: children_cpu_seconds() - cpu_begun }
    }

    fn min(self, other: Self) -> Self {
        Self { clock_s: self.clock_s.min(other.clock_s), cpu_s: self.cpu_s.min(other.cpu_s) }
    }
}

/// The processor time of all processes that this one has waited for.
fn children_cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    after_name.skip(13).take(2).map(|ticks| ticks.parse::<f64>().unwrap_or(0.0) / 100.0).sum()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let path = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &path);
        } else {
            fs::copy(entry.path(), path).unwrap();
        }
    }
}

/// The peak memory of this process.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
