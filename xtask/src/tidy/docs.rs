//! Docs: every error code is explained, every promise names existing tests, and no file names a path that exists on one
//! machine only.

use std::path::Path;

use super::code::line_of;
use super::{Complaint, RepoFile};

const ERRORS_PAGE: &str = "docs/errors.md";
const PROMISES_PAGE: &str = "docs/promises.md";
/// The threat model: one row for each thing that an attacker controls.
const SECURITY_PAGE: &str = "SECURITY.md";
/// The requirements, and the tests that show that they are met.
const COVERAGE_PAGE: &str = "docs/coverage.md";
/// How many requirements each of the documents has that the page covers: `S0.01` to `S0.10`, and so on.
const REQUIREMENTS: [usize; 5] = [10, 27, 20, 12, 28];
/// Machine-specific paths. Split in two so that this file does not match itself.
const MACHINE_PLACES: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
    concat!("C:", "\\Users\\"),
];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every error code occurs in `docs/errors.md`, in backticks.
pub(crate) fn check_errors(files: &[RepoFile], codes: &[&str]) -> Vec<Complaint> {
    let Some(page) = files.iter().find(|file| file.path == ERRORS_PAGE) else {
        return vec![Complaint::at(ERRORS_PAGE, 0, "is missing: it explains every error code")];
    };
    codes
        .iter()
        .filter(|code| !page.text.contains(&format!("`{code}`")))
        .map(|code| Complaint::at(ERRORS_PAGE, 0, format!("does not explain `{code}`")))
        .collect()
}

/// Pages name only existing files: words in backticks that begin with a folder of the repository are paths.
pub(crate) fn check_named_files(files: &[RepoFile]) -> Vec<Complaint> {
    let is_page = |file: &&RepoFile| {
        Path::new(&file.path).extension() == Some("md".as_ref()) && file.path != "CHANGELOG.md"
    };
    let mut complaints = Vec::new();
    for page in files.iter().filter(is_page) {
        for (idx, line) in page.text.lines().enumerate() {
            let named = line.split('`').skip(1).step_by(2).filter(|word| is_path(word));
            for path in named.filter(|path| !exists(files, path)) {
                complaints.push(Complaint::at(&page.path, idx + 1, format!("names no file: `{path}`")));
            }
        }
    }
    complaints
}

/// Not a pattern, a placeholder or a command.
fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let starts = ["crates/", "docs/", "fuzz/src/", "xtask/", "eval/"];
    starts.iter().any(|start| word.starts_with(start)) && word.chars().all(is_plain)
}

fn exists(files: &[RepoFile], path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

/// Every row of these pages names existing tests in its last column: `crate::modules::function`, in backticks.
pub(crate) fn check_promises(files: &[RepoFile]) -> Vec<Complaint> {
    let pages = [PROMISES_PAGE, SECURITY_PAGE, COVERAGE_PAGE];
    pages.iter().flat_map(|page| check_page_of_promises(files, page)).collect()
}

fn check_page_of_promises(files: &[RepoFile], path: &str) -> Vec<Complaint> {
    let Some(page) = files.iter().find(|file| file.path == path) else {
        return vec![Complaint::at(path, 0, "is missing: it names the test that holds each promise")];
    };
    let rows = page.text.lines().enumerate().filter(|(_, line)| line.starts_with("| "));
    let rows = rows.filter(|(_, line)| !line.ends_with("| test |") && !line.ends_with("| tests |"));
    let mut complaints = Vec::new();
    for (idx, row) in rows {
        let tests = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or_default();
        let tests: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            complaints.push(Complaint::at(path, idx + 1, "is a promise without a test"));
        }
        for test in tests.into_iter().filter(|test| !is_test(files, test)) {
            complaints.push(Complaint::at(path, idx + 1, format!("names no test: `{test}`")));
        }
    }
    complaints
}

/// The coverage page has a row for every requirement, in order.
pub(crate) fn check_coverage(files: &[RepoFile]) -> Option<Complaint> {
    let page = files.iter().find(|file| file.path == COVERAGE_PAGE)?;
    let rows = page.text.lines().filter_map(|line| line.strip_prefix("| S")?.split(' ').next());
    let required = (0..).zip(REQUIREMENTS).flat_map(|(document, n)| (1..=n).map(move |row| (document, row)));
    let required: Vec<String> = required.map(|(document, row)| format!("{document}.{row:02}")).collect();
    let message = "does not have one row for each requirement, in order";
    (!rows.eq(required.iter())).then(|| Complaint::at(COVERAGE_PAGE, 0, message))
}

