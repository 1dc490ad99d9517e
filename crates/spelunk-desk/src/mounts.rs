//! Mounted documents: a corpus view shown on a desk. It is searched and read in place, with the
//! usual redaction of secrets, so a gigabyte costs nothing until it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_context::{DocEntry, GrepQuery, ReadError, Reader, View, ViewGrepReport, grep_view};

use crate::path::{Taken, document_path};
use crate::{DeskPath, Zone};

/// How many readers are kept open: each holds a file and its line index.
const READERS_MAX: usize = 32;

/// Texts with secrets up to this size are redacted whole, so that offsets refer to the redacted text.
const REDACTED_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Entry {
    Directory,
    File {
        bytes: u64,
    },
    /// A mounted document, which is read-only.
    Document {
        /// Its size at its source.
        bytes: u64,
    },
}

/// A range of lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines without their line endings; empty if the range is past the end.
    pub lines: Vec<String>,
    /// The number of lines of the whole text.
    pub n_lines: u64,
}

#[derive(Debug)]
pub(crate) struct Mounts {
    view: View,
    paths: DocumentPaths,
    /// By document index. Kept because indexing the lines of a document costs a pass over it.
    readers: Mutex<BTreeMap<u32, Arc<Reader>>>,
}

#[derive(Debug, Default)]
struct DocumentPaths {
    names: BTreeMap<DeskPath, String>,
    directories: BTreeSet<DeskPath>,
}

impl Mounts {
    pub(crate) fn new(view: View) -> Self {
        let paths = DocumentPaths::of(view.documents().map(|document| document.name.as_str()));
        Self { view, paths, readers: Mutex::default() }
    }

    pub(crate) fn document(&self, path: &DeskPath) -> Option<&DocEntry> {
        self.view.find(self.paths.names.get(path)?)
    }

    pub(crate) fn entry(&self, path: &DeskPath) -> Option<Entry> {
        match self.document(path) {
            Some(document) => Some(Entry::Document { bytes: document.bytes }),
            None => self.paths.directories.contains(path).then_some(Entry::Directory),
        }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &DeskPath> {
        self.paths.names.keys()
    }

    /// The documents at or below a path, ordered by path, with their names in the view.
    pub(crate) fn within(&self, path: &DeskPath) -> impl Iterator<Item = (&DeskPath, &str)> {
        path.range_in(&self.paths.names).map(|(below, name)| (below, name.as_str()))
    }

    /// The direct entries of a directory. Subdirectories are skipped whole, whatever their size.
    pub(crate) fn list(&self, directory: &DeskPath) -> Vec<(String, Entry)> {
        let prefix = if directory.is_top() { String::new() } else { format!("{directory}/") };
        let mut found = Vec::new();
        let mut from = prefix.clone();
        while let Some((path, _)) =
            self.paths.names.range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded)).next()
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

    /// Lines numbered from 1. A range past the end returns no lines, but still the line count.
    pub(crate) fn read_lines(&self, document: &DocEntry, first: u64, n_max: u64) -> Result<Lines, ReadError> {
        let reader = self.reader(document)?;
        let n_lines = reader.n_lines()?;
        let first = first.max(1);
        if first > n_lines || n_max == 0 {
            return Ok(Lines { lines: Vec::new(), n_lines });
        }
        let lines = reader.lines(first..=first.saturating_add(n_max - 1))?;
        Ok(Lines { lines, n_lines })
    }

    /// The text between two offsets, narrowed to whole characters and to the end of the text.
    pub(crate) fn read_bytes(&self, document: &DocEntry, range: Range<u64>) -> Result<String, ReadError> {
        let reader = self.reader(document)?;
        if !(document.has_secrets && reader.redacts() && reader.bytes() <= REDACTED_BYTES_MAX) {
            return reader.slice(range);
        }
        // Redaction marks differ in length from what they replace.
        let text = reader.load(REDACTED_BYTES_MAX)?;
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        let (start, end) =
            (text.ceil_char_boundary(at(range.start)), text.floor_char_boundary(at(range.end)));
        Ok(text.get(start..end).unwrap_or_default().to_owned())
    }

    pub(crate) fn read_all(&self, document: &DocEntry, bytes_max: u64) -> Result<String, ReadError> {
        self.reader(document)?.load(bytes_max)
    }

    /// Searches the documents of these names. The query's `matches_max` applies to all of them together.
    pub(crate) fn grep<'n>(
        &self,
        query: &GrepQuery,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<ViewGrepReport, ReadError> {
        let wanted = names.filter_map(|name| self.view.find(name)).map(|document| document.idx);
        grep_view(&self.view.only(wanted), query, &AtomicBool::new(false))
    }

    fn reader(&self, document: &DocEntry) -> Result<Arc<Reader>, ReadError> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = readers.get(&document.idx).filter(|reader| !reader.is_stale()) {
            return Ok(Arc::clone(reader));
        }
        let reader = Arc::new(Reader::of_document(&self.view, document)?);
        if readers.len() >= READERS_MAX {
            readers.clear();
        }
        readers.insert(document.idx, Arc::clone(&reader));
        Ok(reader)
    }
}

impl DocumentPaths {
    fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut paths = Self::default();
        for name in names {
            let path = document_path(Zone::CONTEXTS, name, |path| paths.taken(path));
            let mut above = path.parent();
            while let Some(directory) = above.filter(|path| path.as_str().len() > Zone::CONTEXTS.len()) {
                above = directory.parent();
                paths.directories.insert(directory);
            }
            paths.names.insert(path, name.to_owned());
        }
        paths
    }

    fn taken(&self, path: &str) -> Taken {
        if self.names.contains_key(path) {
            Taken::Document
        } else if self.directories.contains(path) {
            Taken::Directory
        } else {
            Taken::Free
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
