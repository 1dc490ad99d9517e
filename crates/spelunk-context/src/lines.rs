//! Lines as the splitters count them: a line includes its newline, and text after the last newline is a line too. A
//! carriage return is an ordinary byte at the end of a line.

use crate::pack::{Mark, Strength};

pub(crate) fn count_lines(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let n_newlines = count_newlines(bytes);
    n_newlines + u64::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}

pub(crate) fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

pub(crate) fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let rest = bytes.last().is_some_and(|&byte| byte != b'\n').then_some(bytes.len());
    memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).chain(rest)
}

pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    line_ends(text).map(move |end| {
        let line = (start, &text.as_bytes()[start..end]);
        start = end;
        line
    })
}

/// A mark before each line except the first, and one at the end. `judge` gets the text from each line to the end, the
/// first line included, and the length of that line.
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

pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests;
