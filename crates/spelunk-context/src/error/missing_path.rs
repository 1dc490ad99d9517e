//! A path that does not exist: how to recognise it, and what exists near it.
#![expect(clippy::disallowed_methods, reason = "it lists a directory to find similar names")]

use std::path::{Path, PathBuf};
use std::{fs, io};

use spelunk_types::edit_distance;

const SIBLINGS_MAX: usize = 10_000;

/// What exists near a path that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nearest {
    /// A sibling with a similar name.
    Sibling(PathBuf),
    /// The deepest ancestor directory that exists.
    Parent(PathBuf),
}

pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What exists near a path that does not: a sibling with a similar name, otherwise the deepest existing ancestor.
pub(crate) fn nearest(path: &Path) -> Nearest {
    let parent = path.ancestors().skip(1).find(|parent| parent.as_os_str().is_empty() || parent.is_dir());
    let parent = match parent {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    let is_direct = path.parent().is_some_and(|direct| direct == parent || direct.as_os_str().is_empty());
    match similar_sibling(parent, path).filter(|_| is_direct) {
        Some(sibling) => Nearest::Sibling(sibling),
        None => Nearest::Parent(parent.to_owned()),
    }
}

fn similar_sibling(parent: &Path, missing: &Path) -> Option<PathBuf> {
    let wanted = missing.file_name()?.to_string_lossy().to_lowercase();
    let mut best: Option<(usize, String)> = None;
    for entry in fs::read_dir(parent).ok()?.take(SIBLINGS_MAX).filter_map(Result::ok) {
        // A name that cannot be typed cannot be meant.
        let Ok(found) = entry.file_name().into_string() else { continue };
        let distance = edit_distance(&wanted, &found.to_lowercase());
        if distance <= 2 && distance * 3 <= wanted.chars().count() {
            let candidate = (distance, found);
            if best.as_ref().is_none_or(|best| candidate < *best) {
                best = Some(candidate);
            }
        }
    }
    best.map(|(_, found)| if parent == Path::new(".") { found.into() } else { parent.join(found) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_a_bare_name_is_here() {
        assert_eq!(nearest(Path::new("no-such-name-anywhere-zzz")), Nearest::Parent(".".into()));
    }
}
