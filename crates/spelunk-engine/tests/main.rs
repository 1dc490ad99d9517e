//! Runs through real HTTP against the scripted model server, on disks that fail.

mod crash;
mod runs;
mod simulation;
mod stage;
mod trajectories;
