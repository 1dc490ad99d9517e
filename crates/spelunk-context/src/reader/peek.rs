//! Peeks: the first lines of a document, read without the rest, and how many more lines are known.

use std::fmt;

use super::{ReadError, Reader};

/// The first lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peek {
    /// The lines, without the end of the last one.
    pub text: String,
    /// Whether the last line shown is truncated.
    pub truncated: bool,
    /// Lines shown, including a truncated one; 0 only for an empty document.
    pub lines_shown: u64,
    /// Lines after the last one shown.
    pub more_lines: More,
}

/// How many lines are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// None.
    None,
    /// This many.
    Exactly(u64),
    /// This many were seen; the rest of the document was not read.
    AtLeast(u64),
}

impl Reader {
    /// The maximum number of lines of a page or a peek.
    pub const LINES_MAX: u64 = 1_000_000;

    /// The minimum read for a peek: a document that ends within it gets an exact line count.
    const PEEK_BYTES_MIN: u64 = 64 * 1024;

    /// The first `lines` lines or the first 4 * `tokens` characters, whichever is less.
    pub fn peek(&self, lines: u64, tokens: u64) -> Result<Peek, ReadError> {
        ReadError::check("lines of a peek", lines, 1, Self::LINES_MAX)?;
        ReadError::check("tokens of a peek", tokens, 1, u64::MAX)?;
        let chars_max = tokens.saturating_mul(4);
        // A character has at most 4 bytes, and the `\r` of a line is not counted.
        let bytes_max = chars_max.saturating_add(lines).saturating_mul(4);
        let window_end = bytes_max.clamp(Self::PEEK_BYTES_MIN, Self::READ_BYTES_MAX).min(self.bytes);
        let mut window = Vec::new();
        self.read(0..window_end, &mut window)?;
        let nth = usize::try_from(lines - 1).unwrap_or(usize::MAX);
        let lines_end = match memchr::memchr_iter(b'\n', &window).nth(nth) {
            Some(end) => Some(end as u64),
            None if window_end == self.bytes => Some(self.bytes - u64::from(window.ends_with(b"\n"))),
            None => None,
        };
        let end = lines_end.unwrap_or(window_end).min(bytes_max);
        let left = without_returns(&self.redacted(self.cut_to_chars(0..end)?)?);
        let (text, cut_by_chars) = cut_to(left, chars_max);
        let more_lines = self.more_lines(&window, lines_of(&text, self.bytes));
        self.require_fresh()?;
        let truncated = cut_by_chars || lines_end.is_none_or(|lines_end| end < lines_end);
        Ok(Peek { lines_shown: lines_of(&text, self.bytes), text, truncated, more_lines })
    }

    /// Counts the lines after the first `n_shown`: exactly if the window is the whole document or an index exists.
    fn more_lines(&self, window: &[u8], n_shown: u64) -> More {
        let n_ends = memchr::memchr_iter(b'\n', window).count() as u64;
        let n_begun = n_ends + u64::from(window.last().is_some_and(|&last| last != b'\n'));
        let is_whole = window.len() as u64 == self.bytes;
        let n_lines = if is_whole { Some(n_begun) } else { self.index_if_built().map(|index| index.n_lines) };
        match n_lines {
            Some(n_lines) if n_lines <= n_shown => More::None,
            Some(n_lines) => More::Exactly(n_lines - n_shown),
            None => More::AtLeast((n_ends + 1).saturating_sub(n_shown)),
        }
    }
}

/// Removes carriage returns from line ends. The last line has no end.
fn without_returns(text: &str) -> String {
    text.strip_suffix('\r').unwrap_or(text).replace("\r\n", "\n")
}

fn lines_of(text: &str, document_bytes: u64) -> u64 {
    if document_bytes == 0 { 0 } else { memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64 + 1 }
}

/// The first `chars_max` characters, and whether there were more. A newline at the cut is dropped.
fn cut_to(mut text: String, chars_max: u64) -> (String, bool) {
    let nth = usize::try_from(chars_max).unwrap_or(usize::MAX);
    let Some((at, _)) = text.char_indices().nth(nth) else { return (text, false) };
    text.truncate(at);
    if text.ends_with('\n') {
        text.pop();
    }
    (text, true)
}

impl fmt::Display for Peek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines_shown == 0 {
            return f.write_str("[empty]");
        }
        f.write_str(&self.text)?;
        if self.truncated {
            f.write_str("... [truncated]")?;
        }
        match self.more_lines {
            More::None | More::AtLeast(0) => Ok(()),
            More::Exactly(1) => f.write_str("\n[1 more line]"),
            More::Exactly(n_lines) => write!(f, "\n[{n_lines} more lines]"),
            More::AtLeast(n_lines) => write!(f, "\n[at least {n_lines} more lines]"),
        }
    }
}
