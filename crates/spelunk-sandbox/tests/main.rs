//! What the sandbox promises, asked of every backend, and what hostile code makes of it.
#![expect(clippy::unwrap_used, reason = "the bodies of contract tests are ordinary functions")]

mod bombs;
mod confinement;
mod contract;
mod python;
mod scene;
