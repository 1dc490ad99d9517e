//! Errors as the model sees them: its line, a caret, kind, message and hint. Rewritten code is never shown.

use std::collections::HashMap;

use monty_types::{CodeLoc, ExcType, MontyException, StackFrame, StringRepr};

use super::RefusedCell;
use super::hints::hint_for;
use super::names::RESERVED;
use super::source_map::Rewritten;
use crate::Raised;

/// Separates the class of a wrapped exception from its message inside the interpreter. See `__sp_raise`.
pub(super) const MARK: char = '\u{1}';
/// How many frames of a deep traceback are shown from its beginning and its end.
const FRAMES_SHOWN: (usize, usize) = (3, 8);
const MESSAGE_CHARS_MAX: usize = 4000;
const LINE_CHARS_MAX: usize = 200;

/// The cells of a session, as written and as rewritten.
#[derive(Debug, Default)]
pub(super) struct Sources {
    by_file: HashMap<String, Source>,
    n_cells: usize,
}

#[derive(Debug)]
struct Source {
    /// `None` for the prelude, whose frames are not shown.
    cell: Option<(usize, String)>,
    rewritten: Rewritten,
}

impl Sources {
    /// Registers a cell that runs under `file`.
    pub(super) fn add_cell(&mut self, file: String, original: &str, rewritten: Rewritten) {
        self.n_cells += 1;
        self.by_file.insert(file, Source { cell: Some((self.n_cells, original.to_owned())), rewritten });
    }

    /// Registers code that is not the model's.
    pub(super) fn add_prelude(&mut self, file: String) {
        self.by_file.insert(file, Source { cell: None, rewritten: Rewritten::default() });
    }

    pub(super) fn raised(&self, exception: &MontyException) -> Raised {
        let (kind, message) = kind_and_message(exception);
        let message = cut(message);
        let mut lines: Vec<String> = Vec::new();
        let shown: Vec<&StackFrame> =
            exception.traceback().iter().filter(|frame| self.is_shown(frame)).collect();
        let (n_first, n_last) = FRAMES_SHOWN;
        for (idx, frame) in shown.iter().enumerate() {
            if shown.len() > n_first + n_last && idx >= n_first && idx + n_last < shown.len() {
                if idx == n_first {
                    lines.push(format!("  ... [{} more calls] ...", shown.len() - n_first - n_last));
                }
                continue;
            }
            self.frame(frame, &mut lines);
        }
        if kind == "SystemExit" {
            lines.clear();
        }
        let is_syntax = kind == "SyntaxError" || kind == "IndentationError";
        if !lines.is_empty() && !is_syntax {
            lines.insert(0, "Traceback (most recent call last):".to_owned());
        }
        lines.push(if message.is_empty() { kind.clone() } else { format!("{kind}: {message}") });
        lines.extend(hint_for(&kind, &message).map(|hint| format!("hint: {hint}")));
        let is_limit = message.contains("time limit exceeded") || message.contains("memory limit exceeded");
        let is_poisoned = exception.exc_type() == ExcType::MemoryError
            || exception.exc_type() == ExcType::TimeoutError && is_limit;
        Raised { kind, message, traceback: lines.join("\n"), is_poisoned }
    }

    fn is_shown(&self, frame: &StackFrame) -> bool {
        self.by_file.get(&frame.filename).is_none_or(|source| source.cell.is_some())
            && frame.filename != "<monty-frozen>"
    }

    fn frame(&self, frame: &StackFrame, lines: &mut Vec<String>) {
        let name = frame.frame_name.as_deref().unwrap_or("<module>");
        let Some(Source { cell: Some((n_cell, original)), rewritten }) = self.by_file.get(&frame.filename)
        else {
            lines.push(format!("  File \"<string>\", line {}, in {name}", frame.start.line));
            return;
        };
        let start = rewritten.original(offset_of(&rewritten.text, frame.start));
        let end = rewritten.original(offset_of(&rewritten.text, frame.end));
        let name = if name.starts_with("__sp_") { "<module>" } else { name };
        lines.extend(located(*n_cell, original, start, end.max(start), Some(name), !frame.hide_caret));
    }

