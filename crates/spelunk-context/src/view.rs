//! A view: a cheap handle on part of a corpus, and the only way to see its text. Narrowing never copies text and never
//! widens.

use std::sync::Arc;

use spelunk_types::BlobId;

use crate::scan_read::{digest_of, read_text};
use crate::{Corpus, DocEntry, Outline, SourceError};

/// Part of a corpus. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct View {
    corpus: Arc<Corpus>,
    /// Positions in the corpus, ascending.
    selection: Arc<[u32]>,
}

impl View {
    /// The whole corpus.
    pub fn of(corpus: Arc<Corpus>) -> Self {
        let selection = corpus.documents().iter().map(|document| document.idx).collect();
        Self { corpus, selection }
    }

    /// The documents of this view, sorted by name.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &DocEntry> {
        self.selection.iter().map(|&idx| self.at(idx))
    }

    /// The size of its documents on disk.
    pub fn bytes(&self) -> u64 {
        self.documents().map(|document| document.bytes).sum()
    }

    /// The hash over names and digests; for the whole corpus, the corpus's own.
    pub fn digest(&self) -> BlobId {
        digest_of(self.documents().map(|document| (document.name.as_str(), &document.digest)))
    }

    /// The documents of this view that `keep` says yes to.
    #[must_use]
    pub fn narrow(&self, keep: impl Fn(&DocEntry) -> bool) -> Self {
        let selection = self.selection.iter().copied().filter(|&idx| keep(self.at(idx))).collect();
        Self { corpus: Arc::clone(&self.corpus), selection }
    }

    /// The directories that the corpus was made of, where there are several: what the names of their documents begin
    /// with.
    pub fn directories(&self) -> Vec<String> {
        let sources = self.corpus.reports().iter().map(|report| report.source.clone());
        let holds = |source: &String| {
            let prefix = format!("{source}/");
            self.documents().any(|document| document.name.starts_with(&prefix))
        };
        let directories: Vec<String> = sources.filter(holds).collect();
        if directories.len() > 1 { directories } else { Vec::new() }
    }

    /// The documents at these positions that are in this view.
    #[must_use]
    pub fn only(&self, idxs: impl IntoIterator<Item = u32>) -> Self {
        let mut selection: Vec<u32> =
            idxs.into_iter().filter(|idx| self.selection.binary_search(idx).is_ok()).collect();
        selection.sort_unstable();
        selection.dedup();
        Self { corpus: Arc::clone(&self.corpus), selection: selection.into() }
    }

    /// The document of that name, if it is in this view.
    pub fn find(&self, name: &str) -> Option<&DocEntry> {
        let documents = self.corpus.documents();
        let idx = documents.binary_search_by(|document| document.name.as_str().cmp(name)).ok()?;
        let document = documents.get(idx)?;
        self.selection.binary_search(&document.idx).is_ok().then_some(document)
    }

    /// The text of a document, if its bytes are still those that were scanned.
    pub fn read(&self, document: &DocEntry) -> Result<Arc<str>, SourceError> {
        self.read_owned(document).map(Arc::from)
    }

    /// The same, for a reader that is done with one document before the next: one copy less.
    pub fn read_owned(&self, document: &DocEntry) -> Result<String, SourceError> {
        read_text(document)
    }

    /// What there is, without looking into any text.
    pub fn outline(&self) -> Outline {
        Outline::of(self.documents())
    }

    fn at(&self, idx: u32) -> &DocEntry {
        &self.corpus.documents()[idx as usize]
    }
}

#[cfg(test)]
mod tests;
