//! A corpus view as a mount. The view's readers do the work, at their usual speed and with the usual redaction of
//! secrets.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_context::{DocEntry, GrepQuery, ReadError, Reader, View, grep_view};

use super::{Mount, MountReport, MountedDocument, MountedLines, MountedMatches};

/// How many readers are kept open: each holds a file and its line index.
const READERS_MAX: usize = 32;

/// Texts with secrets up to this size are redacted whole, so that offsets refer to the redacted text.
const REDACTED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The documents of a view.
#[derive(Debug)]
pub struct ViewMount {
    view: View,
    readers: Mutex<BTreeMap<usize, Arc<Reader>>>,
    cancel: Arc<AtomicBool>,
}

impl ViewMount {
    /// A mount of a view. Setting `cancel` stops a search in progress.
    pub fn new(view: View, cancel: Arc<AtomicBool>) -> Self {
        Self { view, readers: Mutex::default(), cancel }
    }

    fn document(&self, idx: usize) -> Result<&DocEntry, ReadError> {
        let missing = || ReadError::Changed { name: format!("document {idx}") };
        self.view.documents().nth(idx).ok_or_else(missing)
    }

    /// The reader of a document, cached because indexing its lines costs a pass over it.
    fn reader(&self, idx: usize) -> Result<Arc<Reader>, ReadError> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = readers.get(&idx).filter(|reader| !reader.is_stale()) {
            return Ok(Arc::clone(reader));
        }
        let reader = Arc::new(Reader::of_document(&self.view, self.document(idx)?)?);
        if readers.len() >= READERS_MAX {
            readers.clear();
        }
        readers.insert(idx, Arc::clone(&reader));
        Ok(reader)
    }
}

impl Mount for ViewMount {
    fn documents(&self) -> Vec<MountedDocument> {
        let documents = self.view.documents();
        documents
            .map(|document| MountedDocument { name: document.name.clone(), bytes: document.bytes })
            .collect()
    }

    fn read_lines(&self, document: usize, first: u64, n_max: u64) -> Result<MountedLines, ReadError> {
        let reader = self.reader(document)?;
        let n_lines = reader.n_lines()?;
        let first = first.max(1);
        if first > n_lines || n_max == 0 {
            return Ok(MountedLines { lines: Vec::new(), n_lines });
        }
        let lines = reader.lines(first..=first.saturating_add(n_max - 1))?;
        Ok(MountedLines { lines, n_lines })
    }

    fn read_bytes(&self, document: usize, range: Range<u64>) -> Result<String, ReadError> {
        let entry = self.document(document)?;
        let reader = self.reader(document)?;
        if !(entry.has_secrets && reader.redacts() && reader.bytes() <= REDACTED_BYTES_MAX) {
            return reader.slice(range);
        }
        // Redaction marks differ in length from what they replace.
        let text = reader.load(REDACTED_BYTES_MAX)?;
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        let (start, end) =
            (text.ceil_char_boundary(at(range.start)), text.floor_char_boundary(at(range.end)));
        Ok(text.get(start..end).unwrap_or_default().to_owned())
    }

    fn read_all(&self, document: usize, bytes_max: u64) -> Result<String, ReadError> {
        self.reader(document)?.load(bytes_max)
    }

    fn grep(&self, query: &GrepQuery, documents: &[usize]) -> Result<MountReport, ReadError> {
        let entries: Vec<&DocEntry> = self.view.documents().collect();
        let wanted = documents.iter().filter_map(|&idx| entries.get(idx).map(|entry| entry.idx));
        let part = self.view.only(wanted);
        let idx_by_name: BTreeMap<&str, usize> =
            entries.iter().enumerate().map(|(idx, entry)| (entry.name.as_str(), idx)).collect();
        let idx = |name: &str| idx_by_name.get(name).copied();
        let report = grep_view(&part, query, &self.cancel)?;
        let matches = |found: spelunk_context::DocumentMatches| {
            let document = idx(&found.document)?;
            Some(MountedMatches { document, matches: found.matches, n_matches: found.n_matches })
        };
        let unreadable = report.unreadable.into_iter().filter_map(|(name, error)| Some((idx(&name)?, error)));
        Ok(MountReport {
            documents: report.documents.into_iter().filter_map(matches).collect(),
            unreadable: unreadable.collect(),
        })
    }
}
