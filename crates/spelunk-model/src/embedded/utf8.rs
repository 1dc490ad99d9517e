//! Text from tokens: a character may be split across tokens, so its bytes are held back until it is complete.

const HELD_BYTES_MAX: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Utf8Joiner {
    held: Vec<u8>,
}

impl Utf8Joiner {
    /// The text that is complete now. Invalid bytes are replaced.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        let mut chunks = self.held.utf8_chunks().peekable();
        let mut left = Vec::new();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let may_go_on = chunks.peek().is_none() && is_beginning(invalid);
            match (invalid.is_empty(), may_go_on) {
                (true, _) => {}
                (false, true) => left = invalid.to_vec(),
                (false, false) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        self.held = left;
        text
    }

    pub(super) fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        String::from_utf8_lossy(&held).into_owned()
    }
}

/// Whether more bytes could complete these to a character.
fn is_beginning(bytes: &[u8]) -> bool {
    let Err(error) = std::str::from_utf8(bytes) else { return false };
    bytes.len() <= HELD_BYTES_MAX && error.valid_up_to() == 0 && error.error_len().is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_that_is_cut_waits_for_its_end() {
        let mut joiner = Utf8Joiner::default();
        let euro = "€".as_bytes();
        assert_eq!(joiner.push(&[b'a', euro[0]]), "a");
        assert_eq!(joiner.push(&euro[1..2]), "");
        assert_eq!(joiner.push(&[euro[2], b'b']), "€b");
        assert_eq!(joiner.push(&[0xff, b'c']), "\u{fffd}c");
        assert_eq!(joiner.push(&euro[..2]), "");
        assert_eq!(joiner.finish(), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_text_is_the_same(bytes: Vec<u8>, n_bytes in 1_usize..4) {
            let mut joiner = Utf8Joiner::default();
            let mut text: String = bytes.chunks(n_bytes).map(|piece| joiner.push(piece)).collect();
            text += &joiner.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
