use super::*;

/// The complaints about one file, as lines without the path.
pub(crate) fn told(complaints: &[Complaint]) -> Vec<String> {
    complaints.iter().map(|complaint| format!("{}: {}", complaint.line, complaint.message)).collect()
}

pub(crate) fn file(path: &str, text: &str) -> RepoFile {
    RepoFile { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn a_complaint_names_its_place() {
    let whole = Complaint::at("a.rs", 0, "has no header");
    assert_eq!(whole.to_string(), "error: a.rs: has no header");
    let line = Complaint { line: 3, weight: Weight::Warning, ..whole };
    assert_eq!(line.to_string(), "warning: a.rs:3: has no header");
}

#[test]
fn every_check_of_a_file_is_run() {
    let untidy =
        file("crates/a/src/lib.rs", "#[derive(Serialize)]\nstruct RunManager;\nfn f() { todo!() }\n");
    assert_eq!(
        told(&check_file(&untidy)),
        [
            "1: does not open with a `//!` header: say what the file is and what it is not",
            "1: derives serde outside of `spelunk-types`, a module named `wire` and `spelunk/src/config`",
            "2: `RunManager` is named after a job (`Manager`): use a noun of docs/glossary.md",
            "3: `todo!(` is left over: finish it or take it out",
        ]
    );
}
