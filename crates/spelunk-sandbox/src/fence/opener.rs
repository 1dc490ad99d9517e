//! Opening lines: parses lines that begin with fence characters.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opener<'a> {
    /// Bytes before the fence: whitespace, and a list marker if the fence follows it on the same line.
    pub(super) indent: usize,
    pub(super) fence: Fence,
    /// The first word after it, without braces and dots.
    pub(super) label: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    /// A backtick or a tilde.
    pub(super) mark: u8,
    /// How many, at least three.
    pub(super) n_marks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceLine {
    /// Nothing.
    Content,
    Closing,
    /// It would open a fence. No line of Python begins with a backtick, so the author forgot to close the last one.
    Opening,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceContent {
    /// Python.
    Code,
    /// It has no label: code if it parses.
    Unknown,
    /// Output, data or another language.
    Other,
}

const FENCE_MARKS_MIN: usize = 3;
const LIST_DIGITS_MAX: usize = 3;
const CODE_LABELS: [&str; 4] = ["repl", "python", "python3", "py"];

impl<'a> Opener<'a> {
    /// Parses a line; `None` if it opens nothing.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        let rest = line.get(blank..)?;
        let indent = blank + list_marker(rest);
        let rest = line.get(indent..)?;
        let fence = Fence::read(rest)?;
        let info = rest.get(fence.n_marks..)?;
        // An inline code span may begin with three backticks, too.
        if fence.mark == b'`' && info.contains('`') {
            return None;
        }
        let word = info.split_whitespace().next().unwrap_or_default();
        Some(Self { indent, fence, label: word.trim_matches(['{', '}', '.']) })
    }

    pub(super) fn holds(&self) -> FenceContent {
        match self.label {
            "" => FenceContent::Unknown,
            label if is_code_label(label) => FenceContent::Code,
            _ => FenceContent::Other,
        }
    }
}

impl Fence {
    /// The fence at the start of a text.
    fn read(text: &str) -> Option<Self> {
        let mark = *text.as_bytes().first()?;
        if mark != b'`' && mark != b'~' {
            return None;
        }
        let n_marks = text.bytes().take_while(|byte| *byte == mark).count();
        (n_marks >= FENCE_MARKS_MIN).then_some(Self { mark, n_marks })
    }

    /// What a line means for this fence. Its indentation is ignored: models indent inconsistently.
    pub(super) fn line(self, line: &str) -> FenceLine {
        let text = line.trim_matches([' ', '\t', '\r', '\n']);
        let Some(other) = Self::read(text).filter(|other| other.mark == self.mark) else {
            return FenceLine::Content;
        };
        if other.n_marks == text.len() {
            return if other.n_marks >= self.n_marks { FenceLine::Closing } else { FenceLine::Content };
        }
        match Opener::read(text) {
            Some(opener) if opener.holds() == FenceContent::Code => FenceLine::Opening,
            Some(_) | None => FenceLine::Content,
        }
    }
}

/// Splits a line that ends with a Python fence into the prose and the fence. A code span is not a fence.
pub(super) fn glued(line: &str) -> Option<(&str, &str)> {
    let at = line.rfind("```")?;
    let at = line.get(..at)?.trim_end_matches('`').len();
    let (prose, fence) = (line.get(..at)?, line.get(at..)?);
    let mut words = fence.trim_start_matches('`').split_whitespace();
    let is_code = words.next().is_some_and(is_code_label) && words.next().is_none();
    let n_runs = prose.match_indices("```").count();
    (is_code && n_runs % 2 == 0 && !prose.trim().is_empty()).then_some((prose, fence))
}

fn is_code_label(label: &str) -> bool {
    CODE_LABELS.iter().any(|known| label.eq_ignore_ascii_case(known))
}

/// The length of `- `, `* `, `+ `, `1. ` or `1) ` at the start of a text, if a fence follows it.
fn list_marker(text: &str) -> usize {
    let bytes = text.as_bytes();
    let n_digits = bytes.iter().take(LIST_DIGITS_MAX).take_while(|byte| byte.is_ascii_digit()).count();
    let is_marker = match bytes.get(n_digits) {
        Some(b'-' | b'*' | b'+') => n_digits == 0,
        Some(b'.' | b')') => n_digits > 0,
        Some(_) | None => false,
    };
    let after = bytes.get(n_digits + 1..).unwrap_or_default();
    let n_blank = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let is_fence = matches!(after.get(n_blank), Some(b'`' | b'~'));
    if is_marker && n_blank > 0 && is_fence { n_digits + 1 + n_blank } else { 0 }
}
