//! JSON: an array is cut between elements, an object between keys, and each chunk is rendered as a valid value: the
//! elements inside their original brackets. A value too large for a chunk is cut inside, element by element; a long
//! string between its characters. Nothing is parsed: `scan` finds where values end.

use std::ops::Range;

use super::assemble::Draft;
use super::{Shell, slice};
use crate::pack::{Boundary, Strength, hard_cut};

mod scan;

use scan::{Child, Children};

/// The maximum depth of a chunk. Below this, a value that is too large is cut like text.
const DEPTH_MAX: usize = 16;

/// The minimum room for a chunk of JSON; with less, it is cut like text.
pub(super) const BYTES_MIN: usize = 64;

pub(super) fn boundaries(text: &str) -> Vec<Boundary> {
    let mut boundaries = Vec::new();
    let Some(mut children) = Children::of_root(text.as_bytes()) else { return boundaries };
    while let Ok(Some(child)) = children.next() {
        if child.next < text.len() && !children.is_done() {
            boundaries.push(Boundary { at: child.next as u64, strength: Strength::Item });
        }
    }
    boundaries
}

pub(super) struct Cutting {
    pub(super) pieces: Vec<Draft>,
    pub(super) elements: u64,
}

/// The number of elements or keys of the outermost value; `None` for a text that is not a container.
pub(super) fn count_elements(text: &str) -> Option<u64> {
    let mut children = Children::of_root(text.as_bytes())?;
    let mut elements = 0;
    while children.next().ok()?.is_some() {
        elements += 1;
    }
    children.is_only(text.as_bytes()).then_some(elements)
}

/// Pieces with limited elements and bytes. `None` for a text that is broken or not an array or object.
pub(super) fn cut(text: &str, elements_max: u64, bytes_max: usize) -> Option<Cutting> {
    let root = Children::of_root(text.as_bytes())?;
    if bytes_max < BYTES_MIN {
        return None;
    }
    let mut cutter = Cutter { text, elements_max: elements_max.max(1), bytes_max, pieces: Vec::new() };
    let mut levels = vec![Level::new(root, "", "", "$".to_owned())];
    let mut elements = 0;
    // Each iteration consumes one value of the text, at one of at most `DEPTH_MAX` levels.
    while let Some(level) = levels.last_mut() {
        match level.children.next().ok()? {
            None => {
                let level = levels.pop()?;
                cutter.flush(&level);
                if levels.is_empty() && !level.children.is_only(text.as_bytes()) {
                    return None;
                }
            }
            Some(child) => {
                elements += u64::from(levels.len() == 1);
                let is_deep = levels.len() >= DEPTH_MAX;
                let level = levels.last_mut()?;
                let inner = cutter.take(level, &child, is_deep);
                levels.extend(inner);
            }
        }
    }
    let mut pieces = cutter.pieces;
    if pieces.is_empty() && text.len() <= bytes_max {
        pieces.push(draft(0, None, 0, "$".to_owned()));
    }
    pieces.last_mut()?.end = text.len();
    Some(Cutting { pieces: cut_raw(text, pieces, bytes_max), elements })
}

/// A piece that ends here. Without a shell, it is not a valid value by itself; its scope is a JSON path.
fn draft(end: usize, shell: Option<Shell>, elements: u64, scope: String) -> Draft {
    Draft { end, units: elements, shell, scope: Some(scope), ..Draft::default() }
}

/// A piece that is not a valid value is shown unchanged and cut like text.
fn cut_raw(text: &str, pieces: Vec<Draft>, bytes_max: usize) -> Vec<Draft> {
    let mut cut = Vec::with_capacity(pieces.len());
    let mut start = 0;
    for piece in pieces {
        while piece.shell.is_none() && piece.end - start > bytes_max {
            let end = hard_cut(text, start..piece.end, bytes_max);
            cut.push(Draft { end, scope: piece.scope.clone(), ..Draft::default() });
            start = end;
        }
        start = piece.end;
        cut.push(piece);
    }
    cut
}

struct Level<'t> {
    children: Children<'t>,
    /// What is rendered before and after its children, including its own brackets.
    open: String,
    close: String,
    path: String,
    idx: u64,
    group: Option<Group>,
}

struct Group {
    body: Range<usize>,
    next: usize,
    first_idx: u64,
    first_key: Option<Range<usize>>,
    elements: u64,
}

impl<'t> Level<'t> {
    fn new(children: Children<'t>, outer_open: &str, outer_close: &str, path: String) -> Self {
        let (open, close) = if children.is_object { ('{', '}') } else { ('[', ']') };
        Self {
            children,
            open: format!("{outer_open}{open}"),
            close: format!("{close}{outer_close}"),
            path,
            idx: 0,
            group: None,
        }
    }
}

struct Cutter<'t> {
    text: &'t str,
    elements_max: u64,
    bytes_max: usize,
    pieces: Vec<Draft>,
}

