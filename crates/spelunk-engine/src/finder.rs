//! The finder: passages of a run's text by words and by meaning, through an index that is kept beside the runs. It is
//! made when the first search asks for it. Where there is no place for one, the text is read each time instead.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spelunk_context::{Detector, View};
use spelunk_index::{
    EmbedError, Embedder, Index, IndexError, IndexOptions, IndexProgress, Mode, Query, RankOptions,
    UpdateOptions, rank,
};

/// Names that tell one corpus from another.
const NAMES_MAX: usize = 1000;

/// Passages that are looked at where there is no index, in bytes of text.
const RANKED_BYTES_MAX: u64 = 1_000_000;

/// The folder of the index of a view: the same documents, in whatever version, have one.
pub fn index_folder(whole: &View) -> PathBuf {
    let names: Vec<&str> = whole.documents().map(|document| document.name.as_str()).take(NAMES_MAX).collect();
    let key = spelunk_journal::digest(names.join("\n").as_bytes());
    PathBuf::from("index-v1").join(key.as_str().get(..16).unwrap_or_default())
}

/// Opens what turns texts into vectors.
pub(crate) type OpenEmbedder = Arc<dyn Fn() -> Result<Arc<dyn Embedder>, EmbedError> + Send + Sync>;

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundPassage {
    pub(crate) document: String,
    pub(crate) doc_idx: u32,
    pub(crate) line_start: u64,
    pub(crate) text: String,
    pub(crate) score: f32,
    /// How near it is in meaning, from -1 to 1.
    pub(crate) similarity: Option<f32>,
}

/// Finds passages of one corpus.
pub(crate) struct Finder {
    /// Where its index is kept, if there is a place for it.
    pub(crate) directory: Option<PathBuf>,
    /// What turns texts into vectors, opened when it is needed.
    pub(crate) embedder: OpenEmbedder,
    pub(crate) detector: Detector,
    /// What tells settings of the detector apart.
    pub(crate) detector_key: String,
    /// The whole corpus: an index holds all of it, and a search looks at part of it.
    pub(crate) whole: View,
    pub(crate) index: Mutex<Option<Index>>,
}

impl Finder {
    /// The best passages of a view. Brings the index level first; `progress` is told how far that is.
    pub(crate) fn find(
        &self,
        view: &View,
        text: &str,
        mode: Mode,
        hits_max: usize,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Vec<FoundPassage>, IndexError> {
        let Some(directory) = &self.directory else { return Ok(by_reading(view, text, hits_max)) };
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if index.is_none() {
            *index = self.open_level(directory, progress)?;
        }
        let Some(index) = index.as_ref() else { return Ok(by_reading(view, text, hits_max)) };
        let query = Query { mode, hits_max: hits_max.min(Query::HITS_MAX), ..Query::new(text) };
        let found = index.search(view, &query)?;
        Ok(found
            .hits
            .into_iter()
            .map(|hit| FoundPassage {
                document: hit.document,
                doc_idx: hit.doc_idx,
                line_start: hit.line_start,
                text: hit.text,
                score: hit.score,
                similarity: hit.similarity,
            })
            .collect())
    }
}

/// How often, and how long, the work of another run is waited for.
const POLL: Duration = Duration::from_millis(50);
const POLLS_MAX: u32 = 1200;

impl Finder {
    /// The index of the corpus, brought level. Another run over the same documents may be at that: what it does need not
    /// be done again, so it is waited for. Nothing if that takes too long.
    fn open_level(
        &self,
        directory: &Path,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Option<Index>, IndexError> {
        let embedder = (self.embedder)()?;
        let options = UpdateOptions {
            detector: self.detector.clone(),
            detector_key: self.detector_key.clone(),
            ..UpdateOptions::default()
        };
        for _ in 0..POLLS_MAX {
            let mut opened = Index::open(directory, IndexOptions { embedder: Some(Arc::clone(&embedder)) })?;
            let updated = opened.update(&self.whole, &options, &mut |so_far| {
                progress(so_far);
                ControlFlow::Continue(())
            });
            match updated {
                Ok(_) => return Ok(Some(opened)),
                Err(IndexError::Locked { .. }) => std::thread::sleep(POLL),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// The same by words alone. A document that cannot be read any more has no passages.
fn by_reading(view: &View, text: &str, hits_max: usize) -> Vec<FoundPassage> {
    let options = RankOptions::new(hits_max as u64, RANKED_BYTES_MAX);
    let ranking = rank(view, text, &options, &mut |_| {});
    let passages = ranking.map(|ranking| ranking.passages).unwrap_or_default();
    passages
        .into_iter()
        .map(|passage| FoundPassage {
            document: passage.document,
            doc_idx: passage.doc_idx,
            line_start: passage.line_start,
            text: passage.text,
            score: passage.score,
            similarity: None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
