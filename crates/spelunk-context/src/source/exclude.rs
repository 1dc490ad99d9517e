//! Default exclusions: files that nobody means when naming a directory. A path that the user names is never checked
//! here.

/// The directory that holds runs. It is never scanned: a run must not read its own journal.
const WORKSPACE_DIRECTORY: &str = ".spelunk";

const DIRECTORIES: [&str; 14] = [
    ".git",
    "node_modules",
    "vendor",
    ".venv",
    "__pycache__",
    ".tox",
    ".eggs",
    "dist",
    "build",
    "target",
    "out",
    ".next",
    ".idea",
    ".vscode",
];

const EXTENSIONS: [&str; 24] = [
    "swp", "swo", "png", "jpg", "jpeg", "gif", "ico", "svg", "pdf", "doc", "docx", "zip", "tar", "gz", "tgz",
    "bz2", "exe", "dll", "so", "dylib", "wasm", "pyc", "class", "map",
];

const FILE_ENDS: [&str; 4] = ["~", ".min.js", ".min.css", ".d.ts"];

const FILE_NAMES: [&str; 7] = [
    "package-lock.json",
    "yarn.lock",
    "Gemfile.lock",
    "poetry.lock",
    "Cargo.lock",
    "pnpm-lock.yaml",
    "composer.lock",
];

pub(super) fn is_excluded_directory(name: &str) -> bool {
    DIRECTORIES.contains(&name)
}

/// Never entered, whatever a glob says.
pub(super) fn is_workspace(name: &str) -> bool {
    name == WORKSPACE_DIRECTORY
}

pub(super) fn is_excluded_file(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    FILE_NAMES.contains(&name)
        || FILE_ENDS.iter().any(|end| name.ends_with(end))
        || extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}
