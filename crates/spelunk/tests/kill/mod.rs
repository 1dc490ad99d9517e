//! The binary is killed, interrupted, or runs out of disk, at any moment. What was acknowledged is there afterwards,
//! nothing is paid twice, and the run goes on to the same answer.

mod agent;
mod ask;
mod demo;
mod disk_full;
mod interrupt;
mod moments;
mod money;
pub(crate) mod raised;
mod strategies;
