//! Orphaned files: a `.rs` file that no `mod` line reaches is neither compiled nor tested, and
//! nobody notices. Also: one integration test binary per crate, because each one costs a link step.

use std::collections::BTreeSet;

use super::code::code_only;
use super::{Complaint, RepoFile};

pub(crate) fn check(files: &[RepoFile]) -> Vec<Complaint> {
    let rust: Vec<&RepoFile> = files.iter().filter(|file| file.is_rust()).collect();
    let mut complaints = Vec::new();
    for root in crate_roots(files) {
        complaints.extend(check_tree(&rust, &format!("{root}/src/"), &["lib.rs", "main.rs"]));
        complaints.extend(check_tree(&rust, &format!("{root}/tests/"), &["main.rs"]));
        complaints.extend(rust.iter().filter_map(|file| second_binary(&file.path, &root)));
    }
    complaints
}

/// The directories that contain a package.
fn crate_roots(files: &[RepoFile]) -> Vec<String> {
    files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml")).map(str::to_owned).collect()
}

fn second_binary(path: &str, root: &str) -> Option<Complaint> {
    let name = path.strip_prefix(root)?.strip_prefix("/tests/")?;
    if name.contains('/') || name == "main.rs" {
        return None;
    }
    let module = name.strip_suffix(".rs").unwrap_or(name);
    let message =
        format!("is a test binary of its own: move it to `tests/{module}/mod.rs`, under `tests/main.rs`");
    Some(Complaint::at(path, 0, message))
}

/// Files below a directory that cannot be reached from its entry files, and additional test binaries.
fn check_tree(rust: &[&RepoFile], directory: &str, entries: &[&str]) -> Vec<Complaint> {
    let below: Vec<&RepoFile> =
        rust.iter().copied().filter(|file| file.path.starts_with(directory)).collect();
    let entries: Vec<String> = entries.iter().map(|entry| format!("{directory}{entry}")).collect();
    let reached = reached(&below, &entries);
    below
        .iter()
        .filter(|file| !reached.contains(file.path.as_str()))
        .filter(|file| {
            directory.ends_with("/src/") || file.path.matches('/').count() > directory.matches('/').count()
        })
        .map(|file| Complaint::at(&file.path, 0, "is reached by no `mod` line: nothing compiles it"))
        .collect()
}

fn reached<'a>(files: &[&'a RepoFile], entries: &[String]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<String> = entries.to_vec();
    while let Some(path) = waiting.pop() {
        let Some(file) = files.iter().find(|file| file.path == path) else { continue };
        if reached.insert(file.path.as_str()) {
            waiting.extend(children(file, entries.contains(&path)));
        }
    }
    reached
}

/// The possible paths of the modules that a file declares.
fn children(file: &RepoFile, is_entry: bool) -> Vec<String> {
    let (parent, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let directory = if is_entry || name == "mod.rs" {
        parent.to_owned()
    } else {
        format!("{parent}/{}", name.strip_suffix(".rs").unwrap_or(name))
    };
    declared(&code_only(&file.text))
        .flat_map(|module| [format!("{directory}/{module}.rs"), format!("{directory}/{module}/mod.rs")])
        .collect()
}

/// The names in `mod name;`.
pub(super) fn declared(code: &str) -> impl Iterator<Item = &str> {
    code.split(';').filter_map(|statement| {
        let mut words = statement.split_whitespace().rev();
        let name = words.next()?;
        (words.next() == Some("mod")).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    fn check_paths(files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![file("crates/a/Cargo.toml", "")];
        all.extend(files.iter().map(|(path, text)| file(&format!("crates/a/{path}"), text)));
        check(&all).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_that_mod_lines_reach_are_fine() {
        let files = [
            ("src/lib.rs", "//! A.\nmod b;\n#[cfg(test)]\nmod tests;\n"),
            ("src/b.rs", "pub(crate) mod c;\nmod inline { }\n"),
            ("src/b/c.rs", ""),
            ("src/tests.rs", ""),
            ("tests/main.rs", "mod cli;\n"),
            ("tests/cli/mod.rs", "mod ask;"),
            ("tests/cli/ask.rs", ""),
        ];
        assert_eq!(check_paths(&files), [""; 0]);
    }

    #[test]
    fn a_forgotten_file_is_found() {
        let files = [
            ("src/main.rs", "// mod b;\n"),
            ("src/b.rs", ""),
            ("src/b/tests.rs", ""),
            ("tests/main.rs", ""),
            ("tests/cli/mod.rs", "mod ask;\n"),
            ("tests/cli/ask.rs", ""),
        ];
        assert_eq!(
            check_paths(&files),
            [
                "error: crates/a/src/b.rs: is reached by no `mod` line: nothing compiles it",
                "error: crates/a/src/b/tests.rs: is reached by no `mod` line: nothing compiles it",
                "error: crates/a/tests/cli/mod.rs: is reached by no `mod` line: nothing compiles it",
                "error: crates/a/tests/cli/ask.rs: is reached by no `mod` line: nothing compiles it",
            ]
        );
    }

    #[test]
    fn a_second_test_binary_is_found_once() {
        let files = [("src/lib.rs", ""), ("tests/main.rs", ""), ("tests/more.rs", "")];
        assert_eq!(
            check_paths(&files),
            [
                "error: crates/a/tests/more.rs: is a test binary of its own: move it to `tests/more/mod.rs`, under `tests/main.rs`"
            ]
        );
    }
}
