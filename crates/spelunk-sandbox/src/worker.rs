//! Interpreters in their own process: a cell that crashes, hangs or exhausts memory takes down that process and not us.
//! `pool/host.rs` is our side, `serve.rs` the worker's; they exchange the frames of `wire.rs` over the worker's
//! standard input and output. `work.rs` has both sides of other tasks that run this way.

mod cpu_limit;
mod lockdown;
mod process;
mod serve;
mod spawner;
#[cfg(target_os = "linux")]
mod syscalls;
mod work;

pub(crate) use process::{Deadline, Process};
pub use serve::serve_stdio;
pub(crate) use spawner::later as spawn_later;
pub use work::start_work;

/// A cell counts as stuck after this many times its CPU limit in wall-clock time: other programs run, too.
pub(crate) const CLOCK_FACTOR: u64 = 20;
