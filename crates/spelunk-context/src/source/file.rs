//! A file that the user named. It is taken even if a walk would skip it, unless its name indicates a secret. An archive
//! is opened.
#![expect(
    clippy::disallowed_methods,
    reason = "this is a source: it may list a directory to find similar names"
)]

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{Filter, Opened};
use crate::archive::Format;
use crate::{SourceError, name};

/// Siblings examined to find a similar name.
const SIBLINGS_MAX: usize = 10_000;

/// `given` is its location, and the path it is named after if that path only descends.
pub(super) fn open(
    (given, typed): (&Path, &Path),
    canonical: PathBuf,
    bytes: u64,
    filter: &Filter<'_>,
) -> Result<Opened, SourceError> {
    let is_plain =
        typed.components().all(|component| matches!(component, Component::CurDir | Component::Normal(_)));
    let name = if is_plain { name::printable(typed) } else { name::tail(given, 1) };
    // Both names count: a link called `notes.txt` to a key is a key.
    if filter.is_secret(&canonical, &name) || filter.is_secret(given, &name) {
        return Err(SourceError::Secret { path: given.to_owned() });
    }
    if let Some(format) = Format::of(&name) {
        return Ok(Opened::Archive { path: canonical, name, format });
    }
    Ok(Opened::File { path: canonical, name, bytes })
}

/// The sibling of a missing path that was most likely meant.
pub(super) fn similar_sibling(parent: &Path, missing: &Path) -> Option<PathBuf> {
    let wanted = missing.file_name()?.to_string_lossy().to_lowercase();
    let mut best: Option<(usize, String)> = None;
    for entry in fs::read_dir(parent).ok()?.take(SIBLINGS_MAX).filter_map(Result::ok) {
        // A name that cannot be typed cannot be meant.
        let Ok(found) = entry.file_name().into_string() else { continue };
        let distance = distance(&wanted, &found.to_lowercase());
        if distance <= 2 && distance * 3 <= wanted.chars().count() {
            let candidate = (distance, found);
            if best.as_ref().is_none_or(|best| candidate < *best) {
                best = Some(candidate);
            }
        }
    }
    best.map(|(_, found)| if parent == Path::new(".") { found.into() } else { parent.join(found) })
}

/// The number of characters to insert, delete or replace to turn one name into the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (idx, a_char) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = idx + 1;
        for (column, &b_char) in b.iter().enumerate() {
            let changed = diagonal + usize::from(a_char != b_char);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}
