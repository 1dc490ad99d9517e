//! Retrieval: finds passages of a run's text by words and by meaning, using an index stored next to the runs. The index
//! is built at the first search. If there is no place to store one, each search reads the text instead.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spelunk_context::{Detector, Drift, SourceError, View};
use spelunk_fs::PrivateDir;
use spelunk_index::{
    Build, EmbedError, Embedder, Hit, INDEXED_FIRST_BYTES_MAX, Index, IndexError, IndexOptions,
    IndexProgress, Mode, Notice, Query, RankOptions, Texts, UpdateOptions, rank,
};

use crate::sync::lock;

/// How many names identify a corpus.
const NAMES_MAX: usize = 1000;

/// The most bytes of passages that are ranked without an index.
const RANKED_BYTES_MAX: u64 = 1_000_000;

/// The index folder of a view: all versions of the same documents share one.
pub fn index_folder(whole: &View) -> String {
    let names: Vec<&str> = whole.documents().map(|document| document.name.as_str()).take(NAMES_MAX).collect();
    let key = spelunk_journal::digest(names.join("\n").as_bytes());
    format!("index-v1/{}", key.to_string().get(..16).unwrap_or_default())
}

pub(crate) type OpenEmbedder = Arc<dyn Fn() -> Result<Arc<dyn Embedder>, EmbedError> + Send + Sync>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundPassage {
    pub(crate) document: String,
    pub(crate) doc_idx: u32,
    /// Byte offset in the document: a document of one long line has many passages.
    pub(crate) start: usize,
    pub(crate) line_start: u64,
    pub(crate) text: String,
    pub(crate) score: f32,
    /// Semantic similarity, from -1 to 1.
    pub(crate) similarity: Option<f32>,
}

/// Passages, best first, and notices about how they were found.
#[derive(Debug, Default)]
pub(crate) struct FoundPassages {
    pub(crate) passages: Vec<FoundPassage>,
    pub(crate) notices: Vec<Notice>,
}

/// Finds passages of one corpus.
pub(crate) struct Retrieval {
    /// Where its index is stored, if there is a place for it.
    pub(crate) directory: Option<(PrivateDir, String)>,
    /// Opens the embedding model on demand.
    pub(crate) embedder: OpenEmbedder,
    pub(crate) detector: Detector,
    /// Identifies the detector's settings.
    pub(crate) detector_key: String,
    /// The whole corpus: the index covers all of it, while a search may look at part of it.
    pub(crate) whole: View,
    pub(crate) index: Mutex<IndexState>,
}

#[derive(Default)]
pub(crate) enum IndexState {
    /// Nobody has searched yet.
    #[default]
    NotYet,
    Ready(Box<Index>),
    /// There is none, because the embedding model is unavailable. A run does not retry, so that all
    /// of its searches work the same way.
    Without(Notice),
}

