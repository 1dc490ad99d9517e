//! Import cycles between the top-level modules of a crate: to read one of them, you have to read them all.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{code_only, without_tests, words};
use super::modules::declared;
use super::{Complaint, RepoFile};

/// What each top-level module of a crate imports, by name.
type Graph = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(files: &[RepoFile]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for lib in files.iter().filter(|file| file.path.ends_with("/src/lib.rs")) {
        let root = lib.path.trim_end_matches("/src/lib.rs");
        for circle in circles(&graph(files, root, &lib.text)) {
            let message = format!("imports go in a circle: {}", circle.join(", "));
            complaints.push(Complaint::at(&lib.path, 0, message));
        }
    }
    complaints
}

/// The import graph of a crate. Tests may import anything.
fn graph(files: &[RepoFile], root: &str, lib: &str) -> Graph {
    let lib = code_only(lib);
    let (modules, exported) = (declared(&lib).collect::<BTreeSet<_>>(), exported(&lib));
    let mut graph = Graph::new();
    let source = format!("{root}/src/");
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(inner) = file.path.strip_prefix(&source) else { continue };
        let top = inner.split('/').next().unwrap_or(inner).trim_end_matches(".rs");
        let is_test = inner.trim_end_matches(".rs").split('/').any(|part| part == "tests");
        if is_test || !modules.contains(top) {
            continue;
        }
        let code = code_only(without_tests(&file.text));
        let named = named_after(&code, "crate::").into_iter();
        let on = named.filter_map(|name| modules.get(name).or_else(|| exported.get(name)));
        let others = on.filter(|on| **on != top).map(|on| (*on).to_owned());
        graph.entry(top.to_owned()).or_default().extend(others);
    }
    graph
}

/// The module that each exported name comes from.
fn exported(lib: &str) -> BTreeMap<&str, &str> {
    let mut exported = BTreeMap::new();
    for statement in lib.split(';') {
        let Some((_, path)) = statement.rsplit_once("use ") else { continue };
        let path = path.trim().trim_start_matches("self::").trim_start_matches("crate::");
        let Some((module, names)) = path.split_once("::") else { continue };
        for name in words(names) {
            exported.entry(name).or_insert(module);
        }
    }
    exported
}

/// The first component of every path that begins with `start`, including those in groups.
fn named_after<'c>(code: &'c str, start: &str) -> BTreeSet<&'c str> {
    let mut named = BTreeSet::new();
    for rest in code.split(start).skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split(';').next().unwrap_or_default();
                named.extend(group.split(',').filter_map(|path| words(path).next()));
            }
            None => named.extend(words(rest.split([';', '(', ' ']).next().unwrap_or_default()).take(1)),
        }
    }
    named
}

/// Modules that reach each other, each cycle once.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (module.as_str(), reached(graph, module))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (module, from_here) in &reach {
        let circle: Vec<String> = from_here
            .iter()
            .filter(|other| reach.get(*other).is_some_and(|back| back.contains(module)))
            .map(|other| (*other).to_owned())
            .collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

fn reached<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = graph.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(module) = waiting.pop() {
        if reached.insert(module) {
            waiting.extend(graph.get(module).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    fn check_crate(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<RepoFile> =
            files.iter().map(|(path, text)| file(&format!("crates/a/src/{path}"), text)).collect();
        told(&check(&files))
    }

    #[test]
    fn arrows_that_do_not_come_back_are_fine() {
        let files = [
            ("lib.rs", "mod a;\npub mod b;\nmod c;\npub use b::{B, b};\n"),
            ("a.rs", "use crate::B;\nuse crate::{b::X, c};\n"),
            ("b/inner.rs", "// use crate::a;\nuse crate::c::C;\n"),
            ("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
            ("c/tests.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(check_crate(&files), [""; 0]);
    }

    #[test]
    fn a_circle_is_found_once_and_through_exported_names() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\npub use a::{A, other};\n"),
            ("a.rs", "use crate::b::B;\n"),
            ("b.rs", "fn f() { crate::c::g() }\n"),
            ("c/deep.rs", "use crate::{A, d};\n"),
            ("d.rs", ""),
        ];
        assert_eq!(check_crate(&files), ["0: imports go in a circle: a, b, c"]);
    }
}
