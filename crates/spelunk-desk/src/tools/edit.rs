//! Write: replaces a file or appends to it. Edit: replaces a text that must occur exactly once; a near miss is shown, to
//! help the next attempt.

use serde_json::Value;
use spelunk_types::shorten;

use super::{arguments, refused, wire};
use crate::{Desk, DeskError, DeskPath, Zone, show};

const SHOWN_CHARS_MAX: usize = 80;
const NEAR_LINES_MAX: usize = 6;
const PLACES_MAX: usize = 10;

pub(super) fn write(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Write { path, content, append } = arguments("Write", value)?;
    let path = DeskPath::parse(&path)?;
    let (bytes, n_lines) = (content.len() as u64, content.lines().count() as u64);
    let done = if append {
        desk.append(&path, content.as_bytes())?;
        "added"
    } else {
        desk.write(&path, content)?;
        "wrote"
    };
    let (bytes, lines) = (show::counted(bytes, "byte", "bytes"), show::counted(n_lines, "line", "lines"));
    Ok(format!("{done} {bytes} ({lines}) to `{path}`"))
}

pub(super) fn edit(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Edit { path, old, new, all } = arguments("Edit", value)?;
    let path = DeskPath::parse(&path)?;
    if old.is_empty() {
        return Err(refused("Edit", "`old` is empty; use Write to create a file"));
    }
    if old == new {
        return Err(refused("Edit", "`old` and `new` are the same"));
    }
    desk.require(&path)?;
    Zone::require_write(&path)?;
    let text = desk.text(&path)?;
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    let n_found = places.len() as u64;
    match places.as_slice() {
        [] => {
            let (near, old) = (near_miss(&text, &old), show::on_one_line(&old, SHOWN_CHARS_MAX));
            return Err(DeskError::EditMiss { path, old, near });
        }
        [_, _, ..] if !all => {
            let lines: Vec<String> =
                places.iter().take(PLACES_MAX).map(|&at| line_of(&text, at).to_string()).collect();
            let more = if places.len() > PLACES_MAX { ", …" } else { "" };
            let (old, lines) = (show::on_one_line(&old, SHOWN_CHARS_MAX), lines.join(", ") + more);
            return Err(DeskError::EditAmbiguous { path, old, n_found, lines });
        }
        _ => {}
    }
    let grown = n_found.saturating_mul(new.len() as u64).saturating_add(text.len() as u64);
    let bytes_max = desk.limits().file_bytes_max;
    // Replacing a short text in many places could exhaust memory.
    if new.len() > old.len() && grown > bytes_max.saturating_mul(2) {
        return Err(DeskError::FileTooLarge { path, bytes: grown, bytes_max });
    }
    let first_line = places.first().map_or(1, |&at| line_of(&text, at));
    let edited = text.replace(&old, &new);
    desk.write(&path, edited)?;
    let places = show::counted(n_found, "place", "places");
    Ok(format!("edited `{path}` in {places}, line {first_line}"))
}

fn line_of(text: &str, at: usize) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes().get(..at).unwrap_or_default()).count() as u64 + 1
}

/// The end of an error message: the place that matches except for whitespace or case, or advice if there is none.
fn near_miss(text: &str, old: &str) -> String {
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(first) = old.lines().map(squeezed).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let n_lines = old.lines().count().clamp(1, NEAR_LINES_MAX);
    let is_alike = |line: &str| {
        let line = squeezed(line);
        line == first || (!line.is_empty() && line.to_lowercase().contains(&first.to_lowercase()))
    };
    let Some(at) = text.lines().position(is_alike) else {
        return "; Read the file and copy the text exactly".to_owned();
    };
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .skip(at)
        .take(n_lines)
        .map(|(idx, line)| format!("{:>6}\t{}", idx + 1, shorten(line, 200)))
        .collect();
    format!("; this is similar, with different spaces, letters or lines:\n{}", lines.join("\n"))
}
