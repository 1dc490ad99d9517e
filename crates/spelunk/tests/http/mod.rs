//! `spelunk serve` over real HTTP on loopback, against a scripted model.

mod access;
pub(crate) mod client;
mod contexts;
mod crash;
mod hostile;
mod looks;
mod queue;
mod runs;
mod stream;
