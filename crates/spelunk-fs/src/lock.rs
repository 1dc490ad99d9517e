//! Locks on files. The operating system holds a lock, so it is released when its process ends.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);
const PID_BYTES_MAX: u64 = 20;

/// Why a file was not locked.
#[derive(Debug)]
pub enum LockError {
    /// Another process holds the lock; its id, if it has written it.
    Held(Option<u32>),
    /// The file cannot be locked.
    Unusable(io::Error),
}

/// Locks a file that was just opened, waiting up to `wait_max`. The lock is held while the result is open.
pub fn lock_file(mut file: File, wait_max: Duration) -> Result<File, LockError> {
    match lock_within(wait_max, || file.try_lock()) {
        Ok(()) => {
            // The pid is only for the error message of another process.
            drop(file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())));
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            drop(file.take(PID_BYTES_MAX).read_to_string(&mut pid));
            Err(LockError::Held(pid.trim().parse().ok()))
        }
        Err(TryLockError::Error(source)) => Err(LockError::Unusable(source)),
    }
}

/// Tries a lock until it is taken or `wait_max` has passed.
pub fn lock_within(
    wait_max: Duration,
    mut lock: impl FnMut() -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    let began = Instant::now();
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < wait_max => std::thread::sleep(POLL),
            taken => return taken,
        }
    }
}
