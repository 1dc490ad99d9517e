//! The names of archive entries, which the author of the archive chose freely.

use crate::name;

/// Longer names are refused: no file system supports them.
const NAME_BYTES_MAX: usize = 4096;

/// The name as a relative path inside the archive, or `None` if it points outside: `..`, an absolute path, a drive. A
/// `\` is a separator too, because some archives are made on Windows.
pub(crate) fn safe_name(raw: &str) -> Option<String> {
    let is_rooted = raw.starts_with(['/', '\\']);
    let has_drive = matches!(raw.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if raw.len() > NAME_BYTES_MAX || raw.contains('\0') || is_rooted || has_drive {
        return None;
    }
    let mut safe = String::with_capacity(raw.len());
    for part in raw.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => return None,
            part => {
                if !safe.is_empty() {
                    safe.push('/');
                }
                safe += &name::printable_text(part);
            }
        }
    }
    (!safe.is_empty()).then_some(safe)
}

pub(super) fn lossy(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}

#[cfg(test)]
mod tests;
