//! Document names: relative paths with `/` as the separator, safe to print and to put in a prompt.

use std::path::{Component, Path};

/// The printable form of a relative path. Not reversible: invalid UTF-8 is replaced, control characters are escaped.
pub(crate) fn printable(relative: &Path) -> String {
    let mut name = String::new();
    for component in relative.components() {
        if let Component::Normal(part) = component {
            if !name.is_empty() {
                name.push('/');
            }
            push_printable(&part.to_string_lossy(), &mut name);
        }
    }
    name
}

/// The printable form of text that is not a path.
pub(crate) fn printable_text(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    push_printable(text, &mut name);
    name
}

/// The part after the last `/`.
pub(crate) fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The last `n` parts of a path.
pub(crate) fn tail(path: &Path, n_parts: usize) -> String {
    let n_all = path.components().count();
    printable(&path.components().skip(n_all.saturating_sub(n_parts)).collect::<std::path::PathBuf>())
}

/// The text, truncated to a number of characters and marked with `…`.
pub(crate) fn shortened(text: &str, chars_max: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        None => text.into(),
        Some(_) => text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect::<String>().into(),
    }
}

/// The edit distance of two names; two swapped letters count as one error (optimal string alignment).
pub(crate) fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (a_idx, a_char) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(a_idx + 1);
        for (b_idx, b_char) in b.iter().enumerate() {
            let substituted = last[b_idx] + usize::from(a_char != b_char);
            let mut slips = substituted.min(row[b_idx] + 1).min(last[b_idx + 1] + 1);
            if a_idx > 0 && b_idx > 0 && *a_char == b[b_idx - 1] && a[a_idx - 1] == *b_char {
                slips = slips.min(before[b_idx - 1] + 1);
            }
            row.push(slips);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

fn push_printable(text: &str, name: &mut String) {
    for c in text.chars() {
        if changes_the_line(c) {
            name.extend(c.escape_default());
        } else {
            name.push(c);
        }
    }
}

/// Characters that could make a name look like another line or change the display order.
fn changes_the_line(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}')
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[cfg(test)]
mod tests;
