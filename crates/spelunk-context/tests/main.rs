//! Golden plans, snapshots of split documents, and what the rules for secrets find.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod plan;
mod secrets;
mod split;
