//! A piece of a document as text: decoded bytes, masked if requested, with a mapping from offsets in it to offsets in
//! the document. The two mostly advance in step; a list records where something was replaced.

use super::{KEY_HEAD, SecretSpan, find_secrets};

/// Replaces each character of a secret. It does not occur in ordinary text, so it cannot be mistaken for the original,
/// and only a very general pattern matches it. One per character, so offsets stay those of the document.
pub(crate) const MASK: char = '█';

#[derive(Debug, Default)]
pub(crate) struct MappedText {
    pub(crate) text: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    shifts: Vec<Shift>,
}

/// The end of a replaced part: its offset in the text and in the document.
#[derive(Debug, Clone, Copy)]
struct Shift {
    text: usize,
    document: u64,
}

impl MappedText {
    /// Decodes bytes from a character boundary on. Drops a cut last character, unless the document
    /// ends there.
    pub(crate) fn new(mut bytes: Vec<u8>, start: u64, is_end: bool) -> Self {
        if !is_end {
            bytes.truncate(bytes.len() - incomplete_bytes(&bytes));
        }
        let end = start + bytes.len() as u64;
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, start, end, shifts: Vec::new() },
            Err(error) => {
                let (text, shifts) = decoded(error.as_bytes(), start);
                Self { text, start, end, shifts }
            }
        }
    }

    /// Whether it may contain a key, the only form of secret that spans several lines.
    pub(crate) fn may_hold_key(&self) -> bool {
        memchr::memmem::find(self.text.as_bytes(), KEY_HEAD).is_some()
    }

    /// Offsets must be character boundaries.
    pub(crate) fn document_at(&self, text: usize) -> u64 {
        let last = self.last_shift(|shift| shift.text <= text);
        last.document + (text - last.text) as u64
    }

    pub(crate) fn text_at(&self, document: u64) -> usize {
        let last = self.last_shift(|shift| shift.document <= document);
        let at = last.text + usize::try_from(document.saturating_sub(last.document)).unwrap_or(usize::MAX);
        at.min(self.text.len())
    }

    fn last_shift(&self, is_before: impl Fn(&Shift) -> bool) -> Shift {
        let n_before = self.shifts.partition_point(is_before);
        let last = n_before.checked_sub(1).and_then(|idx| self.shifts.get(idx));
        last.copied().unwrap_or(Shift { text: 0, document: self.start })
    }

    /// Masks the secrets. Correct where `REDACT_REACH_BYTES` around are in this piece, or the document ends.
    pub(crate) fn mask(&mut self) {
        let secrets = find_secrets(&self.text);
        if secrets.is_empty() {
            return;
        }
        let (mut masked, mut shifts) = (String::with_capacity(self.text.len()), Vec::new());
        let mut done = 0;
        for SecretSpan { bytes: secret, .. } in secrets {
            let start = self.text.floor_char_boundary(secret.start).max(done);
            let end = self.text.ceil_char_boundary(secret.end).max(start);
            self.keep(done, start, &mut masked, &mut shifts);
            for (at, c) in self.text.get(start..end).unwrap_or_default().char_indices() {
                masked.push(MASK);
                let document = self.document_at(start + at + c.len_utf8());
                shifts.push(Shift { text: masked.len(), document });
            }
            done = end;
        }
        self.keep(done, self.text.len(), &mut masked, &mut shifts);
        (self.text, self.shifts) = (masked, shifts);
    }

    fn keep(&self, from: usize, to: usize, masked: &mut String, shifts: &mut Vec<Shift>) {
        let first = self.shifts.partition_point(|shift| shift.text <= from);
        let inside = self.shifts[first..].iter().take_while(|shift| shift.text <= to);
        shifts.extend(inside.map(|shift| Shift { text: masked.len() + (shift.text - from), ..*shift }));
        masked.push_str(self.text.get(from..to).unwrap_or_default());
    }
}

/// How many bytes at the end may begin an incomplete character.
pub(crate) fn incomplete_bytes(bytes: &[u8]) -> usize {
    let is_beginning = |tail: &[u8]| {
        str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    let tails = (1..=bytes.len().min(3)).rev();
    tails.into_iter().find(|&n| is_beginning(&bytes[bytes.len() - n..])).unwrap_or(0)
}

/// Whether these bytes are one multi-byte character, or the beginning of one.
pub(crate) fn may_begin_char(bytes: &[u8]) -> bool {
    match str::from_utf8(bytes) {
        Ok(text) => bytes.len() > 1 && text.chars().count() == 1,
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    }
}

/// The bytes must begin and end at characters.
pub(crate) fn count_chars(bytes: &[u8]) -> u64 {
    if bytes.is_ascii() {
        return bytes.len() as u64;
    }
    let count = |chunk: std::str::Utf8Chunk<'_>| {
        chunk.valid().chars().count() as u64 + u64::from(!chunk.invalid().is_empty())
    };
    match str::from_utf8(bytes) {
        Ok(text) => text.chars().count() as u64,
        Err(_) => bytes.utf8_chunks().map(count).sum(),
    }
}

fn decoded(bytes: &[u8], start: u64) -> (String, Vec<Shift>) {
    let (mut text, mut shifts, mut document) = (String::with_capacity(bytes.len()), Vec::new(), start);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        document += (chunk.valid().len() + chunk.invalid().len()) as u64;
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            shifts.push(Shift { text: text.len(), document });
        }
    }
    (text, shifts)
}
