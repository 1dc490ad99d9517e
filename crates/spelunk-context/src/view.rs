//! A view: a cheap handle on part of a corpus, and the only way to see its text. Narrowing copies no text.

use std::sync::Arc;

use spelunk_types::BlobId;

use crate::image::ImageEntry;
use crate::scan_read::{Compared, digest_of, read_text};
use crate::{Corpus, Database, DocEntry, Needles, Outline, SourceError};

/// Part of a corpus. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct View {
    corpus: Arc<Corpus>,
    /// Indexes into the corpus, ascending.
    selection: Arc<[u32]>,
    /// Whether it is the whole corpus; a narrowed view has no images.
    is_whole: bool,
}

impl View {
    /// The whole corpus.
    pub fn of(corpus: Arc<Corpus>) -> Self {
        let selection = corpus.documents().iter().map(|document| document.idx).collect();
        Self { corpus, selection, is_whole: true }
    }

    /// The corpus, if this is all of it.
    pub fn whole(&self) -> Option<&Arc<Corpus>> {
        self.is_whole.then_some(&self.corpus)
    }

    /// The document with this number in the corpus.
    pub fn document(&self, idx: u32) -> Option<&DocEntry> {
        self.corpus.documents().get(idx as usize)
    }

    /// The images, sorted by name; a narrowed view has none.
    pub fn images(&self) -> &[ImageEntry] {
        if self.is_whole { self.corpus.images() } else { &[] }
    }

    /// The documents of this view, sorted by name.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &DocEntry> {
        self.selection.iter().map(|&idx| self.at(idx))
    }

    /// Whether a document describes a database, which may be queried and may change.
    pub fn has_databases(&self) -> bool {
        self.documents().any(|document| document.database.is_some())
    }

    /// Whether a document describes a database on a server.
    pub fn has_servers(&self) -> bool {
        self.documents().any(|document| matches!(document.database, Some(Database::Server(_))))
    }

    /// The total size of its documents on disk.
    pub fn bytes(&self) -> u64 {
        self.documents().map(|document| document.bytes).sum()
    }

    /// The hash over names and digests; equal to the corpus's digest for the whole corpus.
    pub fn digest(&self) -> BlobId {
        digest_of(self.documents().map(|document| (document.name.as_str(), &document.digest)))
    }

    /// The documents of this view for which `keep` returns true.
    #[must_use]
    pub fn narrow(&self, keep: impl Fn(&DocEntry) -> bool) -> Self {
        let selection = self.selection.iter().copied().filter(|&idx| keep(self.at(idx))).collect();
        Self { corpus: Arc::clone(&self.corpus), selection, is_whole: false }
    }

    /// The directories that the corpus was built from, if there are several: the prefixes of their documents' names.
    pub fn directories(&self) -> Vec<String> {
        let sources = self.corpus.reports().iter().map(|report| report.source.clone());
        let holds = |source: &String| {
            let prefix = format!("{source}/");
            self.documents().any(|document| document.name.starts_with(&prefix))
        };
        let directories: Vec<String> = sources.filter(holds).collect();
        if directories.len() > 1 { directories } else { Vec::new() }
    }

    /// The documents at these indexes that are in this view.
    #[must_use]
    pub fn only(&self, idxs: impl IntoIterator<Item = u32>) -> Self {
        let mut selection: Vec<u32> =
            idxs.into_iter().filter(|idx| self.selection.binary_search(idx).is_ok()).collect();
        selection.sort_unstable();
        selection.dedup();
        Self { corpus: Arc::clone(&self.corpus), selection: selection.into(), is_whole: false }
    }

    /// The document with this name, if it is in this view.
    pub fn find(&self, name: &str) -> Option<&DocEntry> {
        let documents = self.corpus.documents();
        let idx = documents.binary_search_by(|document| document.name.as_str().cmp(name)).ok()?;
        let document = documents.get(idx)?;
        self.selection.binary_search(&document.idx).is_ok().then_some(document)
    }

    /// The text of a document, if its bytes are unchanged since the scan.
    pub fn read(&self, document: &DocEntry) -> Result<Arc<str>, SourceError> {
        self.read_owned(document).map(Arc::from)
    }

    /// Like [`Self::read`], as an owned string, which saves a copy.
    pub fn read_owned(&self, document: &DocEntry) -> Result<String, SourceError> {
        read_text(document, Compared::Bytes)
    }

    /// Like `read_owned`, for text that is not shown: a file with unchanged size and time is not hashed.
    pub fn read_to_search(&self, document: &DocEntry) -> Result<String, SourceError> {
        read_text(document, Compared::Stamp)
    }

    /// False only if the scan looked for the same words and the document has none of them.
    pub fn may_hold(&self, document: &DocEntry, needles: &Needles) -> bool {
        !document.lacks_sought || self.corpus.sought.as_ref() != Some(needles)
    }

    /// An outline of the documents, without reading any text.
    pub fn outline(&self) -> Outline {
        Outline::of(self.documents())
    }

    fn at(&self, idx: u32) -> &DocEntry {
        &self.corpus.documents()[idx as usize]
    }
}

#[cfg(test)]
mod tests;
