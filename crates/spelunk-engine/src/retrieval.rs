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
    IndexProgress, Mode, Notice, Query, RankOptions, UpdateOptions, rank,
};

use crate::sync::lock;

const NAMES_MAX: usize = 1000;

/// The most bytes of passages that are ranked without an index.
const RANKED_BYTES_MAX: u64 = 1_000_000;

/// The poll interval, and the maximum number of polls while another run updates the index.
const POLL: Duration = Duration::from_millis(50);
const POLLS_MAX: u32 = 1200;

/// The index folder of a view: all versions of the same documents share one.
pub fn index_folder(whole: &View) -> String {
    let names: Vec<&str> = whole.documents().map(|document| document.name.as_str()).take(NAMES_MAX).collect();
    let key = spelunk_journal::digest(names.join("\n").as_bytes());
    format!("index-v1/{}", key.to_string().get(..16).unwrap_or_default())
}

pub(crate) type OpenEmbedder = Arc<dyn Fn() -> Result<Arc<dyn Embedder>, EmbedError> + Send + Sync>;

/// Passages, best first, and notices about how they were found.
pub(crate) type FoundPassages = (Vec<Hit>, Vec<Notice>);

pub(crate) struct Retrieval {
    /// Where its index is stored, if there is a place for it.
    pub(crate) directory: Option<(PrivateDir, String)>,
    pub(crate) embedder: OpenEmbedder,
    pub(crate) detector: Detector,
    pub(crate) detector_key: String,
    /// The whole corpus: the index covers all of it, while a search may look at part of it.
    pub(crate) whole: View,
    pub(crate) index: Mutex<IndexState>,
}

#[derive(Default)]
pub(crate) enum IndexState {
    #[default]
    NotYet,
    Ready(Box<Index>),
    /// There is none, because the embedding model is unavailable. A run does not retry, so that all
    /// of its searches work the same way.
    Without(Notice),
}

impl Retrieval {
    /// The best passages of a view. Updates the index first and reports to `progress`. If semantic search is
    /// unavailable and not required, searches by words and adds a notice.
    pub(crate) fn find(
        &self,
        view: &View,
        text: &str,
        mode: Mode,
        hits_max: usize,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<FoundPassages, IndexError> {
        let without = |notice: Option<Notice>| {
            let (passages, mut notices) = by_reading(view, text, hits_max);
            notices.extend(notice);
            (passages, notices)
        };
        let Some(directory) = &self.directory else { return Ok(without(None)) };
        let mut opened = lock(&self.index);
        let mut notices = Vec::new();
        if matches!(&*opened, IndexState::NotYet)
            && mode != Mode::Meaning
            && let Some(notice) = self.build_later(directory)?
        {
            return Ok(without(Some(notice)));
        }
        if matches!((&*opened, mode), (IndexState::NotYet, _) | (IndexState::Without(_), Mode::Meaning)) {
            match self.open_level(directory, progress) {
                Ok(Some((index, rebuilt))) => {
                    notices.extend(rebuilt);
                    *opened = IndexState::Ready(Box::new(index));
                }
                Ok(None) => return Ok(without(None)),
                Err(IndexError::Embed { source }) if mode != Mode::Meaning => {
                    *opened = IndexState::Without(Notice::not_embedded(&source));
                }
                Err(error) => return Err(error),
            }
        }
        let index = match &*opened {
            IndexState::Ready(index) => index,
            IndexState::Without(notice) => return Ok(without(Some(notice.clone()))),
            IndexState::NotYet => return Ok(without(None)),
        };
        let query = Query { mode, hits_max: hits_max.min(Query::HITS_MAX), ..Query::new(text) };
        let found = index.search(view, &query)?;
        notices.extend(found.notices);
        Ok((found.hits, notices))
    }

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
    rank_readable(view, text, &RankOptions::new(hits_max as u64, RANKED_BYTES_MAX))
}

/// The best passages of the readable documents, and notices for those that can no longer be read.
pub(crate) fn rank_readable(view: &View, text: &str, options: &RankOptions) -> FoundPassages {
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
