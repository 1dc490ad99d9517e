//! The desk: the files a model works on, in memory and bounded, its tools, and a shell without a host. Pure:
//! the same desk and arguments give the same outcome. Paths, arguments, scripts and documents are hostile.

mod desk;
mod error;
mod mounts;
mod path;
mod permissions;
mod shell;
mod show;
mod tools;
mod wire;

pub use desk::{Desk, DeskLimits};
pub use error::DeskError;
pub use mounts::{Entry, Lines};
pub use path::{DeskPath, PathError, PathFault, sanitised_name};
pub use permissions::{Rights, Zone};
pub use shell::{SHELL_TASK, serve_shell};
pub use tools::{NO_HEADINGS, TOOLS, Tool, index_path, run_tool, tool};
pub use wire::ShellLimits;
