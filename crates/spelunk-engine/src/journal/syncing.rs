//! Syncs a journal in the background, shortly after it was written. Nobody waits for it; it bounds
//! what a power failure can lose.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use spelunk_journal::{Journal, JournalSync, SyncMode};

use super::writer::Broken;

/// How long a line may stay unsynced.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Syncing {
    sync: JournalSync,
    /// `None` if the journal itself syncs everything important.
    thread: Option<Thread>,
}

struct Thread {
    /// Dropping it ends the thread.
    wake: Sender<()>,
    is_awake: Arc<AtomicBool>,
}

impl Syncing {
    pub(super) fn start(journal: &Journal, broken: &Broken) -> Self {
        let (mode, sync) = journal.sync();
        let thread = (mode == SyncMode::Process).then(|| {
            let (wake, woken) = channel();
            let is_awake = Arc::new(AtomicBool::new(false));
            let (sync, is_dirty, broken) = (sync.clone(), Arc::clone(&is_awake), Arc::clone(broken));
            let builder = std::thread::Builder::new().name("spelunk-sync".into());
            let started = builder.spawn(move || follow(&sync, &woken, &is_dirty, &broken));
            started.expect("the operating system grants two threads per run");
            Thread { wake, is_awake }
        });
        let syncing = Self { sync, thread };
        if journal.is_ahead() {
            syncing.wake();
        }
        syncing
    }

    pub(super) fn wake(&self) {
        let Some(Thread { wake, is_awake }) = &self.thread else { return };
        if !is_awake.swap(true, Ordering::AcqRel) {
            // The thread listens as long as this side exists.
            let _heard = wake.send(());
        }
    }

    /// Syncs the rest of a run that was cut off. If that fails, the next process continues from what is on disk.
    pub(super) fn finish(self) {
        drop(self.sync.sync());
    }
}

fn follow(sync: &JournalSync, woken: &Receiver<()>, is_awake: &AtomicBool, broken: &Broken) {
    while woken.recv().is_ok() {
        if woken.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        // Reset before the sync: anything written meanwhile needs another one.
        is_awake.store(false, Ordering::Release);
        if let Err(error) = sync.sync() {
            broken.get_or_init(|| Arc::new(error));
        }
    }
}
