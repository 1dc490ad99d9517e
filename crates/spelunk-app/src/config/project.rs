//! What a project file may not set. The file comes with the repository: it may set harmless values,
//! lower the user's limits, and place its runs inside the project.

use std::path::{Component, Path};

use super::error::{ConfigError, Result};
use super::layer::{Entry, Layer};
use super::table::{self, Reach};
use super::value::Value;

/// Settings that determine where a key comes from or is sent to.
const KEY_SETTINGS: [&str; 3] = ["model.key_env", "model.key_command", "model.base_url"];

/// Rejects what a project's layer may not set. `own` is the layer of all other settings; `path` is the file.
pub(super) fn check(project: &Layer, own: &Layer, path: &Path) -> Result<()> {
    for setting in table::all() {
        let Some(Entry { value, origin }) = project.get(&setting.key) else { continue };
        let key = || setting.key.clone();
        match (setting.reach, value) {
            (Reach::UserOnly, _) => {
                return Err(ConfigError::NotFromProject { key: key(), origin: origin.clone() });
            }
            (Reach::LowerOnly, Value::Whole(value)) => {
                let allowed = own.entries.whole(&setting.key).unwrap_or_default();
                let is_unlimited = |value| table::is_unlimited(&setting.key, value);
                let is_higher = is_unlimited(*value) || *value > allowed;
                if is_higher && !is_unlimited(allowed) {
                    let (value, origin) = (*value, origin.clone());
                    return Err(ConfigError::NotLower { key: key(), value, allowed, origin });
                }
            }
            (Reach::InsideProject, Value::Text(text)) if !is_inside(path, text) => {
                return Err(ConfigError::OutsideProject { key: key(), origin: origin.clone() });
            }
            (Reach::Everywhere | Reach::LowerOnly | Reach::InsideProject, _) => {}
        }
    }
    // The user's key was meant for the provider that the user chose.
    let has_key = |key: &&str| own.entries.text(key).is_some();
    match project.get("model.provider") {
        Some(Entry { origin, .. }) if KEY_SETTINGS.iter().any(has_key) => {
            Err(ConfigError::NotFromProject { key: "model.provider".to_owned(), origin: origin.clone() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether a path in a project file stays below the file's directory, with links resolved.
fn is_inside(file: &Path, text: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let has_name = Path::new(text).components().any(|part| matches!(part, Component::Normal(_)));
    if !has_name || !Path::new(text).components().all(is_plain) {
        return false;
    }
    let Some(Ok(project)) = file.parent().map(Path::canonicalize) else { return false };
    // A path that does not exist yet cannot be a link.
    let existing = project.join(text).ancestors().find_map(|above| above.canonicalize().ok());
    existing.is_some_and(|existing| existing.starts_with(&project))
}

#[cfg(test)]
mod tests;
