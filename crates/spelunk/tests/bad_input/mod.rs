//! Bad input: wrong arguments, settings, names or files. Each is rejected with a message and an exit code, and nothing
//! is lost or left behind.

mod contexts;
pub(crate) mod journal;
mod limits;
mod model;
mod resume;
mod search;
mod settings;
mod sources;
mod usage;
mod workspace;
