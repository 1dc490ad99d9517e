//! The desk: the files a model works on, in memory and bounded, the tools that operate on them, and a shell without a
//! host. Synchronous and pure: the same desk and arguments give the same outcome. Paths, arguments, scripts and
//! documents are hostile input.

mod desk;
mod error;
mod mounts;
mod path;
mod permissions;
mod shell;
mod show;
mod tools;

pub use desk::{Desk, DeskLimits, Entry};
pub use error::{DeskError, PathFault};
pub use mounts::{Mount, MountReport, MountedDocument, MountedLines, MountedMatches, ViewMount};
pub use path::{DeskPath, sanitised_name};
pub use permissions::{Rights, Zone};
pub use shell::{SHELL_TASK, ShellLimits, serve_shell};
pub use tools::{Outcome, TOOLS, Tool, run_tool, tool};
