//! Docs and text: every error code is explained, and no file names a place that exists on one machine only.

use super::code::line_of;
use super::{Complaint, RepoFile};

const ERRORS_PAGE: &str = "docs/errors.md";
/// Where the files of one machine are. Written in two parts so that this file does not complain about itself.
const MACHINE_PLACES: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
    concat!("C:", "\\Users\\"),
];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every error code stands in `docs/errors.md`, in backticks.
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

/// Paths of somebody's machine, and packages from elsewhere than crates.io.
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

/// A path begins after a space or a quote; below another directory it is only a name.
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
