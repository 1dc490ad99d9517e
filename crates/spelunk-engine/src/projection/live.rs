//! The projection of a run that goes on: a thread of its own follows the journal and writes, at most once a second and
//! at the end. The run never waits for it, and a disk that refuses it costs the run nothing.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use spelunk_journal::{DerivedFiles, JournalError, JournalTail, Workspace};
use spelunk_types::RunId;

use super::Projection;

const PAUSE: Duration = Duration::from_secs(1);

/// Keeps the files of a run written while it goes on.
pub struct Projector {
    /// Dropping it ends the thread after one last look.
    stop: Sender<()>,
    thread: JoinHandle<Result<(), JournalError>>,
}

impl Projector {
    /// Starts beside the journal of a run that this process works on; `None` where the workspace is not on the file system.
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

    /// Waits until everything that is in the journal is in the files.
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
        // The look comes after the word to stop: nothing written before that word is missed.
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
