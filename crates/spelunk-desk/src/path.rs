//! Paths on a desk: relative, normalised, separated by `/`. A `DeskPath` cannot leave the desk.
//! Names chosen by others (attachments, documents) are converted here, too.

mod name;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

pub use self::name::sanitised_name;
pub(crate) use self::name::{Taken, document_path, is_unprintable};

/// A text that is not a valid desk path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a valid path: {why}")]
pub struct PathError {
    /// The input, shortened.
    pub given: String,
    /// What is wrong with it.
    pub why: PathFault,
}

/// Why a text is not a valid desk path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PathFault {
    #[error("it is empty")]
    Empty,
    #[error("`..` is not allowed; write the path relative to the folder")]
    Parent,
    #[error("it contains a control character or a text direction mark")]
    Control,
    #[error("it contains a backslash; separate parts with `/`")]
    Backslash,
    #[error("a part has {bytes} bytes; the maximum is {bytes_max}")]
    PartTooLong { bytes: usize, bytes_max: usize },
    #[error("it has {bytes} bytes; the maximum is {bytes_max}")]
    TooLong { bytes: usize, bytes_max: usize },
    #[error("it is {parts} levels deep; the maximum is {parts_max}")]
    TooDeep { parts: usize, parts_max: usize },
}

/// A path on the desk. The top of the desk is the empty path. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeskPath(Arc<str>);

#[expect(missing_docs, reason = "the names say it")]
impl DeskPath {
    /// The longest path.
    pub const BYTES_MAX: usize = 1000;
    /// The longest name of a file or directory: the file system limit, less room for a suffix.
    pub const PART_BYTES_MAX: usize = 200;
    /// The maximum number of components.
    pub const PARTS_MAX: usize = 24;

    pub fn top() -> Self {
        Self(Arc::from(""))
    }

    /// Parses a path that someone wrote. `/` is the top of the desk, and `/tmp` is `scratch/tmp`.
    pub fn parse(given: &str) -> Result<Self, PathError> {
        normalised(given).map_err(|why| PathError { given: shown(given), why })
    }

    pub(crate) fn of(path: &'static str) -> Self {
        Self(Arc::from(path))
    }

    /// The path, separated by `/`; empty for the top.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    /// The parent directory; none for the top.
    pub fn parent(&self) -> Option<Self> {
        if self.is_top() {
            return None;
        }
        let parent = self.0.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self(Arc::from(parent)))
    }

    /// The last component; empty for the top.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    pub fn join(&self, below: &str) -> Result<Self, PathError> {
        if self.is_top() { Self::parse(below) } else { Self::parse(&format!("{self}/{below}")) }
    }

    /// The entries at or below this path, in order.
    pub(crate) fn range_in<'m, T>(
        &self,
        map: &'m BTreeMap<Self, T>,
    ) -> impl Iterator<Item = (&'m Self, &'m T)> {
        // Siblings may sort between a directory and its contents (`a-b` sorts before `a/b`).
        map.range::<str, _>((Bound::Included(self.as_str()), Bound::Unbounded))
            .take_while(move |(path, _)| path.as_str().starts_with(self.as_str()))
            .filter(move |(path, _)| path.is_within(self))
    }

    /// Whether it is `directory` or below it.
    pub fn is_within(&self, directory: &Self) -> bool {
        match self.0.strip_prefix(directory.as_str()) {
            Some(rest) => directory.is_top() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

impl fmt::Display for DeskPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_top() { "/" } else { &self.0 })
    }
}

impl Borrow<str> for DeskPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

fn normalised(given: &str) -> Result<DeskPath, PathFault> {
    if given.is_empty() {
        return Err(PathFault::Empty);
    }
    let (bytes, bytes_max) = (given.len(), DeskPath::BYTES_MAX);
    if bytes > bytes_max {
        return Err(PathFault::TooLong { bytes, bytes_max });
    }
    if given.chars().any(is_unprintable) {
        return Err(PathFault::Control);
    }
    if given.contains('\\') {
        return Err(PathFault::Backslash);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in given.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return Err(PathFault::Parent);
        }
        let (bytes, bytes_max) = (part.len(), DeskPath::PART_BYTES_MAX);
        if bytes > bytes_max {
            return Err(PathFault::PartTooLong { bytes, bytes_max });
        }
        parts.push(part);
    }
    // Scripts, as models know them, write to `/tmp`.
    if given.starts_with('/') && parts.first() == Some(&"tmp") {
        parts.insert(0, "scratch");
    }
    if parts.len() > DeskPath::PARTS_MAX {
        return Err(PathFault::TooDeep { parts: parts.len(), parts_max: DeskPath::PARTS_MAX });
    }
    Ok(DeskPath(Arc::from(parts.join("/"))))
}

/// The input, shortened and printable.
fn shown(given: &str) -> String {
    const CHARS_MAX: usize = 120;
    let mut shown = String::new();
    for c in given.chars().take(CHARS_MAX) {
        if is_unprintable(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if given.chars().nth(CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
