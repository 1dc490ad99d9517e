//! What documents of hostile shapes cost in memory: one huge line, empty lines, nothing but headings, a table of a hundred
//! thousand columns. Each is scanned and planned in a process of its own, and the most memory that process ever had is held
//! against a ceiling. `cargo bench -p spelunk-context --bench shapes --ignore-rust-version`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, fails by panicking, and makes the files it measures"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use spelunk_context::{Corpus, Detector, Mode, PlanOptions, ScanOptions, SourceInput, View, plan};
use spelunk_types::Limits;

/// What a process needs before it has read anything.
const BASE_KB: u64 = 12 * 1024;

/// A name, a text, and what its plan may take, in hundredths of its size.
type Shape = (&'static str, fn() -> String, u64);

const SHAPES: [Shape; 4] = [
    ("line.txt", || "abcdefghi ".repeat(10_000_000), 120),
    ("empty.txt", || "\n".repeat(20_000_000), 180),
    ("headings.md", || "# a\n".repeat(5_000_000), 180),
    ("wide.csv", wide, 140),
];

fn wide() -> String {
    let head: Vec<String> = (0..100_000).map(|n| format!("c{n}")).collect();
    let row = format!("{}1\n", "1,".repeat(99_999));
    format!("{}\n{}", head.join(","), row.repeat(80))
}

fn main() {
    let mut named = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    if let Some(path) = named.next() {
        return measure(Path::new(&path));
    }
    let directory = tempfile::tempdir().unwrap();
    for (name, text, share_max) in SHAPES {
        let path = directory.path().join(name);
        let text = text();
        fs::write(&path, &text).unwrap();
        let output = Command::new(std::env::current_exe().unwrap()).arg(&path).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let peak_kb: u64 = said.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap();
        let size_kb = text.len() as u64 / 1024;
        let share = peak_kb.saturating_sub(BASE_KB) * 100 / size_kb;
        println!("{name}: {size_kb} kB, {}, {share} hundredths of its size", said.trim());
        assert!(share <= share_max, "{name} takes more than {share_max} hundredths of its size");
    }
}

/// Scans and plans, and prints the memory that took.
fn measure(path: &Path) {
    let source = SourceInput::Path(path.to_owned());
    let corpus = Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}).unwrap();
    let (limits, detector) = (Limits::default(), Detector::default());
    let options = PlanOptions { limits, detector, mode: Mode::ByType, files_left_out: 0 };
    let plan = plan(&View::of(Arc::new(corpus)), &options);
    println!("{} kB at most for {} tasks", peak_rss_kb(), plan.tasks.len());
}

fn peak_rss_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
