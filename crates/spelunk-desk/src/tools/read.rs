//! Read: lines of a file with their numbers, or a range of bytes. Says which arguments show the rest.

use serde_json::Value;
use spelunk_types::shorten;

use super::{arguments, refused, wire};
use crate::{Desk, DeskError, DeskPath, show};

const LINES_DEFAULT: u64 = 400;
const LINES_MAX: u64 = 5000;
const BYTES_DEFAULT: u64 = 8000;
const LINE_CHARS_MAX: usize = 2000;

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Read { path, offset, limit, byte_offset, byte_limit } = arguments("Read", value)?;
    let path = DeskPath::parse(&path)?;
    let by_bytes = byte_offset.is_some() || byte_limit.is_some();
    if by_bytes && (offset.is_some() || limit.is_some()) {
        return Err(refused(
            "Read",
            "give either lines (`offset`, `limit`) or bytes (`byte_offset`, `byte_limit`)",
        ));
    }
    if by_bytes {
        return read_bytes(desk, &path, byte_offset.unwrap_or(0), byte_limit.unwrap_or(BYTES_DEFAULT));
    }
    let n_max = limit.unwrap_or(LINES_DEFAULT).clamp(1, LINES_MAX);
    read_lines(desk, &path, offset.unwrap_or(1).max(1), n_max)
}

fn read_lines(desk: &Desk, path: &DeskPath, first: u64, n_max: u64) -> Result<String, DeskError> {
    let read = desk.lines(path, first, n_max)?;
    let n_lines = read.n_lines;
    if n_lines == 0 {
        return Ok(format!("[`{path}` is empty]"));
    }
    if first > n_lines {
        return Err(DeskError::LineOutOfRange { path: path.clone(), line: first, n_lines });
    }
    let bytes_max = usize::try_from(desk.limits().output_bytes_max).unwrap_or(usize::MAX);
    let (mut text, mut last, mut n_cut) = (String::new(), first - 1, 0_u64);
    for line in &read.lines {
        let shown = shorten(line, LINE_CHARS_MAX);
        // The first line is always shown, so that repeated calls make progress.
        if !text.is_empty() && text.len() + shown.len() > bytes_max {
            break;
        }
        last += 1;
        n_cut += u64::from(shown.len() != line.len());
        text.push_str(&format!("{last:>6}\t{shown}\n"));
    }
    if first > 1 || last < n_lines {
        text.push_str(&format!("[lines {first}-{last} of {n_lines}"));
        if last < n_lines {
            text.push_str(&format!("; continue with offset={}", last + 1));
        }
        text.push_str("]\n");
    }
    if n_cut > 0 {
        let lines = show::counted(n_cut, "line is", "lines are");
        text.push_str(&format!("[{lines} cut at {LINE_CHARS_MAX} characters; read more with byte_offset]\n"));
    }
    Ok(text)
}

fn read_bytes(desk: &Desk, path: &DeskPath, start: u64, n_max: u64) -> Result<String, DeskError> {
    let n_max = n_max.clamp(4, desk.limits().output_bytes_max);
    let end = start.saturating_add(n_max);
    let text = desk.slice(path, start..end)?;
    if text.is_empty() {
        return Ok(format!("[`{path}` has no bytes from {start} on]"));
    }
    // A character that crosses the end is shown by the next call, which begins with it.
    let shown = text.len() as u64;
    let end = if shown < n_max && shown + 4 > n_max { start.saturating_add(shown) } else { end };
    let is_last = desk.slice(path, end..end.saturating_add(8))?.is_empty();
    let next = if is_last { String::new() } else { format!("; continue with byte_offset={end}") };
    let end = if is_last { start.saturating_add(shown) } else { end };
    Ok(format!("{text}\n[bytes {start}-{end} of `{path}`{next}]\n"))
}
