//! Logs: a record is a line with a time or a level, and the lines that continue it. Stack traces are continuations, so
//! they stay with their record. If lines have no times, traces are recognised by indentation and words.

use crate::kind::is_log_start;
use crate::lines::{is_blank, line_marks, lines};
use crate::pack::{Mark, Strength};

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let mut is_in_trace = false;
    let is_timed = is_timed(text);
    line_marks(text, move |rest, bytes| {
        let line = rest.get(..bytes).unwrap_or_default();
        let continues = if is_timed { !is_log_start(line) } else { continues_trace(&mut is_in_trace, line) };
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

/// Whether a line continues a record; `is_in_trace` says whether the lines before belong to a stack trace.
fn continues_trace(is_in_trace: &mut bool, line: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [b"Caused by", b"Traceback", b"at ", b"... ", b"Suppressed:", b"goroutine "];
    let is_indented = matches!(line.first(), Some(b' ' | b'\t'));
    if is_blank(line) || is_indented || STARTS.iter().any(|start| line.starts_with(start)) {
        *is_in_trace = !is_blank(line);
        return true;
    }
    // The last line of a Python trace names the error and is not indented. One such line, no more.
    std::mem::take(is_in_trace) && !is_log_start(line)
}
