//! Golden plans and snapshots of cut documents.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod plan;
mod split;
