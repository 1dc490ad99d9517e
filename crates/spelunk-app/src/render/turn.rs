//! A turn of the recursive loop for people: the code that the model wrote and its output.

use spelunk_journal::Blobs;
use spelunk_types::{CellOutcome, Event, EventKind, FrameId};

use crate::units::{safe, time};

const CODE_LINES_MAX: usize = 60;
const OUTPUT_LINES_MAX: usize = 40;
const LINE_CHARS_MAX: usize = 400;

/// The turn that an event ends; `None` if it ends none. Texts that cannot be read any more are left out.
///
/// ```text
/// turn 2 (12 ms)
///   > print(grep("ERROR"))
///     gateway.log:3
/// ```
pub fn turn_text(event: &Event, blobs: &Blobs) -> Option<String> {
    let EventKind::CellRan { cell, code, outcome, output, took_ms, .. } = &event.kind else { return None };
    let who = if event.frame == FrameId::root() { String::new() } else { format!("child {}, ", event.frame) };
    let mut text = format!("{who}turn {} ({})\n", cell + 1, time(*took_ms));
    text += &cut(&blobs.text(code).unwrap_or_default(), "  > ", CODE_LINES_MAX);
    text += &cut(&blobs.text(output).unwrap_or_default(), "    ", OUTPUT_LINES_MAX);
    match outcome {
        CellOutcome::Raised { traceback, .. } => {
            let last = traceback.trim_end().lines().next_back().unwrap_or_default();
            text += &cut(last, "    ", 1);
        }
        CellOutcome::Limited { message, .. } => text += &cut(message, "    ", 1),
        CellOutcome::Printed | CellOutcome::Answered => {}
    }
    Some(text.trim_end().to_owned())
}

fn cut(text: &str, indent: &str, lines_max: usize) -> String {
    let text = safe(text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let shown = lines.iter().take(lines_max).map(|line| {
        let line: String = line.chars().take(LINE_CHARS_MAX).collect();
        format!("{indent}{}\n", line.trim_end())
    });
    let mut shown: String = shown.collect();
    if lines.len() > lines_max {
        shown += &format!("{indent}[{} more lines]\n", lines.len() - lines_max);
    }
    shown
}
