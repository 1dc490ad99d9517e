//! What a scan takes in, as the caller decides it. Globs are compiled once per scan; a malformed one is an error.

use std::cmp::Ordering;

use crate::name;

/// What a scan takes in beyond the ordinary, and what it leaves out.
///
/// A glob without a `/` is held against the last part of a path, one with a `/` against the path from the source's
/// root; `*` stays within one part, `**` crosses them. A glob that matches a directory stands for all that lies in it.
/// A file that the user named itself is not held against globs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent switch of the command line")]
pub struct ScanOptions {
    /// Files whose names say secret enter too, and secrets in text stay as they are. Off unless a person asked for it.
    pub allow_secrets: bool,
    /// The same, only for the files that these globs match.
    pub allow_secret_globs: Vec<String>,
    /// Only what these globs match; empty means all. They beat the default exclusions, never secrets.
    pub include: Vec<String>,
    /// Nothing that these globs match; they beat `include`.
    pub exclude: Vec<String>,
    /// Whether directories below a directory are entered.
    pub recursive: bool,
    /// Whether `.gitignore` and `.ignore` files are obeyed.
    pub gitignore: bool,
    /// How many documents at most, over all sources; 0 is all. What is left out is listed in the reports.
    pub files_max: u64,
    /// Which files stay when there are more than `files_max`.
    pub order: Order,
    /// Whether HTML is read as Markdown instead of as it is.
    pub extract_html: bool,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            allow_secrets: false,
            allow_secret_globs: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            recursive: true,
            gitignore: true,
            files_max: 0,
            order: Order::Size,
            extract_html: false,
        }
    }
}

/// Which files come first when not all may stay. The corpus itself is sorted by name whatever the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The largest first.
    #[default]
    Size,
    /// By name.
    Path,
    /// What explains the rest first: a readme, then manifests, then configuration, then source code, then everything
    /// else. Within each, those nearer to the root first, then by name.
    Priority,
}

impl Order {
    /// Every order, as it is named on the command line.
    pub const ALL: [(&'static str, Self); 3] =
        [("size", Self::Size), ("path", Self::Path), ("priority", Self::Priority)];

    /// Whether the first of two (name, bytes) comes before the second.
    pub(crate) fn compare(self, a: (&str, u64), b: (&str, u64)) -> Ordering {
        let by_name = || a.0.cmp(b.0);
        match self {
            Self::Size => b.1.cmp(&a.1).then_with(by_name),
            Self::Path => by_name(),
            Self::Priority => {
                let depth = |name: &str| name.matches('/').count();
                let weight = |name: &str| (rank(name), depth(name));
                weight(a.0).cmp(&weight(b.0)).then_with(by_name)
            }
        }
    }
}

/// Files that say what a project is made of.
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
