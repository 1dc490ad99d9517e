//! The binary is killed, interrupted, or runs out of disk, at any moment. Afterwards everything acknowledged is there,
//! nothing is paid for twice, and the run continues to the same answer.

mod agent;
mod ask;
mod demo;
mod disk_full;
mod interrupt;
mod moments;
mod money;
pub(crate) mod raised;
mod strategies;
