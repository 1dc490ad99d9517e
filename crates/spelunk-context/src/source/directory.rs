//! Walks a directory in name order. The `ignore` crate matches ignore files, but the walk is our own, because that
//! crate's walk does not report what it skipped. Symbolic links are not followed, so there are no loops. Nothing below
//! the directory is fatal: unreadable entries are counted.
#![expect(clippy::disallowed_methods, reason = "this is a source: it lists directories")]

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::filter::{Filter, is_workspace};
use crate::{ScanReport, SkipReason, SourceError, name};

/// A longer ignore file is not applied, and counts as unreadable.
const IGNORE_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// By precedence: the later one wins.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) relative: String,
    pub(super) bytes: u64,
    pub(super) is_image: bool,
}

pub(super) type TakeFile<'a> = dyn FnMut(FoundFile, &mut ScanReport) -> Result<(), SourceError> + 'a;

pub(super) fn walk(
    root: &Path,
    filter: &Filter<'_>,
    report: &mut ScanReport,
    found: &mut TakeFile<'_>,
) -> Result<(), SourceError> {
    let first = list(root).map_err(|error| SourceError::from_io(root, error))?;
    let rules = |directory: &Path, above: Option<Arc<Rules>>, report: &mut ScanReport| {
        if filter.options.gitignore { Rules::in_directory(directory, above, report) } else { None }
    };
    let above = if filter.options.gitignore { Rules::above(root) } else { None };
    let mut waiting = vec![(first, rules(root, above, report))];
    // An explicit stack instead of recursion: the depth is untrusted.
    while let Some((entries, rules_here)) = waiting.last_mut() {
        let Some(entry) = entries.pop() else {
            waiting.pop();
            continue;
        };
        let path = entry.path();
        let relative = name::printable(path.strip_prefix(root).unwrap_or(&path));
        match judge(&entry, &path, &relative, filter, rules_here.as_deref()) {
            verdict @ (Verdict::Take | Verdict::SkipImage(_)) => match entry.metadata() {
                Ok(metadata) => {
                    let is_image = verdict != Verdict::Take;
                    if let Verdict::SkipImage(reason) = verdict {
                        report.skip(reason, &relative);
                    }
                    found(FoundFile { path, relative, bytes: metadata.len(), is_image }, report)?;
                }
                Err(_) => report.skip(SkipReason::Unreadable, &relative),
            },
            Verdict::Skip(reason) => report.skip(reason, &relative),
            // Our own files are not reported as skipped.
            Verdict::SkipDirectory(SkipReason::Excluded) if is_workspace(name::file_name(&relative)) => {}
            Verdict::SkipDirectory(reason) => report.skip(reason, &format!("{relative}/")),
            Verdict::Enter => match list(&path) {
                Ok(entries) => {
                    let rules_here = rules(&path, rules_here.clone(), report);
                    waiting.push((entries, rules_here));
                }
                Err(_) => report.skip(SkipReason::Unreadable, &format!("{relative}/")),
            },
        }
    }
    Ok(())
}

/// The entries of a directory in reverse name order, so that popping returns the first.
fn list(directory: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_cached_key(|entry| std::cmp::Reverse(entry.file_name()));
    Ok(entries)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Take,
    Enter,
    Skip(SkipReason),
    /// It is no document, but may be shown to a model.
    SkipImage(SkipReason),
    SkipDirectory(SkipReason),
}

fn judge(
    entry: &DirEntry,
    path: &Path,
    relative: &str,
    filter: &Filter<'_>,
    rules: Option<&Rules>,
) -> Verdict {
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => {
            let is_ignored = || rules.is_some_and(|rules| rules.ignores(path, true));
            match filter.against_directory(path, relative, is_ignored) {
                None => Verdict::Enter,
                Some(reason) => Verdict::SkipDirectory(reason),
            }
        }
        Ok(kind) if kind.is_symlink() => Verdict::Skip(SkipReason::Symlink),
        Ok(kind) if !kind.is_file() => Verdict::Skip(SkipReason::Special),
        Ok(_) => {
            let is_ignored = || rules.is_some_and(|rules| rules.ignores(path, false));
            match filter.against_file(path, relative, is_ignored) {
                None => Verdict::Take,
                Some(reason) if filter.takes_image(path, relative, is_ignored) => Verdict::SkipImage(reason),
                Some(reason) => Verdict::Skip(reason),
            }
        }
        Err(_) => Verdict::Skip(SkipReason::Unreadable),
    }
}

struct Rules {
    here: Gitignore,
    above: Option<Arc<Rules>>,
}

impl Rules {
    /// The rules of the enclosing git repository. A stray ignore file outside of one does not apply.
    fn above(root: &Path) -> Option<Arc<Self>> {
        let repository = root.ancestors().find(|ancestor| ancestor.join(".git").exists())?;
        let mut builder = GitignoreBuilder::new(repository);
        add(&mut builder, &repository.join(".git/info/exclude"));
        let mut rules = Self::join(&builder, None);
        let mut between: Vec<&Path> =
            root.ancestors().skip(1).take_while(|ancestor| ancestor.starts_with(repository)).collect();
        while let Some(directory) = between.pop() {
            rules = Self::in_directory(directory, rules, &mut ScanReport::default());
        }
        rules
    }

    fn in_directory(
        directory: &Path,
        above: Option<Arc<Self>>,
        report: &mut ScanReport,
    ) -> Option<Arc<Self>> {
        let mut builder = GitignoreBuilder::new(directory);
        let mut has_rules = false;
        for file in IGNORE_FILES {
            let path = directory.join(file);
            match add(&mut builder, &path) {
                IgnoreFile::Rules => has_rules = true,
                IgnoreFile::Nothing => {}
                IgnoreFile::Refused => report.skip(SkipReason::Unreadable, &name::tail(&path, 2)),
            }
        }
        if has_rules { Self::join(&builder, above) } else { above }
    }

    fn join(builder: &GitignoreBuilder, above: Option<Arc<Self>>) -> Option<Arc<Self>> {
        match builder.build() {
            Ok(here) if !here.is_empty() => Some(Arc::new(Self { here, above })),
            // A malformed pattern was already dropped; what remains is no rule at all.
            Ok(_) | Err(_) => above,
        }
    }

    /// The nearest ignore file with a matching rule decides.
    fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        let mut level = Some(self);
        while let Some(rules) = level {
            match rules.here.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = rules.above.as_deref(),
            }
        }
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IgnoreFile {
    Rules,
    Nothing,
    Refused,
}

/// Follows no links and opens no pipes: an ignore file is untrusted. Drops malformed patterns.
fn add(builder: &mut GitignoreBuilder, path: &Path) -> IgnoreFile {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() <= IGNORE_FILE_BYTES_MAX => {
            match builder.add(path) {
                Some(error) if error.is_io() => IgnoreFile::Refused,
                Some(_) | None => IgnoreFile::Rules,
            }
        }
        Ok(_) => IgnoreFile::Refused,
        Err(_) => IgnoreFile::Nothing,
    }
}

#[cfg(test)]
mod tests;
