//! A run in progress: its events as they arrive, a way to cancel it, and its answer at the end.

use std::sync::Arc;
use std::time::Instant;

use futures_util::Stream;
use futures_util::stream::unfold;
use spelunk_engine::{Projector, RunHandle, RunView};
use spelunk_journal::{JournalError, Record};
use spelunk_types::{Event, RunId};

use super::{Answer, Error};
use crate::app::App;
use crate::blocking::blocking;
use crate::failure::Result;
use crate::otel;
use crate::render::progress::run_status;
use crate::runs::files_incomplete;

/// A run in progress. Dropping it stops the run as a crash would; it can be resumed.
pub struct Running {
    app: Arc<App>,
    handle: RunHandle,
    view: RunView,
    began: Instant,
    /// Writes the run's files next to its journal.
    projector: Option<Projector>,
}

impl Running {
    pub(super) fn new(app: Arc<App>, handle: RunHandle) -> Result<Self> {
        let projector = Projector::start(&app.workspace()?, &handle.run);
        Ok(Self { app, handle, view: RunView::default(), began: Instant::now(), projector })
    }

    /// The id of the run.
    pub fn run(&self) -> &RunId {
        &self.handle.run
    }

    /// Stops the run cleanly: its results so far are kept, and it can be resumed.
    pub fn cancel(&self) {
        self.handle.cancel.cancel();
    }

    /// What the run was doing at its last event, in two lines: the turn; calls, tokens, cost and time.
    pub fn status(&self) -> String {
        run_status(&self.view, 0, self.began.elapsed())
    }

    /// The next event; `None` once the run has ended. Pieces of replies arrive as `call.streamed` before the reply is
    /// recorded.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            match self.handle.events.next().await? {
                Ok(Record::Known(event)) => {
                    self.view.apply(&event);
                    return Some(Ok(*event));
                }
                // Only a newer engine writes these.
                Ok(Record::Unknown { .. }) => {}
                Err(error) => return Some(Err(error.into())),
            }
        }
    }

    /// The events as a stream.
    pub fn events(&mut self) -> impl Stream<Item = Result<Event, Error>> + '_ {
        unfold(self, |running| async move { running.next().await.map(|event| (event, running)) })
    }

    /// Waits for the run to end and returns its answer.
    pub async fn answer(mut self) -> Result<Answer, Error> {
        while let Some(event) = self.next().await {
            drop(event?);
        }
        let Self { app, handle, view, projector, .. } = self;
        let result = handle.join().await;
        otel::export(&app, &result.run).await;
        let answer = blocking(move || {
            // The journal is the source of truth and is complete; the files next to it can be rebuilt.
            let written: Result<(), JournalError> = projector.map_or(Ok(()), Projector::finish);
            let mut answer = Answer::of(result, &view, &app.workspace()?.blobs())?;
            let unwritten = written.err().map(|error| files_incomplete(&answer.run, &error));
            answer.warnings.extend(unwritten);
            Ok(answer)
        });
        Ok(answer.await?)
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("run", self.run()).finish_non_exhaustive()
    }
}
