//! Lines as the splitters count them: a line ends behind its newline, and text behind the last newline is a line too.
//! A carriage return is an ordinary byte at the end of a line.

use crate::pack::{Mark, Strength};

/// How many lines a text has.
pub(crate) fn count_lines(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let n_newlines = count_newlines(bytes);
    n_newlines + u64::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}

/// How many newlines there are.
pub(crate) fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The end of each line, its newline included.
pub(crate) fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let rest = bytes.last().is_some_and(|&byte| byte != b'\n').then_some(bytes.len());
    memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).chain(rest)
}

/// Each line with its offset, its newline included.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    line_ends(text).map(move |end| {
        let line = (start, &text.as_bytes()[start..end]);
        start = end;
        line
    })
}

/// A mark before each line but the first, and one at the end. `judge` is shown the text from each line on, the first
/// line's included, and how long that line is.
pub(crate) fn line_marks<'t>(
    text: &'t str,
    mut judge: impl FnMut(&'t [u8], usize) -> Strength + 't,
) -> impl Iterator<Item = Mark> + 't {
    let mut start = 0;
    let mut n_lines = 0;
    let before = line_ends(text).filter_map(move |end| {
        let strength = judge(&text.as_bytes()[start..], end - start);
        let mark = (start > 0).then_some(Mark { at: start, strength, units: n_lines });
        start = end;
        n_lines += 1;
        mark
    });
    before.chain(std::iter::once_with(move || Mark {
        at: text.len(),
        strength: Strength::Section,
        units: count_lines(text),
    }))
}

/// Whether there is nothing but blanks.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests;
