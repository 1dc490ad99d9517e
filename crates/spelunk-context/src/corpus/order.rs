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

/// Files that describe what a project is made of.
const MANIFESTS: [&str; 22] = [
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "cargo.toml",
    "cmakelists.txt",
    "composer.json",
    "deno.json",
    "docker-compose.yml",
    "dockerfile",
    "gemfile",
    "go.mod",
    "justfile",
    "makefile",
    "mix.exs",
    "package.json",
    "package.swift",
    "pipfile",
    "pom.xml",
    "pubspec.yaml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
];

const CONFIG_EXTENSIONS: [&str; 11] =
    ["cfg", "conf", "config", "env", "hcl", "ini", "properties", "tf", "toml", "yaml", "yml"];

const SOURCE_EXTENSIONS: [&str; 38] = [
    "c", "cc", "clj", "cpp", "cs", "cxx", "dart", "erl", "ex", "exs", "go", "h", "hpp", "hs", "java", "jl",
    "js", "jsx", "kt", "lua", "m", "ml", "mm", "nim", "php", "pl", "proto", "py", "r", "rb", "rs", "scala",
    "sh", "sql", "swift", "ts", "tsx", "zig",
];

fn rank(path: &str) -> u8 {
    let name = name::file_name(path).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if name.starts_with("readme") {
        0
    } else if MANIFESTS.contains(&name.as_str()) {
        1
    } else if CONFIG_EXTENSIONS.contains(&extension) {
        2
    } else if SOURCE_EXTENSIONS.contains(&extension) {
        3
    } else {
        4
    }
}

#[cfg(test)]
mod tests;
