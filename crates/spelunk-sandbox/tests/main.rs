//! The guarantees of the sandbox, checked for every backend, and against hostile code.
#![expect(clippy::unwrap_used, reason = "the bodies of contract tests are ordinary functions")]

mod bombs;
mod confinement;
mod contract;
mod python;
mod scene;
