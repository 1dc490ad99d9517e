//! The memory cost of long documents with hostile shapes: one huge line, empty lines, only headings, a table of a
//! hundred thousand columns. Each is scanned and planned in its own process, whose peak memory is compared with a
//! ceiling. `cargo bench -p spelunk-context --bench shapes --ignore-rust-version`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, fails by panicking, and makes the files it measures"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use spelunk_context::{Corpus, Detector, Mode, PlanOptions, ScanOptions, SourceInput, View, plan};
use spelunk_types::Limits;

/// A name, a line, how many MB of it, and the memory in MB that scanning and planning it may use. Beyond 32 MiB that
/// depends on the segments and no longer on the size.
type Shape = (&'static str, fn() -> String, u64, u64);

const SHAPES: [Shape; 7] = [
    ("line.txt", || "abcdefghi ".to_owned(), 30, 80),
    ("long-line.txt", || "abcdefghi ".to_owned(), 256, 80),
    ("lines.txt", || "abcdefghi\n".to_owned(), 256, 120),
    ("empty.txt", || "\n".to_owned(), 60, 80),
    ("headings.md", || "# a\n".to_owned(), 256, 120),
    ("records.jsonl", || "{\"id\": 1, \"name\": \"a\"}\n".to_owned(), 256, 120),
    ("wide.csv", wide, 256, 100),
];

const MB: u64 = 1_000_000;

fn wide() -> String {
    format!("{}1\n", "1,".repeat(99_999))
}

fn main() {
    let mut named = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    if let Some(path) = named.next() {
        return measure(Path::new(&path));
    }
    let directory = tempfile::tempdir().unwrap();
    for (name, line, size_mb, peak_mb_max) in SHAPES {
        let path = directory.path().join(name);
        write(&path, &line(), size_mb * MB);
        let output = Command::new(std::env::current_exe().unwrap()).arg(&path).output().unwrap();
        fs::remove_file(&path).unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let peak_mb: u64 = said.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap();
        println!("{name} of {size_mb} MB: {}", said.trim());
        assert!(peak_mb <= peak_mb_max, "{name} takes more than {peak_mb_max} MB");
    }
}

/// Fills a file with a repeated line.
fn write(path: &Path, line: &str, bytes: u64) {
    let lines = line.repeat(1_000_000_usize.div_ceil(line.len()));
    let mut file = fs::File::create(path).unwrap();
    for _ in 0..bytes / lines.len() as u64 {
        file.write_all(lines.as_bytes()).unwrap();
    }
}

/// Scans and plans, and prints the memory used.
fn measure(path: &Path) {
    let source = SourceInput::Path(path.to_owned());
    let corpus = Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}).unwrap();
    let (limits, detector) = (Limits::default(), Detector::default());
    let options = PlanOptions { limits, detector, mode: Mode::ByType, files_left_out: 0 };
    let plan = plan(&View::of(Arc::new(corpus)), &options);
    println!("{} MB at most for {} tasks", peak_rss_kb() * 1024 / MB, plan.tasks.len());
}

fn peak_rss_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
