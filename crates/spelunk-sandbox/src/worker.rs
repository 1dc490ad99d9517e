//! Interpreters in a process of their own: a cell that crashes, hangs or eats memory takes that process down and not us.
//! `pool/host.rs` is our side of it, `serve.rs` the worker's; they speak the frames of `wire.rs` over the worker's standard
//! input and output. `work.rs` has both sides of other work that is done so.

mod cpu_limit;
mod lockdown;
mod process;
mod serve;
mod spawner;
#[cfg(target_os = "linux")]
mod syscalls;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use process::{Deadline, Process};
pub use serve::{serve, serve_stdio};
pub(crate) use spawner::later as spawn_later;
pub use work::{Task, start_work};

/// How often its processor time a cell may take on the clock before it is taken for stuck: other programs need the
/// machine, too.
pub(crate) const CLOCK_FACTOR: u64 = 20;

/// How a worker is started: a program that calls [`serve_stdio`] when it is given these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// What it is given.
    pub arguments: Vec<OsString>,
}