impl Retrieval {
    /// The best passages of a view. Updates the index first and reports to `progress`. If semantic search is
    /// unavailable and not required, searches by words and adds a notice. `texts` caches what earlier searches of the
    /// same view have read.
    pub(crate) fn find(
        &self,
        view: &View,
        text: &str,
        mode: Mode,
        hits_max: usize,
        texts: &mut Texts,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<FoundPassages, IndexError> {
        let without = |notices: Vec<Notice>| {
            let mut found = by_reading(view, text, hits_max);
            found.notices.extend(notices);
            found
        };
        let Some(directory) = &self.directory else { return Ok(without(Vec::new())) };
        let mut opened = lock(&self.index);
        let mut notices = Vec::new();
        if matches!(&*opened, IndexState::NotYet)
            && mode != Mode::Meaning
            && let Some(notice) = self.build_later(directory)?
        {
            return Ok(without(vec![notice]));
        }
        if matches!((&*opened, mode), (IndexState::NotYet, _) | (IndexState::Without(_), Mode::Meaning)) {
            match self.open_level(directory, progress) {
                Ok(Some((index, rebuilt))) => {
                    notices.extend(rebuilt);
                    *opened = IndexState::Ready(Box::new(index));
                }
                Ok(None) => return Ok(without(Vec::new())),
                Err(IndexError::Embed { source }) if mode != Mode::Meaning => {
                    *opened = IndexState::Without(Notice::not_embedded(&source));
                }
                Err(error) => return Err(error),
            }
        }
        let index = match &*opened {
            IndexState::Ready(index) => index,
            IndexState::Without(notice) => return Ok(without(vec![notice.clone()])),
            IndexState::NotYet => return Ok(without(Vec::new())),
        };
        let query = Query { mode, hits_max: hits_max.min(Query::HITS_MAX), ..Query::new(text) };
        let found = index.search_with(view, &query, texts)?;
        notices.extend(found.notices);
        Ok(FoundPassages { passages: found.hits.into_iter().map(FoundPassage::from).collect(), notices })
    }
}

impl From<Hit> for FoundPassage {
    fn from(hit: Hit) -> Self {
        Self {
            document: hit.document,
            doc_idx: hit.doc_idx,
            start: hit.span.start,
            line_start: hit.line_start,
            text: hit.text,
            score: hit.score,
            similarity: hit.similarity,
        }
    }
}

/// The poll interval, and the maximum number of polls while another run updates the index.
const POLL: Duration = Duration::from_millis(50);
const POLLS_MAX: u32 = 1200;

impl Retrieval {
    /// Opens the index and brings it up to date. If another run over the same documents is updating it, waits for
    /// that instead of repeating the work. `None` if that takes too long.
    fn open_level(
        &self,
        (dir, folder): &(PrivateDir, String),
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Option<(Index, Option<Notice>)>, IndexError> {
        let embedder = (self.embedder)()?;
        let options = self.update_options();
        for _ in 0..POLLS_MAX {
            let mut opened =
                Index::open_in(dir, folder, IndexOptions { embedder: Some(Arc::clone(&embedder)) })?;
            let updated = opened.update(&self.whole, &options, &mut |so_far| {
                progress(so_far);
                ControlFlow::Continue(())
            });
            match updated {
                Ok(report) => return Ok(Some((opened, report.rebuilt.map(Notice::Rebuilt)))),
                Err(IndexError::Locked { .. }) => std::thread::sleep(POLL),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Retrieval {
    /// If a lot of text is not indexed yet, starts indexing in the background and returns a notice.
    fn build_later(&self, (dir, folder): &(PrivateDir, String)) -> Result<Option<Notice>, IndexError> {
        let Ok(embedder) = (self.embedder)() else { return Ok(None) };
        let (options, whole) = (self.update_options(), self.whole.clone());
        let index_options = IndexOptions { embedder: Some(Arc::clone(&embedder)) };
        let bytes = Index::open_in(dir, folder, index_options)?.missing_bytes(&whole, &options);
        if bytes <= INDEXED_FIRST_BYTES_MAX {
            return Ok(None);
        }
        Build { dir: dir.clone(), folder: folder.clone(), embedder, whole, options }.start()?;
        Ok(Some(Notice::NotIndexed { bytes, is_building: true }))
    }

    fn update_options(&self) -> UpdateOptions {
        UpdateOptions {
            detector: self.detector.clone(),
            detector_key: self.detector_key.clone(),
            ..UpdateOptions::default()
        }
    }
}

/// The best passages by words alone, without an index.
pub(crate) fn by_reading(view: &View, text: &str, hits_max: usize) -> FoundPassages {
    let options = RankOptions::new(hits_max as u64, RANKED_BYTES_MAX);
    let (passages, notices) = rank_readable(view, text, &options);
    FoundPassages { passages: passages.into_iter().map(FoundPassage::from).collect(), notices }
}

/// The best passages of the readable documents, and notices for those that can no longer be read.
pub(crate) fn rank_readable(view: &View, text: &str, options: &RankOptions) -> (Vec<Hit>, Vec<Notice>) {
    let (mut view, mut lost) = (view.clone(), BTreeSet::new());
    loop {
        let error = match rank(&view, text, options, &mut |_| {}) {
            Ok(ranking) => {
                return (ranking.passages, lost.into_iter().map(Notice::Unreadable).collect());
            }
            Err(error) => error,
        };
        let drifted = view.drifts().into_iter().filter(|(_, drift)| !matches!(drift, Drift::Grew { .. }));
        let mut names: BTreeSet<String> = drifted.map(|(document, _)| document.name.clone()).collect();
        let SourceError::Changed { name } = &error else {
            return (Vec::new(), vec![Notice::Unreadable(error.to_string())]);
        };
        names.insert(name.clone());
        view = view.narrow(|document| !names.contains(&document.name));
        lost.extend(names);
    }
}

#[cfg(test)]
mod tests;
