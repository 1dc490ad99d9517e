//! Ids for files registered without one: the stem of the file name if it is unique, otherwise with the extension, then
//! with the parent directories. All colliding files get longer ids, so an id does not depend on which file came first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::name::printable_parts;
use crate::store::ContextId;

/// One id per path, all distinct and none of them taken. `:` separates directories, as in other ids.
pub(super) fn ids_for(
    paths: &[PathBuf],
    prefix: &str,
    is_taken: impl Fn(&str) -> bool,
) -> Result<Vec<ContextId>, crate::store::StoreError> {
    let parts: Vec<Vec<String>> = paths.iter().map(|path| printable_parts(path)).collect();
    let mut levels = vec![0; paths.len()];
    loop {
        let ids: Vec<String> =
            (0..paths.len()).map(|idx| candidate(&parts[idx], levels[idx], prefix)).collect();
        let mut n_wanted: HashMap<&str, usize> = HashMap::new();
        for id in &ids {
            *n_wanted.entry(id.as_str()).or_default() += 1;
        }
        let mut is_settled = true;
        for (idx, id) in ids.iter().enumerate() {
            let is_free =
                n_wanted[id.as_str()] == 1 && !is_taken(id) && !ContextId::RESERVED.contains(&id.as_str());
            // After the last directory only a number helps, and each level is another number.
            if !is_free {
                levels[idx] += 1 + usize::from(levels[idx] > parts[idx].len()) * idx;
                is_settled = false;
            }
        }
        if is_settled {
            return ids.iter().map(ContextId::new).collect();
        }
    }
}

/// Level 0 is the stem, 1 the file name, each further level adds a directory; after that the file name gets a number.
fn candidate(parts: &[String], level: usize, prefix: &str) -> String {
    let Some(name) = parts.last() else { return format!("{prefix}file#{level}") };
    let id = match level {
        0 => Path::new(name)
            .file_stem()
            .map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned()),
        level if level <= parts.len() => parts[parts.len() - level..].join(":"),
        level => format!("{name}#{}", level - parts.len() + 1),
    };
    let bytes_max = ContextId::BYTES_MAX.saturating_sub(prefix.len());
    format!("{prefix}{}", tail(id.trim(), bytes_max).trim_start())
}

/// The end of a text that is too long: names differ more at their ends.
fn tail(text: &str, bytes_max: usize) -> &str {
    let start = text.len().saturating_sub(bytes_max);
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
