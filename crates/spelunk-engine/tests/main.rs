//! Runs over real HTTP against the scripted model server, on disks that fail.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stop at the first surprise; they write documents, read stories and take a seed from outside"
)]

mod compat;
mod crash;
mod replay;
mod runs;
mod simulation;
mod stage;
mod trajectories;
mod watch;
