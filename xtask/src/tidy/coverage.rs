//! `docs/coverage.txt` has a line for each requirement of the five source documents: its number, its subject,
//! where it is implemented, and its tests. A test whose name begins with the row's number (`s0_03_`) need not
//! be listed. `cargo xtask coverage` writes the page `docs/coverage.md` from it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use super::docs::is_test;
use super::{Complaint, RepoFile, say};

const LIST: &str = "docs/coverage.txt";
const PAGE: &str = "docs/coverage.md";
/// How many rows each of the five documents has.
const ROWS: [usize; 5] = [10, 27, 20, 12, 28];
const HEAD: &str = "# Coverage

Every row of the five documents that Spelunk grew from: what it asks for, where it is, and the test that shows it. Where
something is done in another way, [from-the-papers.md](from-the-papers.md) says where and why.
`cargo xtask coverage` writes this page from `docs/coverage.txt` and from the names of tests (`s0_03_…` shows row S0.3);
`cargo xtask tidy` checks it.

| row | subject | where | shown by |
|---|---|---|---|
";

/// Every row of the five documents is listed, in order, with an existing test or the reason why it
/// differs; the page is up to date.
pub(crate) fn check(files: &[RepoFile]) -> Vec<Complaint> {
    let (page, mut complaints) = page(files);
    if files.iter().find(|file| file.path == PAGE).is_none_or(|file| file.text != page) {
        complaints.push(Complaint::at(PAGE, 0, "is out of date: run `cargo xtask coverage`"));
    }
    complaints
}

#[expect(clippy::disallowed_methods, reason = "chores write the repository itself")]
pub(crate) fn run(root: &Path, files: &[RepoFile]) -> ExitCode {
    let (page, complaints) = page(files);
    for complaint in &complaints {
        say(&complaint.to_string());
    }
    match std::fs::write(root.join(PAGE), page) {
        Ok(()) if complaints.is_empty() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("could not write `{PAGE}`: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn page(files: &[RepoFile]) -> (String, Vec<Complaint>) {
    let list = files.iter().find(|file| file.path == LIST).map_or("", |file| &file.text);
    let numbered = numbered_tests(files);
    let mut expected = ROWS.iter().enumerate().flat_map(|(document, n_rows)| {
        (1..=*n_rows).map(move |row| (format!("S{document}.{row:02}"), format!("s{document}_{row:02}")))
    });
    let (mut page, mut complaints) = (HEAD.to_owned(), Vec::new());
    for (idx, line) in list.lines().enumerate() {
        let mut complain = |message: String| complaints.push(Complaint::at(LIST, idx + 1, message));
        let fields: Vec<&str> = line.split(" | ").collect();
        let (Some((row, prefix)), [number, subject, place, shown]) = (expected.next(), &fields[..]) else {
            complain("is no row: `NUMBER | subject | where | tests`".to_owned());
            continue;
        };
        if row != *number {
            complain(format!("is not row {row}: every row stands once and in order"));
        }
        let tests = shown.split(", ").filter(|test| test.contains("::"));
        for test in tests.clone().filter(|test| !is_test(files, test)) {
            complain(format!("names no test: `{test}`"));
        }
        let own = numbered.get(&prefix).map_or(&[][..], Vec::as_slice);
        let mut all: Vec<String> = own.iter().copied().chain(tests).map(|test| format!("`{test}`")).collect();
        all.extend(shown.starts_with("differs: ").then(|| (*shown).to_owned()));
        if all.is_empty() {
            complain(format!("has neither a test `{prefix}_…` nor `differs: where and why`"));
        }
        page += &format!("| {number} | {subject} | {place} | {} |\n", all.join(", "));
    }
    complaints.extend(expected.map(|(row, _)| Complaint::at(LIST, 0, format!("has no row {row}"))));
    (page, complaints)
}

/// The tests whose names begin with the number of a row, by that number.
fn numbered_tests(files: &[RepoFile]) -> BTreeMap<String, Vec<&str>> {
    let mut tests: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let lines = files.iter().filter(|file| file.is_rust()).flat_map(|file| file.text.lines());
    for line in lines.map(|line| line.trim_start().trim_start_matches("async ")) {
        let Some(name) = line.strip_prefix("fn ").and_then(|line| line.split_once('(')).map(|(name, _)| name)
        else {
            continue;
        };
        if let [b's', b'0'..=b'4', b'_', b'0'..=b'9', b'0'..=b'9', b'_', ..] = name.as_bytes() {
            tests.entry(name.chars().take(5).collect::<String>()).or_default().push(name);
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    #[test]
    fn a_row_without_a_test_and_a_missing_row_are_found() {
        let list = "S0.01 | a | `b` | spelunk::cli::it_works\nS0.02 | c | `d` | \nS0.03 | e | `f` | differs: no\n\
                    S0.05 | g | `h` | spelunk::cli::gone\n";
        let source = "fn it_works() {}\n    async fn s0_01_it_begins() {}\n";
        let files = [file(LIST, list), file("crates/spelunk/tests/cli.rs", source)];
        let (page, complaints) = page(&files);
        let expected = [
            "2: has neither a test `s0_02_…` nor `differs: where and why`",
            "4: is not row S0.04: every row stands once and in order",
            "4: names no test: `spelunk::cli::gone`",
            "0: has no row S0.05",
        ];
        assert_eq!(told(&complaints)[..4], expected);
        assert_eq!(complaints.len(), 3 + ROWS.iter().sum::<usize>() - 4);
        let first =
            "| S0.01 | a | `b` | `s0_01_it_begins`, `spelunk::cli::it_works` |\n| S0.02 | c | `d` |  |\n";
        assert!(page.strip_prefix(HEAD).is_some_and(|rest| rest.starts_with(first)), "{page}");
        assert_eq!(told(&check(&files)).last().unwrap(), "0: is out of date: run `cargo xtask coverage`");
    }
}
