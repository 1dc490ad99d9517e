//! Values that are secret because of the name they are assigned to: `DB_PASS=…`, `"apiKey": "…"`,
//! `<password>…</password>`, `--token …`. How strict the check of the value is depends on the name and on the notation:
//! quoted text is data, unquoted text may be code.

mod name;
mod value;

use std::ops::Range;

use name::{Strength, name_around, strength_of};
use value::{Written, value_at};

use super::secret_filters::{is_label, is_placeholder};
use super::words::is_wordlike;

/// How far before a keyword its name may begin.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// A longer value is data.
const VALUE_BYTES_MAX: usize = 4096;
const BLANKS_MAX: usize = 32;

/// A shorter value is too weak for a secret, and too often a word of code.
const VALUE_BYTES_MIN: usize = 8;

/// From this length on, random text is reliably distinguished from words.
const LONG_BYTES_MIN: usize = 16;

/// The value assigned to the name around a keyword, if it is a secret. Examines only the keyword's line.
pub(super) fn find_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line_bytes_max = NAME_BYTES_MAX + 4 * BLANKS_MAX + 2 * VALUE_BYTES_MAX;
    let reach = at.saturating_add(line_bytes_max).min(text.len());
    let end = memchr::memchr(b'\n', &text[at..reach]).map_or(reach, |length| at + length);
    let line = &text[..end];
    let name = name_around(line, at);
    let (range, written) = value_at(line, &name)?;
    if range.len() < VALUE_BYTES_MIN || range.len() > VALUE_BYTES_MAX {
        return None;
    }
    let strength = strength_of(&line[name])?;
    is_secret(&line[range.clone()], strength, written).then_some(range)
}

fn is_secret(value: &[u8], strength: Strength, written: Written) -> bool {
    if is_placeholder(value) || is_label(value) {
        return false;
    }
    let n_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    match (strength, written) {
        (Strength::Strong, Written::Quoted | Written::Tight) => n_digits == value.len() || !is_name(value),
        (Strength::Strong, Written::Bare | Written::Listed) => !is_wordlike(value),
        (Strength::Weak, Written::Quoted | Written::Tight | Written::Bare) => {
            n_digits < value.len() && !is_wordlike(value)
        }
        (Strength::Weak, Written::Listed) if value.len() >= LONG_BYTES_MIN => !is_wordlike(value),
        (Strength::Weak, Written::Listed) | (Strength::Strong | Strength::Weak, Written::Code) => {
            (2..value.len()).contains(&n_digits) && !is_wordlike(value)
        }
    }
}

/// Whether a quoted value is a name: several words with separators between them.
fn is_name(value: &[u8]) -> bool {
    let is_joint = |byte: &u8| matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b' ');
    value.iter().any(is_joint) && is_wordlike(value)
}
