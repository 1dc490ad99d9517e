//! The factory: contexts from files, texts, directories and functions, with sensible names and ids.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};

use crate::store::{
    Context, ContextId, ContextKind, ContextSource, ContextStore, Loader, NewContext, NewSource, SecretFiles,
    StoreError, naming,
};
use crate::{ReadError, Reader, ScanReport, SkipReason, SourceError, name, secrets};

/// Makes contexts in one store.
#[derive(Debug, Clone)]
pub struct Factory<'a> {
    pub(super) store: &'a ContextStore,
}

/// What a directory gave.
#[derive(Debug)]
pub struct DirectoryReport {
    /// New contexts.
    pub registered: Vec<Arc<Context>>,
    /// Contexts that had been registered from the same files before.
    pub already: Vec<ContextId>,
    /// What was left out, and why.
    pub left_out: ScanReport,
}

impl<'a> Factory<'a> {
    /// Makes contexts in this store.
    pub fn new(store: &'a ContextStore) -> Self {
        Self { store }
    }

    /// A context of a file under an id of the caller's.
    pub fn from_file(
        &self,
        id: ContextId,
        path: &Path,
        kind: ContextKind,
    ) -> Result<Arc<Context>, StoreError> {
        self.store.register(new_of_file(id, path, kind))
    }

    /// A context of a file under an id made from its name. A file that is registered already keeps its context.
    pub fn from_file_by_name(&self, path: &Path, kind: &ContextKind) -> Result<Arc<Context>, StoreError> {
        let (mut registered, already) = self.register_files(&[path.to_owned()], "", kind)?;
        match already.first() {
            Some(id) => self.store.get(id.as_str()),
            None => Ok(registered.remove(0)),
        }
    }

    /// A context of a text.
    pub fn from_text(
        &self,
        id: ContextId,
        text: &str,
        kind: ContextKind,
    ) -> Result<Arc<Context>, StoreError> {
        self.store.register(NewContext::new(id, kind, NewSource::Inline(text.to_owned())))
    }

    /// A context whose text a function gives. In another process the function must be added again, under the id.
    pub fn from_loader(
        &self,
        id: ContextId,
        name: &str,
        kind: ContextKind,
        loader: Loader,
    ) -> Result<Arc<Context>, StoreError> {
        let source = NewSource::Loader(id.as_str().to_owned());
        let mut new = NewContext::new(id, kind, source);
        name.clone_into(&mut new.name);
        let context = self.store.register(new)?;
        self.store.add_loader(context.id.as_str(), loader);
        Ok(context)
    }

    /// A context for each file that the pattern names. A pattern without `/` names files in the directory itself;
    /// `**/*.md` also those below. Hidden and ignored files are left out; links, special files, secrets and what is not text are left out and counted.
    pub fn from_directory(
        &self,
        directory: &Path,
        pattern: &str,
        kind: &ContextKind,
        id_prefix: &str,
    ) -> Result<DirectoryReport, StoreError> {
        let mut left_out = ScanReport::default();
        let paths = self.matching(directory, pattern, &mut left_out)?;
        let (registered, already) = self.register_files(&paths, id_prefix, kind)?;
        Ok(DirectoryReport { registered, already, left_out })
    }

    /// Registers files that are not contexts yet, with one write. Other processes may take an id in between; then it
    /// looks for others.
    pub(super) fn register_files(
        &self,
        paths: &[PathBuf],
        id_prefix: &str,
        kind: &ContextKind,
    ) -> Result<(Vec<Arc<Context>>, Vec<ContextId>), StoreError> {
        const N_ATTEMPTS: usize = 3;
        let mut outcome = self.register_files_once(paths, id_prefix, kind);
        for _ in 1..N_ATTEMPTS {
            match outcome {
                Err(StoreError::Duplicate { .. }) => {
                    outcome = self.register_files_once(paths, id_prefix, kind);
                }
                Ok(_) | Err(_) => break,
            }
        }
        outcome
    }

