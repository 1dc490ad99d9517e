//! Bad input: what was typed, set, named, or left on the disk is wrong. Each is refused in words, with an exit code, and
//! with nothing lost or left behind.

mod contexts;
mod journal;
mod limits;
mod model;
mod resume;
mod search;
mod settings;
mod sources;
mod usage;
mod workspace;
