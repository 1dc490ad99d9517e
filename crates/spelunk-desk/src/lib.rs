//! The desk: the files a model works on, in memory and bounded, the tools that operate on them, and a shell without a
//! host. Synchronous and pure: the same desk and arguments give the same outcome. Paths, arguments, scripts and
//! documents are hostile input.

mod desk;
mod error;
mod mounts;
mod outcome;
mod path;
mod permissions;
mod shell;
mod shell_limits;
mod show;
mod tools;

pub use desk::{Desk, DeskLimits};
pub use error::DeskError;
pub use mounts::{Entry, Mount, MountReport, MountedDocument, MountedLines, MountedMatches, ViewMount};
pub use outcome::Outcome;
pub use path::{DeskPath, PathError, PathFault, sanitised_name};
pub use permissions::{Rights, Zone};
pub use shell::{SHELL_TASK, serve_shell};
pub use shell_limits::ShellLimits;
pub use tools::{TOOLS, Tool, run_tool, tool};
