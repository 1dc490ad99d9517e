//! The orders that decide which files are kept when `files_max` does not admit all.

use std::cmp::Ordering;

use spelunk_types::FileOrder;

use crate::name;

/// Compares two files, given as (name, bytes).
pub fn compare_files(order: FileOrder, a: (&str, u64), b: (&str, u64)) -> Ordering {
    let by_name = || a.0.cmp(b.0);
    match order {
        FileOrder::Size => b.1.cmp(&a.1).then_with(by_name),
        FileOrder::Path => by_name(),
        FileOrder::Priority => {
            let depth = |name: &str| name.matches('/').count();
            let weight = |name: &str| (rank(name), depth(name));
            weight(a.0).cmp(&weight(b.0)).then_with(by_name)
        }
    }
}

/// What is read first: what introduces a project, what it is made of, its settings, its code.
fn rank(path: &str) -> u8 {
    let name = name::file_name(path).to_ascii_lowercase();
    if name.starts_with("readme") {
        return 0;
    }
    match name.as_str() {
        "build.gradle" | "build.gradle.kts" | "build.sbt" | "cargo.toml" | "cmakelists.txt"
        | "composer.json" | "deno.json" | "docker-compose.yml" | "dockerfile" | "gemfile" | "go.mod"
        | "justfile" | "makefile" | "mix.exs" | "package.json" | "package.swift" | "pipfile" | "pom.xml"
        | "pubspec.yaml" | "pyproject.toml" | "requirements.txt" | "setup.py" => return 1,
        _ => {}
    }
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "cfg" | "conf" | "config" | "env" | "hcl" | "ini" | "properties" | "tf" | "toml" | "yaml" | "yml" => {
            2
        }
        "c" | "cc" | "clj" | "cpp" | "cs" | "cxx" | "dart" | "erl" | "ex" | "exs" | "go" | "h" | "hpp"
        | "hs" | "java" | "jl" | "js" | "jsx" | "kt" | "lua" | "m" | "ml" | "mm" | "nim" | "php" | "pl"
        | "proto" | "py" | "r" | "rb" | "rs" | "scala" | "sh" | "sql" | "swift" | "ts" | "tsx" | "zig" => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests;
