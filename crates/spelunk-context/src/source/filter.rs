//! The judgement over names, the same for files in a directory and entries of an archive: secrets, globs, default
//! exclusions, hidden names. `globs` says which of them wins.

use std::path::Path;

use super::exclude;
use super::globs::Globs;
use crate::corpus::ScanOptions;
use crate::{SkipReason, SourceError, name, secrets};

/// The options of a scan, ready to be held against names.
pub(crate) struct Filter<'a> {
    pub(crate) options: &'a ScanOptions,
    globs: Globs,
}

impl<'a> Filter<'a> {
    pub(crate) fn compile(options: &'a ScanOptions) -> Result<Self, SourceError> {
        Ok(Self { options, globs: Globs::compile(options)? })
    }

    /// Why not to enter a directory. `path` is where it is; `relative` is how globs see it.
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
        } else if exclude::is_workspace(name) {
            Some(SkipReason::Excluded)
        } else if self.globs.names_directory(name) {
            is_ignored().then_some(SkipReason::Ignored)
        } else if exclude::is_excluded_directory(name) {
            Some(SkipReason::Excluded)
        } else if name.starts_with('.') && !self.opens_secret_place(relative) {
            Some(SkipReason::Hidden)
        } else {
            is_ignored().then_some(SkipReason::Ignored)
        }
    }

    /// Why not to take a file. Secrets come first: a key that is ignored as well is still reported as what it is.
    pub(super) fn against_file(
        &self,
        path: &Path,
        relative: &str,
        is_ignored: impl FnOnce() -> bool,
    ) -> Option<SkipReason> {
        self.against(path, relative, is_ignored, self.globs.includes(relative))
    }

    /// The same, once it is known whether the globs ask for it.
    fn against(
        &self,
        path: &Path,
        relative: &str,
        is_ignored: impl FnOnce() -> bool,
        is_included: bool,
    ) -> Option<SkipReason> {
        let name = name::file_name(relative);
        if self.is_secret(path, relative) {
            Some(SkipReason::Secret)
        } else if self.globs.excludes(relative) {
            Some(SkipReason::Filtered)
        } else if exclude::is_excluded_file(name) && !self.globs.names(relative) {
            Some(SkipReason::Excluded)
        } else if name.starts_with('.') && !self.globs.names_hidden(relative) && !self.opens_secret(relative)
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

    /// Whether a glob asks for this archive, and so for all that lies in it.
    pub(crate) fn includes_archive(&self, relative: &str) -> bool {
        !self.options.include.is_empty() && self.globs.includes(relative)
    }

    /// Why not to take an entry of an archive: as a walk would judge it and the directories it lies in. Where the archive
    /// was asked for, the entry is too.
    pub(crate) fn against_entry(&self, relative: &str, archive_is_included: bool) -> Option<SkipReason> {
        let directories = relative.match_indices('/').filter_map(|(at, _)| relative.get(..at));
        for directory in directories {
            let reason = self.against_directory(Path::new(directory), directory, || false);
            if reason.is_some() {
                return reason;
            }
        }
        let is_included = archive_is_included || self.globs.includes(relative);
        self.against(Path::new(relative), relative, || false, is_included)
    }

    /// Whether a dot before the name of a file is no reason against it: secrets are allowed, and its name says secret.
    fn opens_secret(&self, relative: &str) -> bool {
        self.options.allow_secrets && secrets::is_secret(Path::new(relative))
    }

    /// The same for a directory that secrets are kept in.
    fn opens_secret_place(&self, relative: &str) -> bool {
        self.options.allow_secrets && secrets::is_secret_place(Path::new(relative))
    }

    /// Whether the name says secret and nobody asked for it.
    pub(super) fn is_secret(&self, path: &Path, relative: &str) -> bool {
        !self.options.allow_secrets && secrets::is_secret(path) && !self.globs.allows_secret(relative)
    }

    /// Whether secrets in the text of this document are given out.
    pub(crate) fn allows_secrets_in(&self, relative: &str) -> bool {
        self.options.allow_secrets || self.globs.allows_secret(relative)
    }
}
