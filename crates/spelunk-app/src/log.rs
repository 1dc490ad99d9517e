//! The log of a server. A queue passes lines to a writer thread, so a stalled reader blocks only that thread.
//! Lines that do not fit are dropped, counted, and reported when the reader catches up.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const LINES_MAX: usize = 1_000;
const FAREWELL_MAX: Duration = Duration::from_secs(1);

pub(crate) struct LogWriter {
    /// `None` once the log is closed.
    queue: Mutex<Option<SyncSender<String>>>,
    n_dropped: Arc<AtomicU64>,
    /// Receives when the last line is written.
    written: Mutex<Receiver<()>>,
}

impl LogWriter {
    pub(crate) fn to_stderr() -> io::Result<Self> {
        // Bypasses the standard library's handle: a writer blocked on its lock would block every other one.
        #[cfg(unix)]
        let out = std::fs::File::from(std::os::fd::AsFd::as_fd(&io::stderr()).try_clone_to_owned()?);
        #[cfg(not(unix))]
        let out = io::stderr();
        Self::to(out)
    }

    fn to(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, lines) = sync_channel::<String>(LINES_MAX);
        let (done, written) = sync_channel(1);
        let n_dropped = Arc::new(AtomicU64::new(0));
        let dropped = Arc::clone(&n_dropped);
        let write = move || {
            for line in lines {
                let n_dropped = dropped.swap(0, Ordering::Relaxed);
                let report = match n_dropped {
                    0 => String::new(),
                    n => format!("warning: {n} log lines were dropped because they were not read in time\n"),
                };
                // A closed pipe is not an error: the reader has seen enough.
                drop(out.write_all(format!("{report}{line}\n").as_bytes()));
            }
            // The receiver may be gone.
            let _unheard = done.send(());
        };
        std::thread::Builder::new().name("log".to_owned()).spawn(write)?;
        Ok(Self { queue: Mutex::new(Some(queue)), n_dropped, written: Mutex::new(written) })
    }

    /// Queues a line, or drops it. Never blocks.
    pub(crate) fn say(&self, line: &str) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = &*queue else { return };
        if let Err(TrySendError::Full(_)) = queue.try_send(line.to_owned()) {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for the last lines to be written, up to a timeout.
    pub(crate) fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let _written = written.recv_timeout(FAREWELL_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that blocks until it is released.
    struct Stalled {
        read: Receiver<()>,
        text: Arc<Mutex<String>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _allowed = self.read.recv();
            self.text.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_beyond_the_queue_are_dropped_counted_and_reported() {
        let (reading, read) = sync_channel::<()>(0);
        let text = Arc::new(Mutex::new(String::new()));
        let log = LogWriter::to(Stalled { read, text: Arc::clone(&text) }).unwrap();
        // One line is being written, the queue is full, and the rest is dropped; nothing blocks.
        let n_said = LINES_MAX + 51;
        log.say("0");
        // The first line is being written once the queue has room for another one.
        while log.queue.lock().unwrap().as_ref().unwrap().try_send("1".to_owned()).is_err() {}
        (2..n_said).for_each(|n| log.say(&n.to_string()));
        let n_dropped = log.n_dropped.load(Ordering::Relaxed);
        assert!((50..=51).contains(&n_dropped), "{n_dropped}");
        drop(reading);
        log.close();
        let text = text.lock().unwrap();
        let report =
            format!("warning: {n_dropped} log lines were dropped because they were not read in time\n");
        assert_eq!(text.matches(&report).count(), 1, "{text}");
        assert_eq!(text.lines().count() as u64, n_said as u64 - n_dropped + 1);
        log.say("after the end");
    }
}
