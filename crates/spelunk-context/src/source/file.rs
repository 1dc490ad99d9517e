//! A file that the user named. It is taken even if a walk would skip it, unless its name indicates a secret. An archive
//! is opened.

use std::path::{Component, Path, PathBuf};

use super::{Filter, Format, Source};
use crate::{SourceError, name};

/// `given` is its location, and the path it is named after if that path only descends.
pub(super) fn open(
    (given, typed): (&Path, &Path),
    canonical: PathBuf,
    bytes: u64,
    filter: &Filter<'_>,
) -> Result<Source, SourceError> {
    let is_plain =
        typed.components().all(|component| matches!(component, Component::CurDir | Component::Normal(_)));
    let name = if is_plain { name::printable(typed) } else { name::tail(given, 1) };
    // Both names count: a link called `notes.txt` to a key is a key.
    if filter.is_secret(&canonical, &name) || filter.is_secret(given, &name) {
        return Err(SourceError::Secret { path: given.to_owned() });
    }
    if let Some(format) = Format::of(&name) {
        return Ok(Source::Archive { path: canonical, name, format });
    }
    Ok(Source::File { path: canonical, name, bytes })
}
