//! Decodes bytes to text. UTF-8 is used as it is, CRLF included. A byte order mark is dropped, so offsets in text begin
//! after it. UTF-16 is only recognised by its mark. Invalid UTF-8 becomes U+FFFD if the file is otherwise text. The
//! first 8 KiB decide whether it is text: a later NUL is kept.

pub(crate) const HEAD_BYTES: usize = 8 * 1024;
pub(crate) const MARK: char = '\u{feff}';

/// Why bytes are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// NUL bytes, control characters or the magic number of a binary format.
    #[error("it is a binary file")]
    Binary,
    /// Mostly bytes that are not UTF-8, and no byte order mark.
    #[error("its encoding is neither UTF-8 nor UTF-16 with a byte order mark")]
    Encoding,
}

/// Whether a file is text, judged by its first `HEAD_BYTES`.
pub(crate) fn sniff(head: &[u8]) -> Result<(), NotText> {
    match Encoding::of(head) {
        Encoding::Utf16 { rest, endian } => sniff_utf16(rest, endian),
        Encoding::Utf8 { rest } => sniff_utf8(rest),
    }
}

/// Whether a file with exactly these bytes has no text: nothing, or only a byte order mark.
pub(crate) fn is_empty(bytes: &[u8]) -> bool {
    match Encoding::of(bytes) {
        Encoding::Utf16 { rest, .. } | Encoding::Utf8 { rest } => rest.is_empty(),
    }
}

/// The text of a whole file. Total: even bytes that `sniff` refuses decode to something.
pub(crate) fn decode(bytes: Vec<u8>) -> String {
    match Encoding::of(&bytes) {
        Encoding::Utf16 { rest, endian } => {
            let units = utf16_units(rest, endian);
            let mut text: String =
                char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            if rest.len() % 2 == 1 {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            text
        }
        Encoding::Utf8 { .. } => without_mark(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        ),
    }
}

pub(crate) fn without_mark(mut text: String) -> String {
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

#[derive(Debug)]
pub(crate) struct Utf16Stream {
    endian: Endian,
    /// Bytes of the mark that are still to be skipped.
    mark_bytes: usize,
    /// An odd byte, or the first half of a surrogate pair.
    carried: Vec<u8>,
}

impl Utf16Stream {
    /// `None` if the first bytes of a file do not announce UTF-16.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match Encoding::of(head) {
            Encoding::Utf16 { endian, .. } => Some(Self { endian, mark_bytes: 2, carried: Vec::new() }),
            Encoding::Utf8 { .. } => None,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        self.carried.extend_from_slice(bytes.get(self.mark_bytes..).unwrap_or_default());
        self.mark_bytes = 0;
        let n_units = self.carried.len() / 2;
        let is_half =
            utf16_units(&self.carried, self.endian).last().is_some_and(|unit| unit & 0xFC00 == 0xD800);
        let n_whole = (n_units - usize::from(is_half)) * 2;
        for unit in char::decode_utf16(utf16_units(&self.carried[..n_whole], self.endian)) {
            let c = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.carried.drain(..n_whole);
    }
}

#[derive(Debug, Clone, Copy)]
enum Endian {
    Little,
    Big,
}

enum Encoding<'a> {
    Utf8 { rest: &'a [u8] },
    Utf16 { rest: &'a [u8], endian: Endian },
}

impl<'a> Encoding<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        match bytes {
            // UTF-32, or UTF-16 with a NUL character: neither occurs in practice, and it counts as binary.
            [0xFF, 0xFE, 0, 0, ..] => Self::Utf8 { rest: bytes },
            [0xFF, 0xFE, rest @ ..] => Self::Utf16 { rest, endian: Endian::Little },
            [0xFE, 0xFF, rest @ ..] => Self::Utf16 { rest, endian: Endian::Big },
            [0xEF, 0xBB, 0xBF, rest @ ..] | rest => Self::Utf8 { rest },
        }
    }
}

fn utf16_units(bytes: &[u8], endian: Endian) -> impl Iterator<Item = u16> {
    bytes.as_chunks::<2>().0.iter().map(move |pair| match endian {
        Endian::Little => u16::from_le_bytes(*pair),
        Endian::Big => u16::from_be_bytes(*pair),
    })
}

fn sniff_utf16(rest: &[u8], endian: Endian) -> Result<(), NotText> {
    let (mut n_units, mut n_odd) = (0, 0);
    // A pair split by the end of the sample counts as one odd unit, which `is_rare` tolerates.
    for unit in char::decode_utf16(utf16_units(rest, endian)) {
        n_units += 1;
        n_odd += usize::from(unit.map_or(true, |c| c == '\0' || is_odd_control(c)));
    }
    if is_rare(n_odd, n_units) { Ok(()) } else { Err(NotText::Binary) }
}

fn sniff_utf8(rest: &[u8]) -> Result<(), NotText> {
    const MAGIC: [&[u8]; 10] = [
        b"%PDF-",
        b"PK\x03\x04",
        b"\x7fELF",
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"\x1f\x8b",
        b"\xfd7zXZ",
        b"7z\xbc\xaf\x27\x1c",
        b"\x28\xb5\x2f\xfd",
        b"\xca\xfe\xba\xbe",
    ];
    if MAGIC.iter().any(|magic| rest.starts_with(magic)) || memchr::memchr(0, rest).is_some() {
        return Err(NotText::Binary);
    }
    #[expect(clippy::needless_bitwise_bool, reason = "without a branch, many bytes are compared at a time")]
    let is_odd = |byte: u8| {
        (byte < 0x08) | (byte == 0x0b) | ((byte > 0x0d) & (byte < 0x20) & (byte != 0x1b)) | (byte == 0x7f)
    };
    // A sum of bytes takes an eighth of the time of a sum of words.
    let n_odd_in = |piece: &[u8]| usize::from(piece.iter().map(|&byte| u8::from(is_odd(byte))).sum::<u8>());
    let n_odd: usize = rest.chunks(128).map(n_odd_in).sum();
    if !is_rare(n_odd, rest.len()) {
        return Err(NotText::Binary);
    }
    if str::from_utf8(rest).is_ok() {
        return Ok(());
    }
    let n_invalid: usize = rest.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    // Western text in Latin-1 has a few per cent of these and stays readable; other alphabets do not.
    if n_invalid > 3 && n_invalid * 10 > rest.len() * 3 { Err(NotText::Encoding) } else { Ok(()) }
}

/// A control character that does not occur in text. Backspace, form feed and escape do occur in manuals and logs.
fn is_odd_control(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{8}' | '\u{c}' | '\u{1b}')
}

/// At most one in twenty; two are tolerated in any file.
fn is_rare(n_odd: usize, n_all: usize) -> bool {
    n_odd * 20 <= n_all + 40
}

#[cfg(test)]
mod tests;
