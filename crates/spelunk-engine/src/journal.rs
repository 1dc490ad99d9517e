//! The journal of a run: how it is written, watched and replayed, and the format of prompts and replies in it.

pub(crate) mod replay;
mod syncing;
pub(crate) mod watch;
pub(crate) mod wire;
pub(crate) mod writer;

pub use self::watch::EventStream;
