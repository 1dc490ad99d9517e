//! The projection of a run in progress: a separate thread follows the journal and writes at most once a
//! second and at the end. The run never waits for it, and its disk errors do not affect the run.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use spelunk_journal::{DerivedFiles, JournalError, JournalTail, Workspace};
use spelunk_types::RunId;

use super::Projection;

const PAUSE: Duration = Duration::from_secs(1);

/// Keeps the files of a run up to date while it is in progress.
pub struct Projector {
    /// Dropping it ends the thread after one last read.
    stop: Sender<()>,
    thread: JoinHandle<Result<(), JournalError>>,
}

impl Projector {
    /// Starts following a run of this process; `None` if the workspace is not on the file system.
    pub fn start(workspace: &Workspace, run: &RunId) -> Option<Self> {
        let files = DerivedFiles::of_run(workspace, run)?;
        files.remove_leftovers();
        let tail = JournalTail::open(workspace, run).ok()?;
        let projection = Projection::new(workspace, run, files);
        let (stop, stopped) = channel();
        let builder = std::thread::Builder::new().name("projection".to_owned());
        let thread = builder.spawn(move || follow(projection, tail, &stopped)).ok()?;
        Some(Self { stop, thread })
    }

    /// Waits until the files reflect the whole journal.
    pub fn finish(self) -> Result<(), JournalError> {
        drop(self.stop);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn follow(
    mut projection: Projection,
    mut tail: JournalTail,
    stopped: &Receiver<()>,
) -> Result<(), JournalError> {
    loop {
        // Reading after the stop signal ensures that nothing written before it is missed.
        let is_last = stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected);
        for record in tail.read_new()? {
            projection.apply(&record)?;
        }
        projection.flush()?;
        if is_last {
            return Ok(());
        }
    }
}
