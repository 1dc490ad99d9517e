//! What the sandbox promises, asked of every backend, and what hostile code makes of it.

mod bombs;
mod confinement;
mod contract;
mod scene;