    pub(super) fn syntax_error(&mut self, original: &str, refused: RefusedCell) -> Raised {
        let RefusedCell { kind, message, start, end } = refused;
        self.n_cells += 1;
        let mut lines = located(self.n_cells, original, start, end.max(start), None, true);
        lines.push(format!("{kind}: {message}"));
        lines.extend(hint_for(kind, &message).map(|hint| format!("hint: {hint}")));
        Raised { kind: kind.to_owned(), message, traceback: lines.join("\n"), is_poisoned: false }
    }
}

/// Truncates a message: its end is rarely more informative than its beginning.
fn cut(message: String) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((at, _)) => {
            let n_chars = message.chars().count();
            format!("{} ... [{n_chars} characters]", message.get(..at).unwrap_or_default())
        }
        None => message,
    }
}

fn located(
    n_cell: usize,
    original: &str,
    start: usize,
    end: usize,
    name: Option<&str>,
    with_caret: bool,
) -> Vec<String> {
    let start = original.floor_char_boundary(start);
    let before = original.get(..start).unwrap_or_default();
    let n_line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = original.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
    let trimmed = line.trim_start();
    let indent = line.len() - trimmed.len();
    let place = name.map_or_else(String::new, |name| format!(", in {name}"));
    let mut lines = vec![format!("  File \"<cell {n_cell}>\", line {n_line}{place}")];
    if trimmed.is_empty() {
        return lines;
    }
    let shown: String = trimmed.chars().take(LINE_CHARS_MAX).collect();
    lines.push(format!("    {shown}"));
    let column_of = |at: usize| {
        let at = original.floor_char_boundary(at.max(line_start + indent).min(line_start + line.len()));
        original.get(line_start + indent..at).map_or(0, |text| text.chars().count())
    };
    let (from, to) = (column_of(start), column_of(end));
    if with_caret && from < LINE_CHARS_MAX {
        let width = to.saturating_sub(from).clamp(1, LINE_CHARS_MAX - from);
        lines.push(format!("    {}{}", " ".repeat(from), "^".repeat(width)));
    }
    lines
}

/// The byte offset of a line and a column. Columns count characters, from one.
fn offset_of(text: &str, place: CodeLoc) -> usize {
    let n_line = (place.line as usize).saturating_sub(1);
    let line_start: usize = text.split_inclusive('\n').take(n_line).map(str::len).sum();
    let rest = text.get(line_start..).unwrap_or_default();
    let column = (place.column as usize).saturating_sub(1);
    line_start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

/// Unwraps exceptions of classes that the interpreter does not support.
fn kind_and_message(exception: &MontyException) -> (String, String) {
    let message = exception.message().unwrap_or_default();
    // Our names are hidden, except in the error that refuses one.
    let message =
        if message.contains("are reserved") { message.to_owned() } else { message.replace(RESERVED, "") };
    if let Some(marked) = message.strip_prefix(MARK)
        && let Some((head, message)) = marked.split_once(MARK)
        && let Some((_, kind)) = head.split_once(':')
    {
        return (kind.to_owned(), message.to_owned());
    }
    let message =
        message.replace("The monty syntax parser does not yet support", "this sandbox does not support");
    let message = shown_message(exception.exc_type(), &message);
    let kind = exception.exc_type().to_string();
    // Python names these without their module.
    let kind = match kind.as_str() {
        "json.JSONDecodeError" => "JSONDecodeError".to_owned(),
        "re.PatternError" => "error".to_owned(),
        "_csv.Error" => "Error".to_owned(),
        other => other.rsplit('.').next().unwrap_or(other).to_owned(),
    };
    (kind, message)
}

/// `str(KeyError("a"))` is `'a'`, with the quotes of the key.
fn shown_message(kind: ExcType, message: &str) -> String {
    let is_quoted = message.parse::<f64>().is_ok() || message.starts_with(['(', '\'', '"', '<']);
    if kind == ExcType::KeyError
        && !message.is_empty()
        && !is_quoted
        && !matches!(message, "None" | "True" | "False")
    {
        return StringRepr(message).to_string();
    }
    message.to_owned()
}
