//! Zones: which parts of a desk belong to the engine and which to the model. Write permissions are defined here alone.

use crate::{DeskError, DeskPath};

/// What a model may do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Read-only: only the engine writes it, or nobody does.
    Read,
    /// Only this tool can append to it.
    Through(&'static str),
    /// Anything.
    Write,
}

/// A part of the desk with its own permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// A directory, or a file.
    pub path: &'static str,
    /// Whether it is a directory that always exists.
    pub is_directory: bool,
    /// What the model may do in it.
    pub rights: Rights,
}

#[expect(missing_docs, reason = "the names say it")]
impl Zone {
    pub const CONTEXTS: &str = "input/contexts";
    pub const EVIDENCE: &str = "state/evidence.jsonl";
    pub const BUFFERS: &str = "state/buffers";
    /// Where indexes and manifests are kept.
    pub const INDEXES: &str = "cache/indexes";

    /// Every zone, nested ones after those that contain them: the last that contains a path applies.
    pub const ALL: &[Self] = &[
        Self::directory("input", Rights::Read),
        Self::directory("input/attachments", Rights::Read),
        Self::directory(Self::CONTEXTS, Rights::Read),
        Self::directory("tools", Rights::Read),
        Self::directory("state", Rights::Read),
        Self::directory(Self::BUFFERS, Rights::Through("Buffer")),
        Self::file("state/notes.md", Rights::Write),
        Self::file(Self::EVIDENCE, Rights::Through("Evidence")),
        Self::directory("cache", Rights::Read),
        Self::directory(Self::INDEXES, Rights::Write),
        Self::directory("scratch", Rights::Write),
        Self::directory("scratch/scripts", Rights::Write),
        Self::directory("scratch/tmp", Rights::Write),
        Self::directory("output", Rights::Write),
    ];

    const fn directory(path: &'static str, rights: Rights) -> Self {
        Self { path, is_directory: true, rights }
    }

    const fn file(path: &'static str, rights: Rights) -> Self {
        Self { path, is_directory: false, rights }
    }

    /// What the model may do with a path. The top of the desk and anything outside all zones is read-only.
    pub fn rights(path: &DeskPath) -> Rights {
        let holds = |zone: &&Self| match path.as_str().strip_prefix(zone.path) {
            Some(rest) => rest.is_empty() || (zone.is_directory && rest.starts_with('/')),
            None => false,
        };
        Self::ALL.iter().rfind(holds).map_or(Rights::Read, |zone| zone.rights)
    }

    pub(crate) fn require_write(path: &DeskPath) -> Result<(), DeskError> {
        match Self::rights(path) {
            Rights::Write => Ok(()),
            Rights::Read => Err(DeskError::ReadOnly { path: path.clone() }),
            Rights::Through(tool) => Err(DeskError::ToolOnly { path: path.clone(), tool }),
        }
    }

    /// Whether a path is one of the directories that always exist.
    pub(crate) fn is_fixed(path: &DeskPath) -> bool {
        path.is_top() || Self::ALL.iter().any(|zone| zone.is_directory && zone.path == path.as_str())
    }
}
