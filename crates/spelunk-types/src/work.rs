//! Work that may cost its process: what strangers wrote is computed on in a worker, which can be lost. Whoever has such
//! work says what it is and what it may take; the program says how a worker is started.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// What one piece of work may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkBounds {
    /// Memory, all together.
    pub memory_bytes_max: u64,
    /// Processor time, all together.
    pub cpu_ms_max: u64,
}

/// One end of the line between a program and its worker. A message comes whole or not at all.
pub trait WorkLine: Send {
    /// Sends a message.
    fn send(&mut self, message: &[u8]) -> Result<(), WorkError>;

    /// Waits for a message.
    fn receive(&mut self) -> Result<Vec<u8>, WorkError>;
}

/// Starts workers.
pub trait Workers: fmt::Debug + Send + Sync {
    /// Starts one for a task, by its name. It ends when the line is dropped.
    fn start(&self, task: &str, bounds: WorkBounds) -> Result<Box<dyn WorkLine>, WorkError>;
}

/// Why work was not done. The worker is gone then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkError {
    /// It wanted more memory than it may have.
    Memory {
        /// What it may have.
        bytes_max: u64,
    },
    /// It computed for longer than it may.
    Time {
        /// What it may take.
        ms_max: u64,
    },
    /// Its process ended before the work did.
    Crashed {
        /// How, in words.
        how: String,
    },
    /// There is no process for it.
    NoWorker {
        /// Why not, and what to do.
        why: String,
    },
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { bytes_max } => {
                write!(f, "it used more than {} MB of memory and was stopped", bytes_max >> 20)
            }
            Self::Time { ms_max } => {
                write!(f, "it computed for more than {} s and was stopped", ms_max / 1000)
            }
            Self::Crashed { how } => write!(f, "its process ended: {how}"),
            Self::NoWorker { why } => write!(f, "no process can be started for it: {why}"),
        }
    }
}

impl std::error::Error for WorkError {}

static EMPLOYED: RwLock<Option<Arc<dyn Workers>>> = RwLock::new(None);

/// From here on, work of this program is done by these workers. Without any it is done in the program itself, which is
/// for tests and for input that is trusted.
pub fn employ(workers: Arc<dyn Workers>) {
    *EMPLOYED.write().unwrap_or_else(PoisonError::into_inner) = Some(workers);
}

/// Who does the work of this program, if it is not the program itself.
pub fn workers() -> Option<Arc<dyn Workers>> {
    EMPLOYED.read().unwrap_or_else(PoisonError::into_inner).clone()
}
