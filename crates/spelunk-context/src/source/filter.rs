//! Decides by name which files to take, in directories and archives. `globs` documents the precedence.

use std::path::Path;

use spelunk_types::ScanOptions;

use super::globs::Globs;
use crate::image::ImageKind;
use crate::{SkipReason, SourceError, name, secrets};

pub(crate) struct Filter<'a> {
    pub(crate) options: &'a ScanOptions,
    globs: Globs,
}

impl<'a> Filter<'a> {
    pub(crate) fn compile(options: &'a ScanOptions) -> Result<Self, SourceError> {
        Ok(Self { options, globs: Globs::compile(options)? })
    }

    /// Why not to enter a directory. `path` is its location; globs match `relative`.
    pub(super) fn against_directory(
        &self,
        path: &Path,
        relative: &str,
        is_ignored: impl FnOnce() -> bool,
    ) -> Option<SkipReason> {
        let name = name::file_name(relative);
        let is_secret = !self.options.allow_secrets && secrets::is_secret(path);
        if is_secret && !self.globs.names_secret_directory(name) {
            Some(SkipReason::Secret)
        } else if self.globs.excludes(relative) || !self.options.recursive {
            Some(SkipReason::Filtered)
        } else if is_workspace(name) {
            Some(SkipReason::Excluded)
        } else if self.globs.names_directory(name) {
            is_ignored().then_some(SkipReason::Ignored)
        } else if name::is_listed(DIRECTORIES, name) {
            Some(SkipReason::Excluded)
        } else if name.starts_with('.')
            && !(self.options.allow_secrets && secrets::is_secret_place(Path::new(relative)))
        {
            Some(SkipReason::Hidden)
        } else {
            is_ignored().then_some(SkipReason::Ignored)
        }
    }

    /// Why not to take a file. Secrets come first: an ignored key is still reported as a secret.
    pub(super) fn against_file(
        &self,
        path: &Path,
        relative: &str,
        is_ignored: impl FnOnce() -> bool,
    ) -> Option<SkipReason> {
        self.against(path, relative, is_ignored, self.globs.includes(relative), is_excluded_file)
    }

    /// Whether a file is an image that only the default exclusions keep out.
    pub(super) fn takes_image(&self, path: &Path, relative: &str, is_ignored: impl FnOnce() -> bool) -> bool {
        let skipped = || self.against(path, relative, is_ignored, self.globs.includes(relative), |_| false);
        ImageKind::of(relative).is_some() && skipped().is_none()
    }

    /// Like `against_file`, given whether the globs include it, and the default exclusions.
    fn against(
        &self,
        path: &Path,
        relative: &str,
        is_ignored: impl FnOnce() -> bool,
        is_included: bool,
        is_excluded: impl FnOnce(&str) -> bool,
    ) -> Option<SkipReason> {
        let name = name::file_name(relative);
        if self.is_secret(path, relative) {
            Some(SkipReason::Secret)
        } else if self.globs.excludes(relative) {
            Some(SkipReason::Filtered)
        } else if is_excluded(name) && !self.globs.names(relative) {
            Some(SkipReason::Excluded)
        } else if name.starts_with('.')
            && !self.globs.names_hidden(relative)
            // A hidden file is taken after all if secrets are allowed and its name indicates one.
            && !(self.options.allow_secrets && secrets::is_secret(Path::new(relative)))
        {
            Some(SkipReason::Hidden)
        } else if is_ignored() {
            Some(SkipReason::Ignored)
        } else if !is_included {
            Some(SkipReason::Filtered)
        } else {
            None
        }
    }

    pub(crate) fn includes_archive(&self, relative: &str) -> bool {
        !self.options.include.is_empty() && self.globs.includes(relative)
    }

    /// Why not to take an archive's entry, by a walk's rules. An included archive includes its entries.
    pub(crate) fn against_entry(&self, relative: &str, archive_is_included: bool) -> Option<SkipReason> {
        let directories = relative.match_indices('/').filter_map(|(at, _)| relative.get(..at));
        for directory in directories {
            let reason = self.against_directory(Path::new(directory), directory, || false);
            if reason.is_some() {
                return reason;
            }
        }
        let is_included = archive_is_included || self.globs.includes(relative);
        self.against(Path::new(relative), relative, || false, is_included, is_excluded_file)
    }

    pub(super) fn is_secret(&self, path: &Path, relative: &str) -> bool {
        !self.options.allow_secrets && secrets::is_secret(path) && !self.globs.allows_secret(relative)
    }

    /// Whether the text of this document is returned unredacted.
    pub(crate) fn allows_secrets_in(&self, relative: &str) -> bool {
        self.options.allow_secrets || self.globs.allows_secret(relative)
    }
}

/// The directory that holds runs. It is never scanned: a run must not read its own journal.
const WORKSPACE_DIRECTORY: &str = ".spelunk";

/// Default exclusions: files that are rarely meant when a directory is named. Paths that the user names are exempt.
const DIRECTORIES: &str =
    ".git node_modules vendor .venv __pycache__ .tox .eggs dist build target out .next .idea .vscode";

const EXTENSIONS: [&str; 24] = [
    "swp", "swo", "png", "jpg", "jpeg", "gif", "ico", "svg", "pdf", "doc", "docx", "zip", "tar", "gz", "tgz",
    "bz2", "exe", "dll", "so", "dylib", "wasm", "pyc", "class", "map",
];

const FILE_ENDS: [&str; 4] = ["~", ".min.js", ".min.css", ".d.ts"];

const FILE_NAMES: &str =
    "package-lock.json yarn.lock Gemfile.lock poetry.lock Cargo.lock pnpm-lock.yaml composer.lock";

/// Never entered, whatever a glob says.
pub(super) fn is_workspace(name: &str) -> bool {
    name == WORKSPACE_DIRECTORY
}

fn is_excluded_file(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    name::is_listed(FILE_NAMES, name)
        || FILE_ENDS.iter().any(|end| name.ends_with(end))
        || extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}
