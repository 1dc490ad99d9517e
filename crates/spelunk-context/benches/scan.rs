//! The cost of a scan: looking for secrets in source code, and scanning 100,000 small files, with the memory used.
//! `cargo bench -p spelunk-context --bench scan --ignore-rust-version`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, fails by panicking, and makes the files it measures"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use spelunk_context::{Corpus, ScanOptions, SourceInput, redact};

const N_FILES: usize = 100_000;
const TEXT_BYTES: usize = 64 * 1024 * 1024;

fn main() {
    // Scans run first: the peak memory of a process never decreases.
    let directory = tempfile::tempdir().unwrap();
    for n in 0..N_FILES {
        let path = directory.path().join(format!("d{:03}/e{:02}", n / 1000, n / 100 % 10));
        if n % 100 == 0 {
            fs::create_dir_all(&path).unwrap();
        }
        fs::write(path.join(format!("file-{n:06}.txt")), format!("line one of {n}\nline two\n")).unwrap();
    }
    measure_scan(directory.path(), "100,000 files, all", &ScanOptions::default());
    let options = ScanOptions { files_max: 20, ..ScanOptions::default() };
    measure_scan(directory.path(), "100,000 files, 20 kept", &options);
    let options = ScanOptions { include: vec!["*7.txt".into()], ..ScanOptions::default() };
    measure_scan(directory.path(), "100,000 files, a tenth included", &options);
    let source = own_source();
    measure_redact("source code", &source.repeat(TEXT_BYTES / source.len()));
    measure_redact("a log", &log());
}

fn measure_redact(what: &str, text: &str) {
    let begun = cpu_seconds();
    let (_, redactions) = redact(text);
    let seconds = cpu_seconds() - begun;
    let megabytes = f64::from(u32::try_from(text.len()).unwrap()) / 1e6;
    println!(
        "redact {what}: {megabytes:.0} MB, {:.0} MB/s of one core, {} found",
        megabytes / seconds,
        redactions.len()
    );
}

fn measure_scan(root: &Path, what: &str, options: &ScanOptions) {
    let before = peak_rss_kb();
    let begun = Instant::now();
    let corpus = Corpus::scan(&[SourceInput::Path(root.to_owned())], options, &mut |_| {}).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let report = &corpus.reports()[0];
    println!(
        "scan {what}: {seconds:.2} s, {} documents, {} left out, peak memory {} MB (before: {} MB)",
        report.documents,
        report.left_out_total,
        peak_rss_kb() / 1024,
        before / 1024
    );
}

/// The source of this crate, as typical input of redaction.
fn own_source() -> String {
    let mut text = String::new();
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            text += &fs::read_to_string(path).unwrap();
        }
    }
    text
}

fn log() -> String {
    let line = |n: usize| {
        format!(
            "2026-11-15T11:00:{:02}Z INFO http: GET https://api.internal/v1/items/{n} 200 user=u{n} token refreshed\n",
            n % 60
        )
    };
    (0..TEXT_BYTES / 110).map(line).collect()
}

/// CPU time of this process so far, in hundredths of a second: the machine may be shared.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |idx: usize| behind_name.split_whitespace().nth(idx)?.parse::<f64>().ok();
    (ticks(11).unwrap_or_default() + ticks(12).unwrap_or_default()) / 100.0
}

/// The peak memory of this process, if the system reports it.
fn peak_rss_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
