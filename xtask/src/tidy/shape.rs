//! The shape of a source file: it has a header, and is not too long.

use super::{Complaint, RepoFile, Weight};

/// Longer files get a warning.
const LINES_WARN: usize = 500;
/// Longer files fail.
const LINES_MAX: usize = 800;

/// All source together, tests not counted. Whoever raises it says why in the commit.
const ALL_LINES_MAX: usize = 128_990;

/// Source files start with a `//!` header. Test files need none.
pub(crate) fn check_header(file: &RepoFile) -> Option<Complaint> {
    if !is_source(file) || is_test(&file.path) || file.text.starts_with("//!") {
        return None;
    }
    let message = "does not open with a `//!` header: say what the file is and what it is not";
    Some(Complaint::at(&file.path, 1, message))
}

pub(crate) fn check_length(file: &RepoFile) -> Option<Complaint> {
    if !is_source(file) || is_test(&file.path) {
        return None;
    }
    let n_lines = lines_without_tests(&file.text);
    if n_lines <= LINES_WARN {
        return None;
    }
    let weight = if n_lines > LINES_MAX { Weight::Failure } else { Weight::Warning };
    let message = format!("has {n_lines} lines without tests, more than {LINES_WARN}: split it by subject");
    Some(Complaint { weight, ..Complaint::at(&file.path, 0, message) })
}

pub(crate) fn check_total(files: &[RepoFile]) -> Option<Complaint> {
    let n_lines: usize = files.iter().map(source_lines).sum();
    let message =
        format!("the source has {n_lines} lines without tests, more than {ALL_LINES_MAX}: remove some");
    (n_lines > ALL_LINES_MAX).then(|| Complaint::at("Cargo.toml", 0, message))
}

/// The lines of a source file without its tests; 0 for other files.
pub(crate) fn source_lines(file: &RepoFile) -> usize {
    let is_counted = file.path.contains("/src/") && file.is_rust() && !is_test(&file.path);
    if is_counted { lines_without_tests(&file.text) } else { 0 }
}

/// Tests are at the end of a file, so counting stops where they begin.
fn lines_without_tests(text: &str) -> usize {
    text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count()
}

fn is_source(file: &RepoFile) -> bool {
    let is_ours = file.path.starts_with("crates/") || file.path.starts_with("xtask/");
    is_ours && file.path.contains("/src/") && file.is_rust()
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    #[test]
    fn source_that_has_grown_is_found() {
        let small = file("crates/a/src/b.rs", "fn f() {}\n");
        let grown = file("crates/a/src/c.rs", &"\n".repeat(ALL_LINES_MAX));
        assert_eq!(check_total(std::slice::from_ref(&small)), None);
        let n_lines = ALL_LINES_MAX + 1;
        let message =
            format!("the source has {n_lines} lines without tests, more than {ALL_LINES_MAX}: remove some");
        assert_eq!(check_total(&[small, grown]), Some(Complaint::at("Cargo.toml", 0, &message)));
    }

    #[test]
    fn a_source_file_without_a_header_is_found() {
        let bare = "use std::fmt;\n";
        let message = "does not open with a `//!` header: say what the file is and what it is not";
        let path = "crates/a/src/b.rs";
        assert_eq!(check_header(&file(path, bare)), Some(Complaint::at(path, 1, message)));
        assert_eq!(check_header(&file(path, "//! Fine.\n")), None);
        assert_eq!(check_header(&file("crates/a/src/b/tests.rs", bare)), None);
        assert_eq!(check_header(&file("crates/a/tests/main.rs", bare)), None);
    }

    #[test]
    fn a_long_file_warns_and_a_very_long_one_fails() {
        let path = "xtask/src/b.rs";
        let check = |n_lines: usize| check_length(&file(path, &"x\n".repeat(n_lines)));
        let message =
            |n_lines: usize| format!("has {n_lines} lines without tests, more than 500: split it by subject");
        assert_eq!(check(500), None);
        let warning = Complaint { weight: Weight::Warning, ..Complaint::at(path, 0, message(501)) };
        assert_eq!(check(501), Some(warning));
        assert_eq!(check(801), Some(Complaint::at(path, 0, message(801))));
    }

    #[test]
    fn tests_at_the_end_of_a_file_do_not_count() {
        let text = format!("x\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(900));
        assert_eq!(check_length(&file("crates/a/src/b.rs", &text)), None);
    }
}
