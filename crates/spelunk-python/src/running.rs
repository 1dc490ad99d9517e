//! A run in progress, for Python: its events, a way to stop it, and its answer.

use std::pin::pin;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spelunk::{Answer, Error, Event};
use tokio::sync::{Mutex, Notify};

use crate::waiting::wait;
use crate::{raised, told};

/// How often a progress line is updated.
const MOMENT: Duration = Duration::from_millis(100);

/// A run in progress. Dropping it stops the run as a crash would.
#[pyclass(frozen)]
pub(crate) struct Running {
    #[pyo3(get)]
    run: String,
    /// `None` once its answer was taken.
    progress: Mutex<Option<spelunk::Running>>,
    /// Wakes the thread that waits for an event, so that it cancels the run.
    cancelled: Notify,
}

impl Running {
    pub(crate) fn new(running: spelunk::Running) -> Self {
        let run = running.run().as_str().to_owned();
        Self { run, progress: Mutex::new(Some(running)), cancelled: Notify::new() }
    }

    async fn next_event(&self, running: &mut spelunk::Running) -> Option<Result<Event, Error>> {
        loop {
            tokio::select! {
                event = running.next() => return event,
                () = self.cancelled.notified() => running.cancel(),
            }
        }
    }

    async fn status_after(
        &self,
        running: &mut spelunk::Running,
        time: Duration,
    ) -> Option<Result<String, Error>> {
        let mut over = pin!(tokio::time::sleep(time));
        loop {
            tokio::select! {
                event = self.next_event(running) => {
                    if let Err(error) = event? {
                        return Some(Err(error));
                    }
                }
                () = &mut over => return Some(Ok(running.status())),
            }
        }
    }

    /// `None` if it was taken already.
    async fn take_answer(&self) -> Option<Result<Answer, Error>> {
        let mut place = self.progress.lock().await;
        while let Some(event) = self.next_event(place.as_mut()?).await {
            if let Err(error) = event {
                return Some(Err(error));
            }
        }
        Some(place.take()?.answer().await)
    }
}

#[pymethods]
impl Running {
    /// The next event as JSON; `None` once the run has ended.
    fn next(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let event = wait(py, async { self.next_event(self.progress.lock().await.as_mut()?).await })?;
        let event = event.transpose().map_err(|error| raised(&error))?;
        let json = event.map(|event| serde_json::to_string(&event)).transpose();
        json.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Lets the run continue for a moment and returns its status; `None` once it has ended. Its events are dropped.
    fn go_on(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let status =
            wait(py, async { self.status_after(self.progress.lock().await.as_mut()?, MOMENT).await })?;
        status.transpose().map_err(|error| raised(&error))
    }

    /// Stops the run cleanly, from any thread.
    fn cancel(&self) {
        match self.progress.try_lock() {
            Ok(running) => running.iter().for_each(spelunk::Running::cancel),
            Err(_) => self.cancelled.notify_one(),
        }
    }

    /// Waits for the end and returns the answer as JSON. It can be taken once.
    fn answer(&self, py: Python<'_>) -> PyResult<String> {
        match wait(py, self.take_answer())? {
            Some(answer) => told(answer, |answer| answer.json()),
            None => Err(PyRuntimeError::new_err("the answer was already taken")),
        }
    }
}