    fn register_files_once(
        &self,
        paths: &[PathBuf],
        id_prefix: &str,
        kind: &ContextKind,
    ) -> Result<(Vec<Arc<Context>>, Vec<ContextId>), StoreError> {
        let contexts = self.store.list();
        let id_of: HashMap<&Path, &ContextId> = contexts
            .iter()
            .filter_map(|context| match &context.source {
                ContextSource::File { path } => Some((path.as_path(), &context.id)),
                ContextSource::Inline { .. } | ContextSource::Loader { .. } | ContextSource::Uri { .. } => {
                    None
                }
            })
            .filter(|(_, id)| id.as_str().starts_with(id_prefix))
            .collect();
        let (mut already, mut fresh) = (Vec::new(), Vec::new());
        for path in paths {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            match id_of.get(absolute.as_path()) {
                Some(&id) => already.push(id.clone()),
                None => fresh.push(absolute),
            }
        }
        let taken: std::collections::HashSet<&str> =
            contexts.iter().map(|context| context.id.as_str()).collect();
        let ids = naming::ids_for(&fresh, id_prefix, |id| taken.contains(id))?;
        let new = ids.into_iter().zip(&fresh).map(|(id, path)| new_of_file(id, path, kind.clone())).collect();
        Ok((self.store.register_all(new)?, already))
    }

    fn matching(
        &self,
        directory: &Path,
        pattern: &str,
        left_out: &mut ScanReport,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let bad_glob = |error: ignore::Error| StoreError::BadGlob {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        };
        let unreadable =
            |error: std::io::Error| StoreError::Request(SourceError::from_io(directory, error).into());
        let directory = directory.canonicalize().map_err(unreadable)?;
        let globs: Override =
            OverrideBuilder::new(&directory).add(pattern).map_err(bad_glob)?.build().map_err(bad_glob)?;
        let depth_max = if pattern.contains('/') { None } else { Some(1) };
        let walk = WalkBuilder::new(&directory)
            .max_depth(depth_max)
            .require_git(false)
            .follow_links(false)
            .sort_by_file_name(Ord::cmp)
            .build();
        let mut paths = Vec::new();
        for entry in walk {
            let Ok(entry) = entry else {
                left_out.skip(SkipReason::Unreadable, "");
                continue;
            };
            let path = entry.path();
            if entry.depth() == 0 || !globs.matched(path, false).is_whitelist() {
                continue;
            }
            let relative = name::printable(path.strip_prefix(&directory).unwrap_or(path));
            match entry.file_type() {
                Some(kind) if kind.is_dir() => {}
                Some(kind) if kind.is_symlink() => left_out.skip(SkipReason::Symlink, &relative),
                Some(kind) if kind.is_file() => {
                    if secrets::is_secret(path) && self.store.settings.secrets == SecretFiles::Refused {
                        left_out.skip(SkipReason::Secret, &relative);
                    } else if path.to_str().is_none() {
                        left_out.skip(SkipReason::Unreadable, &relative);
                    } else if matches!(Reader::open(path), Err(ReadError::NotText { .. })) {
                        left_out.skip(SkipReason::Binary, &relative);
                    } else {
                        paths.push(path.to_owned());
                    }
                }
                Some(_) | None => left_out.skip(SkipReason::Special, &relative),
            }
        }
        Ok(paths)
    }
}

/// Named after the file, with its extension as `file_type`.
pub(super) fn new_of_file(id: ContextId, path: &Path, kind: ContextKind) -> NewContext {
    let mut new = NewContext::new(id, kind, NewSource::File(path.to_owned()));
    new.name = name::tail(path, 1);
    if let Some(extension) = path.extension() {
        let file_type = name::printable_text(&extension.to_string_lossy());
        new.metadata = BTreeMap::from([("file_type".to_owned(), file_type)]);
    }
    new
}

#[cfg(test)]
mod tests;
