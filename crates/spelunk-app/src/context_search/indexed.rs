//! Searches one index of the workspace, updating it first if necessary. If the embedding model is
//! unavailable, the search uses words only and the result says so; the index is never rebuilt
//! because of that: its vectors may have cost money.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_context::View;
use spelunk_fs::PrivateDir;
use spelunk_index::{
    Build, EmbedError, INDEXED_FIRST_BYTES_MAX, Index, IndexError, IndexOptions, IndexProgress, Mode, Notice,
    Query, SearchResults, UpdateOptions, UpdateReport, search_by_reading,
};

use crate::app::App;

use crate::failure::Result;

pub struct Indexed<'a> {
    pub app: &'a App,
    pub folder: &'a str,
    pub level: Level,
    /// If a lot of text is not indexed, a search by words scans the text instead. Whether the index
    /// is then built in the background, for processes that live long enough.
    pub in_background: bool,
    pub progress: &'a mut dyn FnMut(IndexProgress),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Before every search, so that it covers exactly the searched text.
    Always,
    /// Only if something that is searched is missing or outdated.
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
        whole: impl Fn() -> Result<Option<View>>,
    ) -> Result<SearchResults> {
        self.search_in(None, view, query, whole)
    }

    /// The same with the index in another directory.
    pub(crate) fn search_in(
        &mut self,
        dir: Option<&PrivateDir>,
        view: &View,
        query: &Query,
        whole: impl Fn() -> Result<Option<View>>,
    ) -> Result<SearchResults> {
        let embedder = match self.app.embedder() {
            Ok(embedder) => embedder,
            Err(error) => return self.read(view, query, error),
        };
        let options = self.update_options();
        let dir = self.dir(dir)?;
        let index_options = IndexOptions { embedder: Some(Arc::clone(&embedder)) };
        let mut index = Index::open_in(&dir, self.folder, index_options)?;
        let mut notices = Vec::new();
        let bytes = index.missing_bytes(view, &options);
        if bytes > INDEXED_FIRST_BYTES_MAX && query.mode != Mode::Meaning {
            let is_building = self.in_background;
            if is_building {
                let whole = whole()?.unwrap_or_else(|| view.clone());
                Build { dir, folder: self.folder.to_owned(), embedder, whole, options }.start()?;
            }
            let because = Notice::NotIndexed { bytes, is_building };
            return Ok(search_by_reading(view, query, &self.app.settings.detector(), because)?);
        }
        let mut is_due = self.level == Level::Always || bytes > 0;
        loop {
            let was_due = is_due;
            if is_due {
                let whole = whole()?;
                match self.update(&mut index, whole.as_ref().unwrap_or(view), &options) {
                    Ok(report) => notices.extend(report.rebuilt.map(Notice::Rebuilt)),
                    Err(IndexError::Embed { source }) => return self.read(view, query, source),
                    // Another process is building it: the complete part is searched, the rest is scanned.
                    Err(IndexError::Locked { .. }) if bytes == 0 => {}
                    Err(IndexError::Locked { .. }) if query.mode != Mode::Meaning => {
                        let because = Notice::NotIndexed { bytes, is_building: true };
                        return Ok(search_by_reading(view, query, &self.app.settings.detector(), because)?);
                    }
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

    pub fn build(&mut self, view: &View) -> Result<UpdateReport> {
        let index_options = IndexOptions { embedder: Some(self.app.embedder()?) };
        let mut index = Index::open_in(&self.dir(None)?, self.folder, index_options)?;
        let options = self.update_options();
        Ok(self.update(&mut index, view, &options)?)
    }

    fn update_options(&self) -> UpdateOptions {
        UpdateOptions {
            detector: self.app.settings.detector(),
            detector_key: self.app.detector_key(),
            ..UpdateOptions::default()
        }
    }

    fn dir(&self, dir: Option<&PrivateDir>) -> Result<PrivateDir> {
        if let Some(dir) = dir {
            return Ok(dir.clone());
        }
        let workspace = self.app.workspace()?;
        Ok(workspace.dir().cloned().unwrap_or_else(|| PrivateDir::new(self.app.workspace_root())))
    }

    fn update(
        &mut self,
        index: &mut Index,
        whole: &View,
        options: &UpdateOptions,
    ) -> Result<UpdateReport, IndexError> {
        let _one_at_a_time = LEVELLING.lock().unwrap_or_else(PoisonError::into_inner);
        index.update(whole, options, &mut |so_far| {
            (self.progress)(so_far);
            ControlFlow::Continue(())
        })
    }

    fn read(&self, view: &View, query: &Query, error: EmbedError) -> Result<SearchResults> {
        if query.mode == Mode::Meaning {
            return Err(error.into());
        }
        let because = Notice::not_embedded(&error);
        Ok(search_by_reading(view, query, &self.app.settings.detector(), because)?)
    }
}
