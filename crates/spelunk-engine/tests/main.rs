//! Runs through real HTTP against the scripted model server, on disks that fail.
#![expect(
    clippy::disallowed_methods,
    reason = "tests write documents, read stories and take a seed from outside"
)]

mod crash;
mod runs;
mod simulation;
mod stage;
mod trajectories;
mod watch;
