//! What the quick commands share: their input, their output with its limit, and lines.

use memchr::{memchr, memchr_iter};

/// One input of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    /// The file as it was named; nothing for standard input.
    pub(super) name: Option<&'a str>,
    pub(super) bytes: &'a [u8],
    /// Whether it is a file, by name or as standard input, and not a pipe.
    pub(super) is_file: bool,
}

/// The output of a command.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    pub(super) exit_code: i32,
    bytes_max: usize,
}

impl Output {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), exit_code: 0, bytes_max }
    }

    /// Room for about so much, so that it is not copied while it grows.
    pub(super) fn reserve(&mut self, n_bytes: usize) {
        self.bytes.reserve(n_bytes.min(self.bytes_max));
    }

    /// Adds to the end; nothing if that is too much.
    pub(super) fn push(&mut self, more: &[u8]) -> Option<()> {
        if more.len() > self.bytes_max - self.bytes.len() {
            return None;
        }
        self.bytes.extend_from_slice(more);
        Some(())
    }

    /// Adds a line that has no end of its own.
    pub(super) fn push_line(&mut self, line: &[u8]) -> Option<()> {
        if line.len() >= self.bytes_max - self.bytes.len() {
            return None;
        }
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        Some(())
    }
}

/// The lines of a text without their ends. What follows the last end is a line if it is not empty.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.get(1..).unwrap_or_default();
        Some(line)
    })
}

/// How many lines a text has, counted as `lines` gives them.
pub(super) fn n_lines(bytes: &[u8]) -> usize {
    n_ends(bytes) + usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}

/// How many line ends there are.
pub(super) fn n_ends(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// Where line `idx` begins, counted from 0; the end of the text if there are fewer.
pub(super) fn start_of_line(bytes: &[u8], idx: usize) -> usize {
    match idx.checked_sub(1) {
        None => 0,
        Some(n_before) => memchr_iter(b'\n', bytes).nth(n_before).map_or(bytes.len(), |at| at + 1),
    }
}

/// A part of a text; empty where it is none.
pub(super) fn part(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    bytes.get(from..to.min(bytes.len())).unwrap_or_default()
}
