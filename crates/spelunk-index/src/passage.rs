//! Cuts text into passages of about a dozen lines, ending at a natural break if there is one nearby. Every byte belongs
//! to exactly one piece, in order, and so does every line, unless it is too long for any.

use std::ops::Range;

/// A longer line (minified code, data) is cut into separate pieces, on character boundaries.
pub(crate) const LINE_BYTES_MAX: usize = 2000;
pub(crate) const PIECE_BYTES_MAX: usize = 4000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PassageRange {
    /// From 1.
    pub(crate) line_start: u64,
    pub(crate) line_end: u64,
    pub(crate) span: Range<usize>,
}

/// The pieces of a text, about `lines_wanted` lines each.
pub(crate) fn pieces(text: &str, lines_wanted: u64) -> impl Iterator<Item = PassageRange> {
    let mut cutter = Cutter { text, lines_wanted: lines_wanted.max(1), at: 0, line: 1 };
    std::iter::from_fn(move || cutter.cut())
}

/// A hash that ignores whitespace. It is stored on disk, so it must never change.
pub(crate) fn fingerprint(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for word in text.split_ascii_whitespace() {
        word.bytes().for_each(&mut add);
        add(b' ');
    }
    hash
}

struct Cutter<'a> {
    text: &'a str,
    lines_wanted: u64,
    at: usize,
    line: u64,
}

/// What comes next: a line with its ending, or as much of a long one as fits a piece.
enum Next<'a> {
    Line(&'a str),
    Fragment(&'a str),
}

impl<'a> Cutter<'a> {
    fn cut(&mut self) -> Option<PassageRange> {
        let (start, line_start) = (self.at, self.line);
        let (mut n_lines, mut after_blank) = (0, false);
        while let Some(next) = self.peek() {
            let line = match next {
                Next::Line(line) => line,
                Next::Fragment(_) if n_lines > 0 => break,
                Next::Fragment(fragment) => {
                    self.at += fragment.len();
                    return Some(PassageRange { line_start, line_end: line_start, span: start..self.at });
                }
            };
            let n_bytes = self.at - start + line.len();
            if n_lines > 0 && (n_bytes > PIECE_BYTES_MAX || self.ends_before(line, n_lines, after_blank)) {
                break;
            }
            after_blank = is_blank(line);
            n_lines += 1;
            self.at += line.len();
            self.line += u64::from(line.ends_with('\n'));
        }
        (n_lines > 0).then(|| PassageRange {
            line_start,
            line_end: line_start + n_lines - 1,
            span: start..self.at,
        })
    }

    fn ends_before(&self, line: &str, n_lines: u64, after_blank: bool) -> bool {
        let wanted = self.lines_wanted;
        n_lines >= wanted + wanted / 3
            || (after_blank && n_lines >= wanted - wanted / 3 && !is_blank(line))
            || (n_lines >= wanted / 3 && is_heading(line))
    }

    fn peek(&self) -> Option<Next<'a>> {
        let end = self.text.floor_char_boundary(self.at + LINE_BYTES_MAX);
        let window = self.text.get(self.at..end).unwrap_or_default();
        match memchr::memchr(b'\n', window.as_bytes()) {
            Some(line_bytes) => window.get(..=line_bytes).map(Next::Line),
            None if window.is_empty() => None,
            None if end == self.text.len() => Some(Next::Line(window)),
            None => Some(Next::Fragment(window)),
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// A Markdown heading: one to six `#` and a space.
fn is_heading(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - title.len())) && title.starts_with(' ')
}

#[cfg(test)]
mod tests;
