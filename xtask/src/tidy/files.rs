//! Reads the repository: every text file that git tracks or would track.

use std::path::Path;
use std::process::Command;

use super::RepoFile;

/// Every text file below the root, sorted by path. Files that are not UTF-8 are skipped: they are fixtures.
#[expect(clippy::disallowed_methods, reason = "chores read the repository itself")]
pub(crate) fn read_all(root: &Path) -> Result<Vec<RepoFile>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let listed = git.output().map_err(|error| format!("could not run `git`: {error}"))?;
    if !listed.status.success() {
        return Err(format!(
            "`git ls-files`, which lists the files to check, failed: {}",
            String::from_utf8_lossy(&listed.stderr)
        ));
    }
    let listed = String::from_utf8_lossy(&listed.stdout);
    let paths = listed.split('\0').filter(|path| !path.is_empty());
    let read = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(RepoFile { path: path.to_owned(), text })
    };
    let mut files: Vec<RepoFile> = paths.filter_map(read).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // During a merge, git lists a file in conflict several times.
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_file_is_found_and_nothing_built_is() {
        let files = read_all(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let ours: Vec<_> =
            files.iter().filter(|file| file.path.ends_with("files.rs")).map(|file| &file.path).collect();
        assert_eq!(ours, ["src/tidy/files.rs"]);
    }
}
