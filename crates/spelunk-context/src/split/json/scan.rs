//! Finds where JSON values end, without parsing them: tracks strings, escapes and nesting, and stores nothing. Broken
//! text is detected only as far as finding the ends requires.

use std::ops::Range;

#[derive(Debug)]
pub(super) struct Broken;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Child {
    /// With its quotes.
    pub(super) key: Option<Range<usize>>,
    pub(super) value: Range<usize>,
    /// The offset after the comma, or the end of the value if it is the last.
    pub(super) next: usize,
}

impl Child {
    pub(super) fn start(&self) -> usize {
        self.key.as_ref().map_or(self.value.start, |key| key.start)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Children<'t> {
    bytes: &'t [u8],
    at: usize,
    pub(super) is_object: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    AfterComma,
    AtClose,
    Done,
}

impl<'t> Children<'t> {
    /// The children of the value at the beginning of the text, after any byte order mark.
    pub(super) fn of_root(bytes: &'t [u8]) -> Option<Self> {
        let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Self::at(bytes, skip_blank(bytes, mark))
    }

    pub(super) fn at(bytes: &'t [u8], at: usize) -> Option<Self> {
        let is_object = match bytes.get(at)? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        Some(Self { bytes, at: at + 1, is_object, state: State::First })
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::AtClose | State::Done)
    }

    pub(super) fn is_only(&self, bytes: &[u8]) -> bool {
        self.state == State::Done && skip_blank(bytes, self.at) == bytes.len()
    }

    pub(super) fn next(&mut self) -> Result<Option<Child>, Broken> {
        let start = skip_blank(self.bytes, self.at);
        let close = if self.is_object { b'}' } else { b']' };
        match self.state {
            State::Done => return Ok(None),
            State::First | State::AtClose if self.bytes.get(start) == Some(&close) => {
                self.at = start + 1;
                self.state = State::Done;
                return Ok(None);
            }
            State::AtClose => return Err(Broken),
            State::First | State::AfterComma => {}
        }
        let (key, value_start) = if self.is_object {
            let key = start..string_end(self.bytes, start).ok_or(Broken)?;
            // A key is repeated in every chunk under it; a newline there would shift their lines.
            if memchr::memchr(b'\n', self.bytes.get(key.clone()).unwrap_or_default()).is_some() {
                return Err(Broken);
            }
            let colon = skip_blank(self.bytes, key.end);
            if self.bytes.get(colon) != Some(&b':') {
                return Err(Broken);
            }
            (Some(key), skip_blank(self.bytes, colon + 1))
        } else {
            (None, start)
        };
        let value = value_start..value_end(self.bytes, value_start).ok_or(Broken)?;
        let behind = skip_blank(self.bytes, value.end);
        let next = if self.bytes.get(behind) == Some(&b',') {
            self.state = State::AfterComma;
            self.at = behind + 1;
            behind + 1
        } else {
            self.state = State::AtClose;
            self.at = behind;
            value.end
        };
        Ok(Some(Child { key, value, next }))
    }
}

fn skip_blank(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).unwrap_or(rest.len())
}

fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => container_end(bytes, at),
        b',' | b':' | b'}' | b']' => None,
        _ => {
            let rest = bytes.get(at..)?;
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            Some(at + rest.iter().position(is_end).unwrap_or(rest.len()))
        }
    }
}

fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The offset after the bracket that closes the one at `at`. Counts both kinds of brackets alike.
fn container_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_u64;
    let mut at = at;
    loop {
        let rest = bytes.get(at..)?;
        at += rest.iter().position(|&byte| IS_STRUCTURE[byte as usize])?;
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            _ => depth -= 1,
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

const IS_STRUCTURE: [bool; 256] = {
    let mut table = [false; 256];
    table[b'"' as usize] = true;
    table[b'{' as usize] = true;
    table[b'}' as usize] = true;
    table[b'[' as usize] = true;
    table[b']' as usize] = true;
    table
};
