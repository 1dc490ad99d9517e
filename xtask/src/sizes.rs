//! `cargo xtask sizes`: lines of source by crate, and seconds of `rustc` by package once a build has been timed with
//! `cargo build --release --timings`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tidy::{RepoFile, say, source_lines};

/// How many packages are shown; the others are one line.
const SHOWN: usize = 25;

#[expect(clippy::disallowed_methods, reason = "a chore reads what cargo wrote, where cargo wrote it")]
pub(crate) fn run(root: &Path, files: &[RepoFile]) -> Result<(), String> {
    let lines = lines_by_crate(files);
    say("lines of source, tests not counted");
    for (name, n_lines) in largest_first(&lines) {
        say(&format!("{n_lines:>8}  {name}"));
    }
    say(&format!("{:>8}  all", lines.values().sum::<usize>()));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let Ok(page) = std::fs::read_to_string(target.join("cargo-timings/cargo-timing.html")) else {
        say(
            "no timings: run `cargo build --release --timings --ignore-rust-version` in an empty target directory",
        );
        return Ok(());
    };
    let seconds = seconds_by_package(&page).ok_or("the page of timings is in an unknown format")?;
    say("\nseconds of rustc in the last timed build");
    let text = |tenths: u64| format!("{:>6}.{}", tenths / 10, tenths % 10);
    let packages = largest_first(&seconds);
    for (name, tenths) in packages.iter().take(SHOWN) {
        say(&format!("{}  {name}", text(*tenths)));
    }
    let others = packages.iter().skip(SHOWN).map(|(_, tenths)| tenths).sum();
    say(&format!("{}  {} others", text(others), packages.len().saturating_sub(SHOWN)));
    say(&format!("{}  all", text(seconds.values().sum())));
    Ok(())
}

fn largest_first<N: Copy + Ord>(sizes: &BTreeMap<String, N>) -> Vec<(&str, N)> {
    let mut sizes: Vec<(&str, N)> = sizes.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    sizes
}

fn lines_by_crate(files: &[RepoFile]) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for file in files {
        let Some((directory, _)) = file.path.split_once("/src/") else { continue };
        let name = directory.rsplit('/').next().unwrap_or(directory);
        *lines.entry(name.to_owned()).or_default() += source_lines(file);
    }
    lines.retain(|_, n_lines| *n_lines > 0);
    lines
}

/// Cargo writes its measurements into the page as JSON. Tenths of seconds.
fn seconds_by_package(page: &str) -> Option<BTreeMap<String, u64>> {
    let (_, rest) = page.split_once("const UNIT_DATA = ")?;
    let (json, _) = rest.split_once(";\n")?;
    let units: Vec<Value> = serde_json::from_str(json).ok()?;
    let mut seconds = BTreeMap::new();
    for unit in &units {
        let (name, duration) = (unit["name"].as_str()?, unit["duration"].as_f64()?);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a build takes hours at most"
        )]
        let tenths = (duration * 10.0).round() as u64;
        *seconds.entry(name.to_owned()).or_default() += tenths;
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_crate_and_without_tests() {
        let file = |path: &str, text: &str| RepoFile { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("crates/a/src/lib.rs", "//! A.\n\nmod b;\n"),
            file("crates/a/src/b.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n}\n"),
            file("crates/a/src/b/tests.rs", "fn g() {}\n"),
            file("crates/a/tests/main.rs", "mod c;\n"),
            file("fuzz/src/lib.rs", "//! F.\n"),
            file("docs/a.md", "text\n"),
        ];
        assert_eq!(lines_by_crate(&files), BTreeMap::from([("a".to_owned(), 4), ("fuzz".to_owned(), 1)]));
    }

    #[test]
    fn the_seconds_of_all_units_of_a_package_are_added_up() {
        let page = "<script>\nconst UNIT_DATA = [\n  {\"name\": \"a\", \"duration\": 1.25},\n  {\"name\": \"b\", \"duration\": 3},\n  {\"name\": \"a\", \"duration\": 0.5}\n];\nconst X = [];\n";
        let expected = BTreeMap::from([("a".to_owned(), 18), ("b".to_owned(), 30)]);
        assert_eq!(seconds_by_package(page), Some(expected));
        assert_eq!(seconds_by_package("<html>"), None);
    }
}
