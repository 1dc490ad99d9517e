//! Prose: sections under headings, paragraphs between blank lines, lines. A `#` inside a code fence is not a heading.

use crate::lines::{is_blank, line_marks, lines};
use crate::pack::{Mark, Strength};

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// From 1, the top level.
    pub level: u8,
    /// Without its markup.
    pub title: String,
    /// Its line, from 1.
    pub line: u64,
    /// The offset of that line.
    pub at: u64,
}

/// The headings of a text, in order.
pub fn headings(text: &str) -> Vec<Heading> {
    each_heading(text).collect()
}

pub(super) fn each_heading(text: &str) -> impl Iterator<Item = Heading> {
    let mut fence = Fence::default();
    lines(text).zip(1..).filter_map(move |((at, line), number)| {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        if fence.takes(line) {
            return None;
        }
        let level = heading_level(rest, line.len())?;
        let title = String::from_utf8_lossy(line);
        let title = title.trim().trim_matches(['#', '=']).trim().to_owned();
        Some(Heading { level, title, line: number, at: at as u64 })
    })
}

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let mut fence = Fence::default();
    let mut after_blank = false;
    line_marks(text, move |rest, bytes| {
        let line = rest.get(..bytes).unwrap_or_default();
        let is_after_blank = std::mem::replace(&mut after_blank, is_blank(line));
        if fence.takes(line) {
            return if fence.is_opening { Strength::Paragraph } else { Strength::Word };
        }
        match heading_level(rest, bytes) {
            Some(1 | 2) => Strength::Section,
            Some(_) => Strength::Item,
            None if is_after_blank && !is_blank(line) => Strength::Paragraph,
            None => Strength::Sentence,
        }
    })
}

#[derive(Debug, Default)]
struct Fence {
    open: Option<(u8, usize)>,
    is_opening: bool,
}

impl Fence {
    /// Whether a line belongs to a fenced block, including its first and last line.
    fn takes(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let sign = line.first().copied().filter(|&byte| byte == b'`' || byte == b'~');
        let length = line.iter().take_while(|&&byte| Some(byte) == sign).count();
        self.is_opening = false;
        match (self.open, sign) {
            (None, Some(sign)) if length >= 3 => {
                self.open = Some((sign, length));
                self.is_opening = true;
                true
            }
            (None, _) => false,
            (Some((opened, least)), Some(sign))
                if sign == opened && length >= least && line.len() == length =>
            {
                self.open = None;
                true
            }
            (Some(_), _) => true,
        }
    }
}

/// The level of a heading: `## Two`, `== Two`, or a line underlined with `===` or `---`.
fn heading_level(rest: &[u8], bytes: usize) -> Option<u8> {
    let line = rest.get(..bytes)?;
    let first = *line.first()?;
    if first == b'#' || first == b'=' {
        let depth = line.iter().take_while(|&&byte| byte == first).count();
        let has_title = line.get(depth) == Some(&b' ') && !is_blank(line.get(depth..)?);
        return if has_title && depth <= 6 { u8::try_from(depth).ok() } else { None };
    }
    if first.is_ascii_whitespace() || is_blank(line) {
        return None;
    }
    let below = rest.get(bytes..)?;
    let sign = *below.first().filter(|&&byte| matches!(byte, b'=' | b'-' | b'~' | b'^'))?;
    let below = below.get(..memchr::memchr(b'\n', below).unwrap_or(below.len()))?.trim_ascii_end();
    // A list or a rule below a paragraph is shorter than its last line; an underline is not.
    let is_underline = below.len() >= 3 && below.iter().all(|&byte| byte == sign);
    let is_long_enough = below.len() + 2 >= line.trim_ascii_end().len();
    match sign {
        _ if !is_underline || !is_long_enough => None,
        b'=' => Some(1),
        b'-' => Some(2),
        _ => Some(3),
    }
}
