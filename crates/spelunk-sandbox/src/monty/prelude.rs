//! The parts of the prelude, Python that the interpreter lacks; each is loaded when a name of it is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::names::RESERVED;
use super::rewrite::{NATIVE_BUILTINS, prelude_code};

#[derive(Debug)]
struct PreludePart {
    code: String,
    uses: Vec<String>,
}

macro_rules! parts {
    ($($name:ident)*) => {
        [$((stringify!($name), include_str!(concat!("../prelude/", stringify!($name), ".py")))),*]
    };
}

/// All parts, by file name. One that begins with `mod_` is a module of that name.
const SOURCES: [(&str, &str); 53] = parts![
    awaiting callbacks classes core errors generators handles kinds mod_abc mod_ast mod_asyncio
    mod_builtins mod_collections mod_collections_abc mod_concurrent mod_concurrent_futures
    mod_contextlib mod_csv mod_dataclasses mod_difflib mod_enum mod_fnmatch mod_fractions mod_functools
    mod_heapq mod_html mod_importlib mod_inspect mod_io mod_itertools mod_json mod_logging mod_operator
    mod_pickle mod_pprint mod_re mod_small mod_statistics mod_string mod_sys mod_textwrap mod_threading
    mod_traceback mod_types mod_typing mod_urllib mod_urllib_parse mod_warnings names ordered tasks text wide
];

/// Modules that share a part.
const SMALL: [&str; 9] =
    ["numbers", "keyword", "timeit", "platform", "gc", "uuid", "queue", "secrets", "calendar"];

/// Built on first use.
type Make = Box<dyn FnOnce() -> PreludePart + Send>;

static PARTS: LazyLock<BTreeMap<&'static str, LazyLock<PreludePart, Make>>> = LazyLock::new(|| {
    SOURCES
        .iter()
        .map(|(name, source)| {
            let make: Make = Box::new(move || {
                let code = prelude_code(source);
                let uses = names_in(&code);
                PreludePart { code, uses }
            });
            (*name, LazyLock::new(make))
        })
        .collect()
});

static DEFINED: LazyLock<BTreeMap<String, &'static str>> = LazyLock::new(|| {
    let mut defined = BTreeMap::new();
    for (part, source) in SOURCES {
        for line in source.lines() {
            if let Some(name) = defined_in(line) {
                defined.entry(name.to_owned()).or_insert(part);
            }
        }
    }
    defined
});

/// The reserved name that a top-level line of a part defines.
fn defined_in(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let named = line.strip_prefix("def ").or_else(|| line.strip_prefix("class "));
    let name = match (named, line.strip_prefix("import ")) {
        (Some(named), _) => named.split(['(', ':']).next(),
        (None, Some(import)) => import.split(" as ").nth(1),
        (None, None) => line.split_once(" = ").map(|(name, _)| name),
    };
    name.filter(|name| name.starts_with(RESERVED))
}

/// What every session runs first: builtins under names that no cell can change.
pub(super) fn opening() -> String {
    let mut code = String::new();
    for name in NATIVE_BUILTINS.iter() {
        code.push_str(&format!("__sp_b_{name} = {name}\n"));
    }
    code
}

pub(super) fn has_module(name: &str) -> bool {
    module_part(name).is_some()
}

pub(super) fn code(part: &str) -> &'static str {
    PARTS.get(part).map_or("", |part| part.code.as_str())
}

/// The parts that a text needs beyond the loaded ones, in the order they must run.
pub(super) fn needed(text: &str, loaded: &BTreeSet<&'static str>) -> Vec<&'static str> {
    let mut found = Vec::new();
    if text.contains(RESERVED) {
        for name in names_in(text) {
            add(&name, loaded, &mut found);
        }
    }
    found
}

fn add(name: &str, loaded: &BTreeSet<&'static str>, found: &mut Vec<&'static str>) {
    let part = match name.strip_prefix("mod:") {
        Some(module) => module_part(module),
        None => DEFINED.get(name).copied(),
    };
    let Some(part) = part.filter(|part| !loaded.contains(part) && !found.contains(part)) else { return };
    // Added before its dependencies, so that mutually dependent parts terminate.
    found.push(part);
    let at = found.len() - 1;
    if let Some(details) = PARTS.get(part) {
        for used in &details.uses {
            add(used, loaded, found);
        }
    }
    // Its dependencies run first.
    found[at..].rotate_left(1);
}

fn module_part(module: &str) -> Option<&'static str> {
    if SMALL.contains(&module) {
        return Some("mod_small");
    }
    let file = format!("mod_{}", module.replace('.', "_"));
    SOURCES.iter().map(|(name, _)| *name).find(|name| *name == file)
}

/// The reserved names in a text, and the prelude modules it imports.
fn names_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, _) in text.match_indices(RESERVED) {
        let rest = text.get(at..).unwrap_or_default();
        let name: String = rest.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
        if name == "__sp_import" || name == "__sp_from" {
            let module = rest.get(name.len()..).and_then(|rest| rest.strip_prefix("(\""));
            if let Some(module) = module.and_then(|rest| rest.split('"').next()) {
                let whole = format!("mod:{module}");
                let top = format!("mod:{}", module.split('.').next().unwrap_or(module));
                names.extend([whole, top]);
            }
        }
        names.push(name);
    }
    names.sort_unstable();
    names.dedup();
    names
}
