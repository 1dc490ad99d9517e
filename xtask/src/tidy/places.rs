//! What may occur in code, and where: serde only where formats are defined, types named after things, nothing
//! unfinished.

use super::code::{code_only, line_of, words};
use super::{Complaint, RepoFile};

/// Words for jobs. A type is named after the thing it is.
const JOB_TITLES: &[&str] = &["Manager", "Handler", "Processor", "Helper", "Helpers", "Util", "Utils"];
/// Unfinished code, and tests that do not run.
const UNFINISHED: &[&str] = &["#[ignore", "todo!(", "unimplemented!("];

/// Anything serialised is a format, and formats stay compatible: only a few places derive serde.
pub(crate) fn check_serde(file: &RepoFile) -> Vec<Complaint> {
    if may_derive_serde(&file.path) {
        return Vec::new();
    }
    let code = code_only(&file.text);
    let message = "derives serde outside of `spelunk-types`, a module named `wire` and `spelunk/src/config`";
    derives(&code)
        .filter(|(_, list)| words(list).any(|word| word == "Serialize" || word == "Deserialize"))
        .map(|(at, _)| Complaint::at(&file.path, line_of(&code, at), message))
        .collect()
}

/// Types are nouns of the glossary.
pub(crate) fn check_type_names(file: &RepoFile) -> Vec<Complaint> {
    let code = code_only(&file.text);
    let mut complaints = Vec::new();
    for (idx, line) in code.lines().enumerate() {
        let declared = words(line).skip_while(|word| !["struct", "enum", "trait"].contains(word)).nth(1);
        let Some(name) = declared else { continue };
        if let Some(title) = camel_parts(name).into_iter().find(|part| JOB_TITLES.contains(&part.as_str())) {
            let message =
                format!("`{name}` is named after a job (`{title}`): use a noun of docs/glossary.md");
            complaints.push(Complaint::at(&file.path, idx + 1, message));
        }
    }
    complaints
}

pub(crate) fn check_unfinished(file: &RepoFile) -> Vec<Complaint> {
    let code = code_only(&file.text);
    let mut complaints = Vec::new();
    for (idx, line) in code.lines().enumerate() {
        for needle in UNFINISHED.iter().filter(|needle| line.contains(**needle)) {
            let message = format!("`{needle}` is left over: finish it or take it out");
            complaints.push(Complaint::at(&file.path, idx + 1, message));
        }
    }
    complaints
}

fn may_derive_serde(path: &str) -> bool {
    path.starts_with("crates/spelunk-types/")
        || path.starts_with("crates/spelunk-app/src/config/")
        || path.split('/').any(|part| part == "wire" || part == "wire.rs")
}

/// Every `derive(…)` with its offset.
fn derives(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices("derive(").map(|(at, opening)| {
        let list = code.get(at + opening.len()..).unwrap_or_default();
        (at, list.split(')').next().unwrap_or_default())
    })
}

/// `RunManager` as `Run`, `Manager`.
fn camel_parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for c in name.chars() {
        match parts.last_mut() {
            Some(part) if !c.is_uppercase() => part.push(c),
            Some(_) | None => parts.push(c.to_string()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    const SERDE: &str =
        "derives serde outside of `spelunk-types`, a module named `wire` and `spelunk/src/config`";

    #[test]
    fn serde_is_found_outside_of_its_places() {
        let text =
            "#[derive(Debug,\n    Deserialize)]\nstruct A;\n\n#[derive(serde::Serialize)]\nstruct B;\n";
        let found = told(&check_serde(&file("crates/spelunk-engine/src/a.rs", text)));
        assert_eq!(found, [format!("1: {SERDE}"), format!("5: {SERDE}")]);
    }

    #[test]
    fn serde_is_at_home_where_formats_are() {
        let text = "#[derive(Serialize)]\nstruct A;\n";
        assert_eq!(check_serde(&file("crates/spelunk-types/src/a.rs", text)), []);
        assert_eq!(check_serde(&file("crates/spelunk-app/src/config/a.rs", text)), []);
        assert_eq!(check_serde(&file("crates/spelunk-model/src/wire/a.rs", text)), []);
        assert_eq!(check_serde(&file("crates/spelunk-engine/src/wire.rs", text)), []);
    }

    #[test]
    fn other_derives_and_mere_mentions_are_fine() {
        let text = "// derive(Serialize)\n#[derive(Debug, SerializeLike)]\nstruct A;\nconst B: &str = \"derive(Serialize)\";\n";
        assert_eq!(check_serde(&file("crates/spelunk-engine/src/a.rs", text)), []);
    }

    #[test]
    fn a_type_named_after_a_job_is_found() {
        let text = "pub(crate) struct RunManager<T>;\nenum Utils {}\npub trait CellHandler {}\nstruct Utility;\n// struct XHelper\n";
        let found = told(&check_type_names(&file("crates/a/src/a.rs", text)));
        assert_eq!(
            found,
            [
                "1: `RunManager` is named after a job (`Manager`): use a noun of docs/glossary.md",
                "2: `Utils` is named after a job (`Utils`): use a noun of docs/glossary.md",
                "3: `CellHandler` is named after a job (`Handler`): use a noun of docs/glossary.md",
            ]
        );
    }

    #[test]
    fn unfinished_code_and_tests_that_do_not_run_are_found() {
        let text =
            "fn a() { todo!() }\nfn b() { unimplemented!(\"later\") }\n#[ignore = \"slow\"]\n// todo!()\n";
        let found = told(&check_unfinished(&file("crates/a/src/a.rs", text)));
        assert_eq!(
            found,
            [
                "1: `todo!(` is left over: finish it or take it out",
                "2: `unimplemented!(` is left over: finish it or take it out",
                "3: `#[ignore` is left over: finish it or take it out",
            ]
        );
    }
}
