//! The factory: registers contexts from files, directories and functions, with sensible names and ids.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};

use crate::store::admission::Admitted;
use crate::store::writing::TakenId;
use crate::store::{
    Context, ContextId, ContextKind, ContextStore, LoadPolicy, Loader, NewContext, NewSource, StoreError,
    naming,
};
use crate::{ScanReport, SkipReason, SourceError, name, secrets};

/// Creates contexts in one store.
#[derive(Debug, Clone)]
pub struct Factory<'a> {
    pub(super) store: &'a ContextStore,
    policy: Option<LoadPolicy>,
}

/// The result of registering a directory.
#[derive(Debug, Default)]
pub struct DirectoryReport {
    /// New contexts.
    pub registered: Vec<Arc<Context>>,
    /// Contexts already registered from the same files.
    pub already: Vec<ContextId>,
    /// What was left out, and why.
    pub left_out: ScanReport,
}

impl<'a> Factory<'a> {
    /// A factory for this store.
    pub fn new(store: &'a ContextStore) -> Self {
        Self { store, policy: None }
    }

    /// Registers files with this policy instead of that of their kind.
    #[must_use]
    pub fn with_policy(self, policy: Option<LoadPolicy>) -> Self {
        Self { policy, ..self }
    }

    /// Registers a file under an id made from its name. A file that is already registered keeps its context.
    pub fn from_file_by_name(&self, path: &Path, kind: &ContextKind) -> Result<Arc<Context>, StoreError> {
        let (mut registered, already) = self.register_files(&[(path.to_owned(), None)], "", kind)?;
        match already.first() {
            Some(id) => self.store.get(id.as_str()),
            None => Ok(registered.remove(0)),
        }
    }

    /// Registers a function that returns the text. Another process must add the function again under the id.
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

    /// Registers each file that matches the pattern. A pattern without `/` matches files in the directory itself;
    /// `**/*.md` also those below it. Ignored files are left out, as are hidden ones unless their name says secret and
    /// secrets are allowed. Links, special files, secrets and files without text are left out and counted.
    pub fn from_directory(
        &self,
        directory: &Path,
        pattern: &str,
        kind: &ContextKind,
        id_prefix: &str,
    ) -> Result<DirectoryReport, StoreError> {
        let mut left_out = ScanReport::default();
        let paths = self.matching(directory, pattern, &mut left_out)?;
        let (already, fresh) = self.known(&paths, id_prefix);
        let mut files = Vec::new();
        for path in fresh {
            match self.store.look_at_file(&path) {
                Ok(admitted) => files.push((path, Some(admitted))),
                Err(refusal) => match refusal.skip_reason() {
                    Some(reason) => left_out.skip(reason, &name::tail(&path, 2)),
                    None => return Err(refusal.into_error(&ContextId::new(name::tail(&path, 1))?)),
                },
            }
        }
        let (registered, meanwhile) = self.register_files(&files, id_prefix, kind)?;
        Ok(DirectoryReport { registered, already: [already, meanwhile].concat(), left_out })
    }

    /// Registers new files with one write. Tries other ids if another process takes one in the meantime.
    fn register_files(
        &self,
        files: &[LookedAt],
        id_prefix: &str,
        kind: &ContextKind,
    ) -> Result<(Vec<Arc<Context>>, Vec<ContextId>), StoreError> {
        const N_ATTEMPTS: usize = 3;
        for _ in 1..N_ATTEMPTS {
            match self.register_files_once(files, id_prefix, kind) {
                Err(StoreError::Duplicate { .. }) => {}
                outcome => return outcome,
            }
        }
        self.register_files_once(files, id_prefix, kind)
    }

    fn register_files_once(
        &self,
        files: &[LookedAt],
        id_prefix: &str,
        kind: &ContextKind,
    ) -> Result<(Vec<Arc<Context>>, Vec<ContextId>), StoreError> {
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let (already, fresh) = self.known(&paths, id_prefix);
        let contexts = self.store.list();
        let taken: HashSet<&str> = contexts.iter().map(|context| context.id.as_str()).collect();
        let ids = naming::ids_for(&fresh, id_prefix, |id| taken.contains(id))?;
        let admitted: HashMap<PathBuf, &Option<Admitted>> =
            files.iter().map(|(path, admitted)| (absolute(path), admitted)).collect();
        let new = ids.into_iter().zip(&fresh).map(|(id, path)| {
            let admitted = admitted.get(path).copied().cloned().flatten();
            (NewContext { policy: self.policy, ..new_of_file(id, path, kind.clone()) }, admitted)
        });
        Ok((self.store.put(new.collect(), TakenId::Refused)?, already))
    }

    fn known(&self, paths: &[PathBuf], id_prefix: &str) -> (Vec<ContextId>, Vec<PathBuf>) {
        let contexts = self.store.list();
        let id_of: HashMap<&Path, &ContextId> = contexts
            .iter()
            .filter_map(|context| Some((context.source.file()?, &context.id)))
            .filter(|(_, id)| id.as_str().starts_with(id_prefix))
            .collect();
        let (mut already, mut fresh) = (Vec::new(), Vec::new());
        for path in paths.iter().map(|path| absolute(path)) {
            match id_of.get(path.as_path()) {
                Some(&id) => already.push(id.clone()),
                None => fresh.push(path),
            }
        }
        (already, fresh)
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
        let secrets_are_allowed = self.store.allows_secrets();
        let walk = WalkBuilder::new(&directory)
            .max_depth(depth_max)
            .require_git(false)
            .follow_links(false)
            .hidden(false)
            .filter_entry(move |entry| entry.depth() == 0 || !is_hidden(entry, secrets_are_allowed))
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
                    if secrets::is_secret(path) && !secrets_are_allowed {
                        left_out.skip(SkipReason::Secret, &relative);
                    } else if path.to_str().is_none() {
                        left_out.skip(SkipReason::Unreadable, &relative);
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

type LookedAt = (PathBuf, Option<Admitted>);

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a walk skips an entry as hidden. If secrets are allowed, names that say secret are not skipped.
fn is_hidden(entry: &DirEntry, secrets_are_allowed: bool) -> bool {
    let name = Path::new(entry.file_name());
    let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
    let is_secret = if is_dir { secrets::is_secret_place(name) } else { secrets::is_secret(name) };
    name.to_string_lossy().starts_with('.') && !(secrets_are_allowed && is_secret)
}

/// A context named after the file, with its extension as `file_type`.
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
