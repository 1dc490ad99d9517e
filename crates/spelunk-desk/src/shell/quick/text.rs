//! What the quick commands share: their input, their output with its limit, and lines. A command that only chooses lines or
//! parts of them gives places in its input instead of copies, and the next one reads them where they lie.

use memchr::{Memchr, memchr_iter};

use super::work::Work;

/// A line, or a part of one, as a place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// From a place to another, in a text of no more than `INPUT_BYTES_MAX` bytes.
    pub(super) fn between(start: usize, end: usize) -> Self {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { start: narrow(start), len: narrow(end.saturating_sub(start)) }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    pub(super) fn end(self) -> usize {
        self.start() + self.len()
    }

    /// What it says in its text.
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start()..self.end()).unwrap_or_default()
    }
}

/// One input of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    /// The file as it was named; nothing for standard input.
    pub(super) name: Option<&'a str>,
    pub(super) bytes: &'a [u8],
    /// The lines it is made of, as places in `bytes`, each with an end; nothing where it is all of them as they are.
    pub(super) chosen: Option<&'a [Span]>,
    /// Whether it is a file, by name or as standard input, and not a pipe.
    pub(super) is_file: bool,
}

impl<'a> Input<'a> {
    /// Its lines without their ends, as places in `bytes`.
    pub(super) fn spans(self) -> Spans<'a> {
        match self.chosen {
            Some(chosen) => Spans::Chosen(chosen.iter()),
            None => Spans::All { ends: memchr_iter(b'\n', self.bytes), at: 0, n_bytes: self.bytes.len() },
        }
    }

    /// Its lines without their ends.
    pub(super) fn lines(self) -> impl Iterator<Item = &'a [u8]> {
        self.spans().map(move |span| span.of(self.bytes))
    }

    pub(super) fn n_lines(self) -> usize {
        self.chosen.map_or_else(|| n_lines(self.bytes), <[Span]>::len)
    }

    /// Its size.
    pub(super) fn n_bytes(self) -> usize {
        self.chosen.map_or(self.bytes.len(), n_bytes)
    }
}

/// The lines of an input, as places.
pub(super) enum Spans<'a> {
    Chosen(std::slice::Iter<'a, Span>),
    All { ends: Memchr<'a>, at: usize, n_bytes: usize },
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        match self {
            Spans::Chosen(chosen) => chosen.next().copied(),
            Spans::All { ends, at, n_bytes } => {
                let end = match ends.next() {
                    Some(end) => end,
                    // What follows the last end is a line if it is not empty.
                    None if *at < *n_bytes => *n_bytes,
                    None => return None,
                };
                let span = Span::between(*at, end);
                *at = end + 1;
                Some(span)
            }
        }
    }
}

/// The output of a command.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    /// Lines of the only input, in place of bytes.
    pub(super) chosen: Option<Vec<Span>>,
    pub(super) exit_code: i32,
    /// How many lines the next command looks at: the rest need not be there.
    pub(super) lines_max: usize,
    /// What it may be and hold.
    pub(super) bytes_max: usize,
    pub(super) work: Work,
}

impl Output {
    pub(super) fn new(bytes_max: usize, lines_max: usize, work: Work) -> Self {
        Self { bytes: Vec::new(), chosen: None, exit_code: 0, lines_max, bytes_max, work }
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

    /// Gives lines of the only input.
    pub(super) fn choose(&mut self, chosen: Vec<Span>) -> Option<()> {
        if n_bytes(&chosen) > self.bytes_max {
            return None;
        }
        self.chosen = Some(chosen);
        Some(())
    }
}

/// The size of lines with their ends.
pub(super) fn n_bytes(lines: &[Span]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

/// Adds lines of a text to the end of another.
pub(super) fn write_lines(lines: &[Span], bytes: &[u8], to: &mut Vec<u8>) {
    to.reserve(n_bytes(lines));
    for line in lines {
        to.extend_from_slice(line.of(bytes));
        to.push(b'\n');
    }
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

/// Whether every byte is one of these. Looks at many at once: a branch for each would take as long as the command.
pub(super) fn all_bytes(bytes: &[u8], is_in: impl Fn(u8) -> bool) -> bool {
    const AT_ONCE: usize = 4096;
    bytes.chunks(AT_ONCE).all(|chunk| chunk.iter().fold(true, |all, &byte| all & is_in(byte)))
}
