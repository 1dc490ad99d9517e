//! The false positive rate of the rules for secrets over real text, and their speed. Run by hand over directories:
//! `cargo bench -p spelunk-context --bench secrets -- DIR…`. Prints every find for manual review.
#![expect(
    clippy::print_stdout,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a measurement prints, reads files, and cuts where finds begin and end"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use spelunk_context::find_secrets;

/// Larger files are data.
const FILE_BYTES_MAX: u64 = 2_000_000;
/// Characters shown of a line.
const SHOWN_CHARS_MAX: usize = 160;

fn main() {
    let directories: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    let (mut n_lines, mut n_bytes, mut took) = (0, 0, Duration::ZERO);
    let mut n_of: BTreeMap<&str, u64> = BTreeMap::new();
    for path in directories.iter().flat_map(|directory| files_below(directory)) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let began = Instant::now();
        let spans = find_secrets(&text);
        took += began.elapsed();
        n_lines += text.lines().count() as u64;
        n_bytes += text.len();
        for span in spans {
            *n_of.entry(span.rule).or_default() += 1;
            let start = text[..span.bytes.start].rfind('\n').map_or(0, |at| at + 1);
            let line: String =
                text[start..].lines().next().unwrap_or_default().chars().take(SHOWN_CHARS_MAX).collect();
            println!("{} {} | {} | {}", span.rule, path.display(), &text[span.bytes], line.trim());
        }
    }
    let n_all: u64 = n_of.values().sum();
    println!("{n_lines} lines, {n_bytes} bytes in {took:?}: {n_all} finds {n_of:?}");
    println!("{} per million lines", n_all * 1_000_000 / n_lines.max(1));
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_file() && metadata.len() <= FILE_BYTES_MAX {
            files.push(path);
        } else if metadata.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path()));
        }
    }
    files
}