impl<'t> Cutter<'t> {
    /// Adds a child to the group of its level. Returns a container that is too large as the next level.
    fn take(&mut self, level: &mut Level<'t>, child: &Child, is_deep: bool) -> Option<Level<'t>> {
        let room = self.bytes_max.saturating_sub(level.open.len() + level.close.len());
        let start = child.start();
        let idx = level.idx;
        level.idx += 1;
        if child.value.end - start > room {
            self.flush(level);
            level.group = None;
            return self.take_large(level, child, idx, is_deep);
        }
        let fits = level.group.as_ref().is_some_and(|group| {
            group.elements < self.elements_max && child.value.end - group.body.start <= room
        });
        if !fits {
            self.flush(level);
            level.group = Some(Group {
                body: start..start,
                next: start,
                first_idx: idx,
                first_key: child.key.clone(),
                elements: 0,
            });
        }
        if let Some(group) = &mut level.group {
            group.body.end = child.value.end;
            group.next = child.next;
            group.elements += 1;
        }
        None
    }

    fn take_large(&mut self, level: &Level<'t>, child: &Child, idx: u64, is_deep: bool) -> Option<Level<'t>> {
        let key = child.key.clone().map(|key| slice(self.text, key));
        let path = match key {
            Some(key) => format!("{}[{}]", level.path, crate::name::shortened(key, 60)),
            None => format!("{}[{idx}]", level.path),
        };
        let mut open = level.open.clone();
        if let Some(key) = key {
            open.push_str(key);
            open.push(':');
        }
        let has_room = (open.len() + level.close.len()) * 4 <= self.bytes_max;
        let first = self.text.as_bytes().get(child.value.start).copied();
        match Children::at(self.text.as_bytes(), child.value.start) {
            Some(children) if has_room && !is_deep => {
                return Some(Level::new(children, &open, &level.close, path));
            }
            _ if has_room && first == Some(b'"') => self.take_string(child, &open, &level.close, &path),
            // It cannot be made a valid value again.
            _ => self.pieces.push(draft(child.next, None, 1, path)),
        }
        None
    }

    fn take_string(&mut self, child: &Child, open: &str, close: &str, path: &str) {
        let room = self.bytes_max.saturating_sub(open.len() + close.len() + 2).max(1);
        let end = child.value.end - 1;
        let mut start = child.value.start + 1;
        while start < end {
            let at = string_cut(self.text, start..end, room);
            let is_last = at == end;
            let shell = Shell {
                open: format!("{open}\""),
                body: start as u64..at as u64,
                close: format!("\"{close}"),
            };
            let end = if is_last { child.next } else { at };
            self.pieces.push(draft(end, Some(shell), u64::from(is_last), path.to_owned()));
            start = at;
        }
    }

    fn flush(&mut self, level: &Level<'_>) {
        let Some(group) = &level.group else { return };
        let scope = match &group.first_key {
            Some(key) => {
                let key = crate::name::shortened(slice(self.text, key.clone()), 60);
                match group.elements - 1 {
                    0 => format!("{}[{key}]", level.path),
                    more => format!("{}[{key}] and {more} more", level.path),
                }
            }
            None => format!("{}[{}:{}]", level.path, group.first_idx, group.first_idx + group.elements),
        };
        let shell = Shell {
            open: level.open.clone(),
            body: group.body.start as u64..group.body.end as u64,
            close: level.close.clone(),
        };
        self.pieces.push(draft(group.next, Some(shell), group.elements, scope));
    }
}

/// A cut inside a string, neither in the middle of an escape nor between the halves of a surrogate pair.
fn string_cut(text: &str, range: Range<usize>, bytes_max: usize) -> usize {
    const ESCAPE_BYTES: usize = 6;
    let bytes = text.as_bytes();
    let at = hard_cut(text, range.clone(), bytes_max.max(2 * ESCAPE_BYTES));
    if at == range.end {
        return at;
    }
    // The last escape near the cut. A backslash begins one if an even number of them precede it.
    let reach = at.saturating_sub(2 * ESCAPE_BYTES).max(range.start);
    let mut cut = at;
    let before = bytes.get(range.start..reach).unwrap_or_default().iter().rev();
    let mut position = reach - before.take_while(|&&byte| byte == b'\\').count() % 2;
    while position < at {
        let length = match (bytes.get(position), bytes.get(position + 1)) {
            (Some(b'\\'), Some(b'u')) if is_high_half(bytes, position) => 2 * ESCAPE_BYTES,
            (Some(b'\\'), Some(b'u')) => ESCAPE_BYTES,
            (Some(b'\\'), _) => 2,
            _ => 1,
        };
        if position + length > at {
            cut = position;
        }
        position += length;
    }
    if cut > range.start { text.floor_char_boundary(cut) } else { at }
}

/// Whether there is a `\uD83D` here, which needs the escape after it.
fn is_high_half(bytes: &[u8], at: usize) -> bool {
    let digits = bytes.get(at + 2..at + 4);
    digits.is_some_and(|digits| matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']))
}
