//! Searching one index of the workspace: it is brought level first where it has to be. Where the model that makes its vectors
//! cannot be had, words are looked for without it and the answer says so; an index is never built anew for that, because
//! its vectors may have been paid for.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_context::View;
use spelunk_fs::PrivateDir;
use spelunk_index::{
    EmbedError, Embedder, Found, Index, IndexError, IndexOptions, IndexProgress, Mode, Notice, Query,
    UpdateOptions, search_by_reading,
};

use crate::app::App;

use crate::failure::Failure;

/// An index, and who searches it.
pub struct Indexed<'a> {
    pub app: &'a App,
    /// Where it is, in the workspace.
    pub folder: &'a str,
    pub level: Level,
    /// Is told how far an update is.
    pub progress: &'a mut dyn FnMut(IndexProgress),
}

/// When an index is brought level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Before every search: it holds what is searched and nothing else.
    Always,
    /// Where something that is searched is not in it as it is now.
    WhereNeeded,
}

/// One writer of an index in this process; another process is told to wait by the index itself.
static LEVELLING: Mutex<()> = Mutex::new(());

impl Indexed<'_> {
    /// The best passages of a view. `whole` is what the index holds: the view itself where it is nothing.
    pub fn search(
        &mut self,
        view: &View,
        query: &Query,
        whole: impl Fn() -> Result<Option<View>, Failure>,
    ) -> Result<Found, Failure> {
        let embedder = match self.app.embedder() {
            Ok(embedder) => embedder,
            Err(error) => return self.read(view, query, error),
        };
        let options = UpdateOptions {
            detector: self.app.settings.detector(),
            detector_key: self.app.detector_key(),
            ..UpdateOptions::default()
        };
        let mut index = self.open(embedder)?;
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
                // A file was damaged since it was opened: an update mends it, once.
                Err(IndexError::Damaged { .. }) if !was_due => is_due = true,
                Err(error) => return Err(error.into()),
                Ok(mut found) => {
                    notices.append(&mut found.notices);
                    return Ok(Found { notices, ..found });
                }
            }
        }
    }

    fn open(&self, embedder: Arc<dyn Embedder>) -> Result<Index, Failure> {
        let workspace = self.app.workspace()?;
        let dir = workspace.dir().cloned().unwrap_or_else(|| PrivateDir::new(self.app.workspace_root()));
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

    /// By words and without an index, unless it was meaning that was asked for.
    fn read(&self, view: &View, query: &Query, error: EmbedError) -> Result<Found, Failure> {
        if query.mode == Mode::Meaning {
            return Err(error.into());
        }
        let because = Notice::not_embedded(&error);
        Ok(search_by_reading(view, query, &self.app.settings.detector(), because)?)
    }
}
