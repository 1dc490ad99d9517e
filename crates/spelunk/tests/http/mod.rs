//! `spelunk serve` over real HTTP on loopback, against a scripted model.

mod access;
mod again;
mod agents;
mod along;
pub(crate) mod client;
mod compat;
mod compat_hostile;
mod compat_sdk;
mod compat_tools;
mod consent;
mod contexts;
mod crash;
mod docs;
mod hostile;
mod looks;
mod open;
mod questions;
mod queue;
mod runs;
mod spans;
mod stream;
