//! Searches one index of the workspace, updating it first if necessary. If the embedding model is unavailable, the
//! search uses words only and the result says so; the index is never rebuilt for that, because its vectors may have
//! cost money.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_context::View;
use spelunk_fs::PrivateDir;
use spelunk_index::{
    EmbedError, Embedder, Index, IndexError, IndexOptions, IndexProgress, Mode, Notice, Query, SearchResults,
    UpdateOptions, search_by_reading,
};

use crate::app::App;

use crate::failure::Failure;

/// An index and its search options.
pub struct Indexed<'a> {
    pub app: &'a App,
    /// Its folder in the workspace.
    pub folder: &'a str,
    pub level: Level,
    /// Called with the progress of an update.
    pub progress: &'a mut dyn FnMut(IndexProgress),
}

/// When the index is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Before every search: it covers exactly what is searched.
    Always,
    /// Only if something that is searched is missing or out of date.
    WhereNeeded,
}

/// Serializes index updates in this process; a lock of the index itself serializes processes.
static LEVELLING: Mutex<()> = Mutex::new(());

impl Indexed<'_> {
    /// The best passages of a view. `whole` is what the index covers; `None` means the view itself.
    pub fn search(
        &mut self,
        view: &View,
        query: &Query,
        whole: impl Fn() -> Result<Option<View>, Failure>,
    ) -> Result<SearchResults, Failure> {
        self.search_in(None, view, query, whole)
    }

    /// The same with the index in another directory than the workspace.
    pub(crate) fn search_in(
        &mut self,
        dir: Option<&PrivateDir>,
        view: &View,
        query: &Query,
        whole: impl Fn() -> Result<Option<View>, Failure>,
    ) -> Result<SearchResults, Failure> {
        let embedder = match self.app.embedder() {
            Ok(embedder) => embedder,
            Err(error) => return self.read(view, query, error),
        };
        let options = UpdateOptions {
            detector: self.app.settings.detector(),
            detector_key: self.app.detector_key(),
            ..UpdateOptions::default()
        };
        let mut index = self.open(dir, embedder)?;
        let mut notices = Vec::new();
        let mut is_due = self.level == Level::Always || !index.holds(view, &options);
        loop {
            let was_due = is_due;
            if is_due {
                let whole = whole()?;
                match self.update(&mut index, whole.as_ref().unwrap_or(view), &options) {
                    Ok(rebuilt) => notices.extend(rebuilt),
                    Err(IndexError::Embed { source }) => return self.read(view, query, source),
                    Err(error) => return Err(error.into()),
                }
            }
            match index.search(view, query) {
                // A file was damaged after it was opened: an update repairs it, once.
                Err(IndexError::Damaged { .. }) if !was_due => is_due = true,
                Err(error) => return Err(error.into()),
                Ok(mut found) => {
                    notices.append(&mut found.notices);
                    return Ok(SearchResults { notices, ..found });
                }
            }
        }
    }

    fn open(&self, dir: Option<&PrivateDir>, embedder: Arc<dyn Embedder>) -> Result<Index, Failure> {
        let dir = match dir {
            Some(dir) => dir.clone(),
            None => {
                let workspace = self.app.workspace()?;
                workspace.dir().cloned().unwrap_or_else(|| PrivateDir::new(self.app.workspace_root()))
            }
        };
        Ok(Index::open_in(&dir, self.folder, IndexOptions { embedder: Some(embedder) })?)
    }

    fn update(
        &mut self,
        index: &mut Index,
        whole: &View,
        options: &UpdateOptions,
    ) -> Result<Option<Notice>, IndexError> {
        let _one_at_a_time = LEVELLING.lock().unwrap_or_else(PoisonError::into_inner);
        let report = index.update(whole, options, &mut |so_far| {
            (self.progress)(so_far);
            ControlFlow::Continue(())
        })?;
        Ok(report.rebuilt.map(Notice::Rebuilt))
    }

    /// Searches by words, without an index, unless the query asked for meaning.
    fn read(&self, view: &View, query: &Query, error: EmbedError) -> Result<SearchResults, Failure> {
        if query.mode == Mode::Meaning {
            return Err(error.into());
        }
        let because = Notice::not_embedded(&error);
        Ok(search_by_reading(view, query, &self.app.settings.detector(), because)?)
    }
}
