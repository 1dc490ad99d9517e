//! Sources: where bytes come from. A source names candidates; whether a candidate becomes a document is decided when
//! its bytes are read through.

mod directory;
mod exclude;
mod file;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::corpus::{Origin, ScanOptions, SourceInput};
use crate::{Nearest, ScanReport, SourceError, name};

/// Something that may become a document.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) source_idx: usize,
    pub(crate) origin: Origin,
    pub(crate) name: String,
    /// As the file system said; what counts is what is read.
    pub(crate) bytes: u64,
    pub(crate) named_by: NamedBy,
}

/// What to do when a candidate is not text: refuse what the user named, skip what a walk found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedBy {
    User,
    Walk,
}

/// A source that was found to exist. Paths are canonical, so that one file has one path.
#[derive(Debug)]
pub(crate) enum Opened {
    Directory { path: PathBuf },
    File { path: PathBuf, name: String, bytes: u64 },
    Text { name: String, bytes: Arc<[u8]> },
}

impl Opened {
    pub(crate) fn open(input: &SourceInput, options: &ScanOptions) -> Result<Self, SourceError> {
        let path = match input {
            SourceInput::Text { name, bytes } => {
                return Ok(Self::Text { name: text::name(name), bytes: bytes.as_slice().into() });
            }
            SourceInput::Path(path) => path,
        };
        let metadata = path.metadata().map_err(|error| SourceError::from_io(path, error))?;
        let canonical = path.canonicalize().map_err(|error| SourceError::from_io(path, error))?;
        if metadata.is_dir() {
            Ok(Self::Directory { path: canonical })
        } else if metadata.is_file() {
            file::open(path, canonical, metadata.len(), options)
        } else {
            Err(SourceError::Special { path: path.clone() })
        }
    }

    /// The name in reports, and before the documents of a directory when there are several sources.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Directory { path } => match name::tail(path, 1) {
                name if name.is_empty() => "/".to_owned(),
                name => name,
            },
            Self::File { name, .. } | Self::Text { name, .. } => name.clone(),
        }
    }

    /// Where it is, if it is on disk.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Directory { path } | Self::File { path, .. } => Some(path),
            Self::Text { .. } => None,
        }
    }

    /// Names the candidates of this source. `prefix` stands before the names of a directory's documents.
    pub(crate) fn list(
        self,
        prefix: &str,
        options: &ScanOptions,
        report: &mut ScanReport,
        found: &mut dyn FnMut(Origin, String, u64, NamedBy),
    ) -> Result<(), SourceError> {
        match self {
            Self::Directory { path } => {
                directory::walk(&path, options, report, &mut |path, relative, bytes| {
                    let name = if prefix.is_empty() { relative } else { format!("{prefix}/{relative}") };
                    found(Origin::File(path), name, bytes, NamedBy::Walk);
                })
            }
            Self::File { path, bytes, .. } => {
                found(Origin::File(path), report.source.clone(), bytes, NamedBy::User);
                Ok(())
            }
            Self::Text { bytes, .. } => {
                let n_bytes = bytes.len() as u64;
                found(Origin::Text(bytes), report.source.clone(), n_bytes, NamedBy::User);
                Ok(())
            }
        }
    }
}

/// What exists near a path that does not: a sibling with a similar name, or else the lowest parent that is there.
pub(crate) fn nearest(path: &Path) -> Nearest {
    let parent = path.ancestors().skip(1).find(|parent| parent.as_os_str().is_empty() || parent.is_dir());
    let parent = match parent {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    let is_direct = path.parent().is_some_and(|direct| direct == parent || direct.as_os_str().is_empty());
    match file::similar_sibling(parent, path).filter(|_| is_direct) {
        Some(sibling) => Nearest::Sibling(sibling),
        None => Nearest::Parent(parent.to_owned()),
    }
}

#[cfg(test)]
mod tests;
