//! Work that may bring down its process: computation on untrusted input runs in an expendable worker process.
//! The caller names the task and its limits; the program decides how to start a worker.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// The limits of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkBounds {
    /// Total memory.
    pub memory_bytes_max: u64,
    /// Total CPU time.
    pub cpu_ms_max: u64,
}

/// One end of the connection between a program and its worker. A message arrives whole or not at all.
pub trait WorkLine: Send {
    /// Sends a message.
    fn send(&mut self, message: &[u8]) -> Result<(), WorkError>;

    /// Waits for a message.
    fn receive(&mut self) -> Result<Vec<u8>, WorkError>;
}

/// Starts workers.
pub trait Workers: fmt::Debug + Send + Sync {
    /// Starts a worker for the task of this name. It ends when the connection is dropped.
    fn start(&self, task: &str, bounds: WorkBounds) -> Result<Box<dyn WorkLine>, WorkError>;
}

/// Why a task failed. The worker is gone afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum WorkError {
    /// It exceeded its memory limit.
    Memory { bytes_max: u64 },
    /// It exceeded its CPU time.
    Time { ms_max: u64 },
    /// Its process ended before the task did, and how.
    Crashed { how: String },
    /// No worker could be started: why, and what to do about it.
    NoWorker { why: String },
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { bytes_max } => {
                write!(f, "it exceeded {} MB of memory and was stopped", bytes_max >> 20)
            }
            Self::Time { ms_max } => {
                write!(f, "it exceeded {} s of CPU time and was stopped", ms_max / 1000)
            }
            Self::Crashed { how } => write!(f, "its process exited: {how}"),
            Self::NoWorker { why } => write!(f, "could not start a process for it: {why}"),
        }
    }
}

impl std::error::Error for WorkError {}

static EMPLOYED: RwLock<Option<Arc<dyn Workers>>> = RwLock::new(None);

/// Runs this program's tasks in these workers from now on. Without workers, they run in the program
/// itself, which is meant for tests and trusted input.
pub fn employ(workers: Arc<dyn Workers>) {
    *EMPLOYED.write().unwrap_or_else(PoisonError::into_inner) = Some(workers);
}

/// The workers that run this program's tasks; `None` if it runs them itself.
pub fn workers() -> Option<Arc<dyn Workers>> {
    EMPLOYED.read().unwrap_or_else(PoisonError::into_inner).clone()
}
