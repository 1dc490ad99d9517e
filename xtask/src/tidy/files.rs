//! Reads the repository: every text file except build outputs, git's files and runs.

use std::path::Path;

use super::RepoFile;

/// Directories that contain none of our files.
const SKIPPED: &[&str] = &["target", ".git", ".spelunk", "node_modules"];

/// Every text file below the root, sorted by path. Files that are not UTF-8 are skipped: they are fixtures.
#[expect(clippy::disallowed_methods, reason = "chores read the repository itself")]
pub(crate) fn read_all(root: &Path) -> Result<Vec<RepoFile>, String> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = std::fs::read_dir(&directory).map_err(|error| cannot_read(&directory, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| cannot_read(&directory, &error))?;
            let kind = entry.file_type().map_err(|error| cannot_read(&entry.path(), &error))?;
            let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !is_skipped {
                directories.push(entry.path());
            } else if kind.is_file()
                && let Ok(text) = std::fs::read_to_string(entry.path())
            {
                files.push(RepoFile { path: relative(root, &entry.path()), text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn relative(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("could not read `{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_with_forward_slashes() {
        assert_eq!(relative(Path::new("/a/b"), Path::new("/a/b/c/d.rs")), "c/d.rs");
    }

    #[test]
    fn this_file_is_found_and_nothing_built_is() {
        let files = read_all(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let ours: Vec<_> =
            files.iter().filter(|file| file.path.ends_with("files.rs")).map(|file| &file.path).collect();
        assert_eq!(ours, ["src/tidy/files.rs"]);
    }
}