/// Whether a crate has a test function of this name, in Rust or in Python.
fn is_test(files: &[RepoFile], test: &str) -> bool {
    let (Some((package, _)), Some((_, function))) = (test.split_once("::"), test.rsplit_once("::")) else {
        return false;
    };
    let folder = if package == "xtask" { "xtask/".to_owned() } else { format!("crates/{package}/") };
    let word = if package == "spelunk-python" { "def" } else { "fn" };
    let head = format!("{word} {function}(");
    files.iter().any(|file| file.path.starts_with(&folder) && file.text.contains(&head))
}

/// Finds machine-specific paths, and packages from anywhere but crates.io.
pub(crate) fn check_paths(file: &RepoFile) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for place in MACHINE_PLACES {
        for (at, _) in file.text.match_indices(place).filter(|(at, _)| starts_a_path(&file.text, *at)) {
            let message = format!("names a place on one machine (`{place}`): use a relative path");
            complaints.push(Complaint::at(&file.path, line_of(&file.text, at), message));
        }
    }
    if file.path == "Cargo.lock" {
        complaints.extend(check_lock(file));
    }
    complaints
}

fn check_lock(file: &RepoFile) -> Vec<Complaint> {
    let lines = file.text.lines().enumerate();
    lines
        .filter(|(_, line)| line.starts_with("source = ") && !line.contains(CRATES_IO))
        .map(|(idx, _)| Complaint::at(&file.path, idx + 1, "takes a package from elsewhere than crates.io"))
        .collect()
}

/// A path begins after a space or a quote; below another directory it is just a name.
fn starts_a_path(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|c| !(c.is_alphanumeric() || "._-~}/".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    #[test]
    fn a_code_that_is_not_explained_is_found() {
        let page = [file("docs/errors.md", "| `bug` | ours |\n")];
        assert_eq!(told(&check_errors(&page, &["bug", "cancelled"])), ["0: does not explain `cancelled`"]);
        assert_eq!(told(&check_errors(&[], &["bug"])), ["0: is missing: it explains every error code"]);
    }

    #[test]
    fn a_page_that_names_a_file_that_is_gone_is_found() {
        let page = "See `crates/a/src/b.rs`, `crates/a`, `crates/*/src` and `cargo test`.\nAnd `crates/a/src/c.rs`.\n";
        let files = [file("docs/a.md", page), file("crates/a/src/b.rs", "")];
        assert_eq!(told(&check_named_files(&files)), ["2: names no file: `crates/a/src/c.rs`"]);
    }

    #[test]
    fn a_promise_without_a_test_is_found() {
        let page = "| promise | test |\n|---|---|\n| It works. | `spelunk-engine::runs::it_works` |\n\
                    | It is `fast`. | `spelunk-engine::runs::it_is_fast`, `xtask::it_works` |\n| It is small. | soon |\n";
        let source = file("crates/spelunk-engine/tests/runs.rs", "async fn it_works() {}");
        let threats =
            "| they try | what holds | tests |\n|---|---|---|\n| this | that | `xtask::it_holds` |\n";
        let files = [
            file("docs/promises.md", page),
            file("SECURITY.md", threats),
            file("docs/coverage.md", ""),
            source,
        ];
        let expected = [
            "4: names no test: `spelunk-engine::runs::it_is_fast`",
            "4: names no test: `xtask::it_works`",
            "5: is a promise without a test",
            "3: names no test: `xtask::it_holds`",
        ];
        assert_eq!(told(&check_promises(&files)), expected);
        assert_eq!(
            told(&check_promises(&[])),
            ["0: is missing: it names the test that holds each promise"; 3]
        );
    }

    #[test]
    fn a_requirement_that_is_not_covered_is_found() {
        let row = |document: usize, row: usize| format!("| S{document}.{row:02} | it | there | `a::b` |\n");
        let rows = (0..).zip(REQUIREMENTS).flat_map(|(document, n)| (1..=n).map(move |n| row(document, n)));
        let rows: Vec<String> = rows.collect();
        assert_eq!(check_coverage(&[file(COVERAGE_PAGE, &rows.concat())]), None);
        let told = told(check_coverage(&[file(COVERAGE_PAGE, &rows[1..].concat())]).as_slice());
        assert_eq!(told, ["0: does not have one row for each requirement, in order"]);
    }

    #[test]
    fn a_place_on_one_machine_is_found() {
        let [home, ..] = MACHINE_PLACES else { unreachable!("there are places") };
        let text = format!("cd x\ncat {home}me/a.txt and docs{home}b.md\n");
        let expected = format!("2: names a place on one machine (`{home}`): use a relative path");
        assert_eq!(told(&check_paths(&file("a.md", &text))), [expected]);
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let text = format!("source = \"{CRATES_IO}\"\nsource = \"registry+https://elsewhere.test/index\"\n");
        let expected = ["2: takes a package from elsewhere than crates.io"];
        assert_eq!(told(&check_paths(&file("Cargo.lock", &text))), expected);
    }
}
