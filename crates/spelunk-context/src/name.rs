//! Document names: relative paths with `/` as the separator, safe to print and to put in a prompt.

use std::path::{Component, Path};

/// The printable form of a relative path. Not reversible: invalid UTF-8 is replaced, control characters are escaped.
pub(crate) fn printable(relative: &Path) -> String {
    printable_parts(relative).join("/")
}

/// The names in a path, printable, without roots and dots.
pub(crate) fn printable_parts(path: &Path) -> Vec<String> {
    let part = |component: Component<'_>| match component {
        Component::Normal(part) => Some(printable_text(&part.to_string_lossy())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    };
    path.components().filter_map(part).collect()
}

/// The printable form of text that is not a path.
pub(crate) fn printable_text(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        if changes_the_line(c) {
            name.extend(c.escape_default());
        } else {
            name.push(c);
        }
    }
    name
}

pub(crate) fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

pub(crate) fn tail(path: &Path, n_parts: usize) -> String {
    let n_all = path.components().count();
    printable(&path.components().skip(n_all.saturating_sub(n_parts)).collect::<std::path::PathBuf>())
}

/// The text, truncated to a number of characters and marked with `…`.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Whether a word is in a list of words separated by spaces.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
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
