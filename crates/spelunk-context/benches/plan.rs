//! The cost of a plan: scans and plans 1 GB in 10,000 files of every type, or the named directories, and measures the
//! memory used. `cargo bench -p spelunk-context --bench plan --ignore-rust-version [-- PATH …]`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, fails by panicking, and makes the files it measures"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use spelunk_context::{Corpus, Detector, Mode, PlanOptions, ScanOptions, SourceInput, View, plan};
use spelunk_types::Limits;

const N_FILES: usize = 10_000;
const FILE_BYTES: [usize; 5] = [2_000, 20_000, 60_000, 120_000, 300_000];

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    for path in &named {
        measure(Path::new(path));
    }
    if named.is_empty() {
        let directory = tempfile::tempdir().unwrap();
        generate(directory.path());
        measure(directory.path());
    }
}

fn measure(root: &Path) {
    let (begun, cpu_begun) = (Instant::now(), cpu_seconds());
    let source = SourceInput::Path(root.to_owned());
    let corpus = Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}).unwrap();
    let (scanned, cpu_scanned) = (begun.elapsed().as_secs_f64(), cpu_seconds() - cpu_begun);
    let (bytes, n_documents) = (corpus.bytes(), corpus.documents().len());
    let options = PlanOptions {
        limits: Limits::default(),
        detector: Detector::default(),
        mode: Mode::ByType,
        files_left_out: 0,
    };
    let plan = plan(&View::of(Arc::new(corpus)), &options);
    let (all, cpu_all) = (begun.elapsed().as_secs_f64(), cpu_seconds() - cpu_begun);
    let megabytes = f64::from(u32::try_from(bytes / 1000).unwrap()) / 1e3;
    println!("{}: {n_documents} documents, {megabytes:.0} MB, {} tasks", root.display(), plan.tasks.len());
    println!("  scan {scanned:.2} s ({cpu_scanned:.2} s of processor), {:.0} MB/s", megabytes / scanned);
    let (planned, cpu_planned) = (all - scanned, cpu_all - cpu_scanned);
    println!("  plan {planned:.2} s ({cpu_planned:.2} s of processor), {:.0} MB/s", megabytes / planned);
    println!("  both {all:.2} s, {:.0} MB/s, peak memory {} MB", megabytes / all, peak_rss_kb() / 1024);
    let mut by_type: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for row in &plan.manifest {
        let (n_files, n_chunks) = by_type.entry(row.detected.content_type.name()).or_default();
        (*n_files, *n_chunks) = (*n_files + 1, *n_chunks + row.n_chunks);
    }
    for (name, (n_files, n_chunks)) in by_type {
        println!("  {name}: {n_files} files, {n_chunks} chunks");
    }
}

/// Files of every type in a hundred directories, a fifth of them of each size.
fn generate(root: &Path) {
    for n in 0..N_FILES {
        let directory = root.join(format!("d{:02}", n / 100));
        if n % 100 == 0 {
            fs::create_dir_all(&directory).unwrap();
        }
        let (extension, unit): (&str, fn(usize) -> String) = match n % 20 {
            0..=3 => ("rs", rust),
            4..=6 => ("py", python),
            7 | 8 => ("ts", typescript),
            9 | 10 => ("csv", |n| format!("{n},name {n},\"a, b\",{}.5,2026-01-01\n", n % 100)),
            11 | 12 => ("json", json),
            13 | 14 => ("jsonl", record),
            15 | 16 => ("log", log),
            17 | 18 => ("md", prose),
            _ => ("toml", |n| format!("[section{n}]\nkey = \"value {n}\"\nport = {n}\n\n")),
        };
        let bytes = FILE_BYTES[n / 20 % FILE_BYTES.len()] * 199 / 200;
        let mut text = match extension {
            "csv" => "id,name,note,amount,day\n".to_owned(),
            "json" => "[".to_owned(),
            _ => String::new(),
        };
        for unit_idx in n.. {
            if text.len() >= bytes {
                break;
            }
            text += &unit(unit_idx);
        }
        if extension == "json" {
            text += "{}]";
        }
        fs::write(directory.join(format!("file-{n:05}.{extension}")), text).unwrap();
    }
}

fn rust(n: usize) -> String {
    format!(
        "/// Says {n}.\npub fn function_{n}(value: u64) -> Option<u64> {{\n    let sum = value.checked_add({n})?;\n    if sum > 10 {{\n        return None;\n    }}\n    Some(sum)\n}}\n\n"
    )
}

fn python(n: usize) -> String {
    format!(
        "def function_{n}(value):\n    \"\"\"Says {n}.\"\"\"\n    total = value + {n}\n    if total > 10:\n        return None\n    return total\n\n\n"
    )
}

fn typescript(n: usize) -> String {
    format!(
        "export function call{n}(value: number): number | null {{\n  const total = value + {n};\n  return total > 10 ? null : total;\n}}\n\n"
    )
}

fn json(n: usize) -> String {
    format!(
        "{{\"id\": {n}, \"name\": \"item {n}\", \"tags\": [\"a\", \"b\"], \"size\": {{\"w\": {n}, \"h\": 2}}}},\n"
    )
}

fn record(n: usize) -> String {
    format!(
        "{{\"ts\": {n}, \"level\": \"info\", \"msg\": \"request {n} done\", \"status\": 200, \"ms\": {}}}\n",
        n % 50
    )
}

fn log(n: usize) -> String {
    format!(
        "2026-11-15T11:00:{:02}Z INFO http: GET https://api.internal/v1/items/{n} 200 user=u{n}\n",
        n % 60
    )
}

fn prose(n: usize) -> String {
    format!(
        "## Part {n}\n\nSome words about part {n}, which are long enough\nto fill a line or two. And one more sentence.\n\n"
    )
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
