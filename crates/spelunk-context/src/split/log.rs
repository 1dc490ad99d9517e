//! Logs: a record is a line with a time or a level, and the lines that continue it. Stack traces are continuations, so
//! they stay with their record. If lines have no times, traces are recognised by indentation and words.

use super::{Splitter, to_boundaries};
use crate::lines::{is_blank, line_marks, lines};
use crate::pack::{Boundary, Mark, Strength};

/// Cuts between records.
#[derive(Debug, Clone, Copy)]
pub struct Log;

impl Splitter for Log {
    fn boundaries(&self, text: &str) -> Vec<Boundary> {
        to_boundaries(text, marks(text))
    }
}

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let mut trace = Trace { is_open: false };
    let is_timed = is_timed(text);
    line_marks(text, move |rest, bytes| {
        let line = rest.get(..bytes).unwrap_or_default();
        let continues = if is_timed { !is_log_start(line) } else { trace.continues_with(line) };
        if continues { Strength::Sentence } else { Strength::Item }
    })
}

/// Whether records begin with a time or a level, so that every other line continues one.
fn is_timed(text: &str) -> bool {
    const SAMPLE_LINES: usize = 200;
    let (mut n_lines, mut n_starts) = (0, 0);
    for (_, line) in lines(text).take(SAMPLE_LINES) {
        let is_inner = is_blank(line) || matches!(line.first(), Some(b' ' | b'\t'));
        n_lines += u64::from(!is_inner);
        n_starts += u64::from(is_log_start(line));
    }
    n_starts > 0 && n_starts * 2 >= n_lines
}

/// Whether the previous lines belong to a stack trace.
struct Trace {
    is_open: bool,
}

impl Trace {
    fn continues_with(&mut self, line: &[u8]) -> bool {
        const STARTS: [&[u8]; 6] =
            [b"Caused by", b"Traceback", b"at ", b"... ", b"Suppressed:", b"goroutine "];
        let is_indented = matches!(line.first(), Some(b' ' | b'\t'));
        if is_blank(line) || is_indented || STARTS.iter().any(|start| line.starts_with(start)) {
            self.is_open = !is_blank(line);
            return true;
        }
        // The last line of a Python trace names the error and is not indented. One such line, no more.
        let was_open = std::mem::replace(&mut self.is_open, false);
        was_open && !is_log_start(line)
    }
}

/// Whether a line begins with a time or a level, perhaps in brackets or after an address.
pub(crate) fn is_log_start(line: &[u8]) -> bool {
    const HEAD_BYTES: usize = 56;
    const LEVELS: [&[u8]; 10] = [
        b"TRACE",
        b"DEBUG",
        b"INFO",
        b"NOTICE",
        b"WARN",
        b"ERROR",
        b"FATAL",
        b"CRITICAL",
        b"SEVERE",
        b"PANIC",
    ];
    if matches!(line.first(), None | Some(b' ' | b'\t')) {
        return false;
    }
    let head = line.get(..HEAD_BYTES).unwrap_or(line);
    let bare = head.strip_prefix(b"[").or_else(|| head.strip_prefix(b"<")).unwrap_or(head);
    has_date(head) || has_clock(head) || is_epoch(bare) || LEVELS.iter().any(|level| bare.starts_with(level))
}

/// `10:59`: two digits each.
fn has_clock(head: &[u8]) -> bool {
    head.windows(5).any(|window| is_pattern(window, b"dd:dd"))
}

/// `2024-01-31` or `2024/01/31`.
fn has_date(head: &[u8]) -> bool {
    head.windows(10).any(|window| is_pattern(window, b"dddd-dd-dd") || is_pattern(window, b"dddd/dd/dd"))
}

/// Whether it begins with seconds or milliseconds since 1970.
fn is_epoch(head: &[u8]) -> bool {
    let n_digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
    matches!(n_digits, 10 | 13) && head.first().is_some_and(|&byte| byte == b'1')
}

fn is_pattern(window: &[u8], pattern: &[u8]) -> bool {
    window.iter().zip(pattern).all(|(byte, &wanted)| match wanted {
        b'd' => byte.is_ascii_digit(),
        _ => *byte == wanted,
    })
}
