//! Truncation: the one way to shorten a text for a message, a list or a prompt.

use std::borrow::Cow;

/// The first `chars_max` characters; the whole text if it is not longer.
pub fn truncate(text: &str, chars_max: usize) -> &str {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// The first `chars_max` characters, and `…` if there are more.
pub fn shorten(text: &str, chars_max: usize) -> Cow<'_, str> {
    let shown = truncate(text, chars_max);
    if shown.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(format!("{shown}…")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_marked() {
        assert_eq!([truncate("äöü", 2), truncate("äöü", 3), truncate("äöü", 0)], ["äö", "äöü", ""]);
        assert_eq!([shorten("äöü", 2), shorten("äöü", 3), shorten("", 0)], ["äö…", "äöü", ""]);
    }
}
