//! A mount on a desk: maps paths to documents. Names are converted to paths once, on mounting.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use super::{Mount, MountedDocument};
use crate::path::{Taken, document_path};
use crate::{DeskPath, Entry, Zone};

/// The documents of a mount by their paths.
#[derive(Debug)]
pub(crate) struct Mounted {
    shelf: Arc<dyn Mount>,
    documents: Vec<MountedDocument>,
    idx_by_path: BTreeMap<DeskPath, usize>,
    directories: BTreeSet<DeskPath>,
}

impl Mounted {
    pub(crate) fn new(shelf: Arc<dyn Mount>) -> Self {
        let documents = shelf.documents();
        let mut mounted =
            Self { shelf, documents: Vec::new(), idx_by_path: BTreeMap::new(), directories: BTreeSet::new() };
        for (idx, document) in documents.iter().enumerate() {
            let path = document_path(Zone::CONTEXTS, &document.name, |path| mounted.taken(path));
            let mut above = path.parent();
            while let Some(directory) = above.filter(|path| path.as_str().len() > Zone::CONTEXTS.len()) {
                above = directory.parent();
                mounted.directories.insert(directory);
            }
            mounted.idx_by_path.insert(path, idx);
        }
        Self { documents, ..mounted }
    }

    pub(crate) fn shelf(&self) -> &dyn Mount {
        &*self.shelf
    }

    pub(crate) fn idx(&self, path: &DeskPath) -> Option<usize> {
        self.idx_by_path.get(path).copied()
    }

    pub(crate) fn entry(&self, path: &DeskPath) -> Option<Entry> {
        match self.idx(path) {
            Some(idx) => Some(Entry::Document { bytes: self.documents.get(idx)?.bytes }),
            None => self.directories.contains(path).then_some(Entry::Directory),
        }
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = (&DeskPath, &str)> {
        let name = |idx: usize| self.documents.get(idx).map(|document| document.name.as_str());
        self.idx_by_path.iter().map(move |(path, &idx)| (path, name(idx).unwrap_or_default()))
    }

    /// The documents at or below a path, ordered by path.
    pub(crate) fn within(&self, path: &DeskPath) -> Vec<(DeskPath, usize)> {
        let all = self.idx_by_path.range::<str, _>((Bound::Included(path.as_str()), Bound::Unbounded));
        all.take_while(|(below, _)| below.as_str().starts_with(path.as_str()))
            .filter(|(below, _)| below.is_within(path))
            .map(|(below, &idx)| (below.clone(), idx))
            .collect()
    }

    /// The direct entries of a directory. Subdirectories are skipped whole, whatever their size.
    pub(crate) fn list(&self, directory: &DeskPath) -> Vec<(String, Entry)> {
        let prefix = if directory.is_top() { String::new() } else { format!("{directory}/") };
        let mut found = Vec::new();
        let mut from = prefix.clone();
        while let Some((path, _)) =
            self.idx_by_path.range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded)).next()
        {
            let Some(rest) = path.as_str().strip_prefix(&prefix) else { break };
            let name = rest.split('/').next().unwrap_or_default();
            if rest.len() > name.len() {
                found.push((name.to_owned(), Entry::Directory));
                // `0` is the character after `/`.
                from = format!("{prefix}{name}0");
            } else {
                found.extend(self.entry(path).map(|entry| (name.to_owned(), entry)));
                from = format!("{path}\0");
            }
        }
        found
    }

    fn taken(&self, path: &str) -> Taken {
        if self.idx_by_path.contains_key(path) {
            Taken::Document
        } else if self.directories.contains(path) {
            Taken::Directory
        } else {
            Taken::Free
        }
    }
}
