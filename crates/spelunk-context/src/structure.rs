//! The structure of a document: a short list of landmarks with their lines, for deciding where to look. Depending on
//! the content type, these are headings, definitions, sections, keys, or the first and last line. Text is read once, up
//! to a limit, and never held.

mod json;

use std::fmt;
use std::ops::Range;

use crate::name::is_listed;
use crate::{ContentType, ReadError, Reader};

/// The landmarks of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmarks {
    /// The first ones, in text order.
    pub landmarks: Vec<Landmark>,
    /// How many more were found.
    pub n_left_out: u64,
    /// Whether the whole document was examined.
    pub is_whole: bool,
}

/// One landmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmark {
    /// Its line, from 1.
    pub line: u64,
    /// Its nesting depth, from 0.
    pub depth: u64,
    /// The text there, truncated to one line.
    pub text: String,
}

impl Landmarks {
    /// The maximum number of landmarks listed.
    pub const LANDMARKS_MAX: usize = 200;

    /// How much of a document is examined.
    pub const BYTES_MAX: u64 = 64 * 1024 * 1024;
}

impl fmt::Display for Landmarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, Landmark { line, depth, text }) in self.landmarks.iter().enumerate() {
            let indent = usize::try_from(*depth).unwrap_or(0) * 2;
            write!(f, "{}{line}: {:indent$}{text}", if idx > 0 { "\n" } else { "" }, "")?;
        }
        if self.n_left_out > 0 {
            write!(f, "\n[{} more]", self.n_left_out)?;
        }
        Ok(())
    }
}

const TEXT_BYTES_MAX: u64 = 120;
const LINE_BYTES_MAX: usize = 512;
const BLOCK_BYTES: u64 = 256 * 1024;

struct Mark {
    line: u64,
    depth: u64,
    bytes: Range<u64>,
}

impl Reader {
    /// The landmarks of the document, according to its content type.
    pub fn structure(&self, content_type: ContentType) -> Result<Landmarks, ReadError> {
        let mut found = Marks::default();
        match content_type {
            ContentType::Prose | ContentType::Markup => {
                let mut fence = None;
                self.each_line(|line, bytes| found.extend(line, heading(bytes, &mut fence)))?;
            }
            ContentType::SourceCode => {
                self.each_line(|line, bytes| found.extend(line, definition(bytes)))?;
            }
            ContentType::Config => self.each_line(|line, bytes| found.extend(line, section(bytes)))?,
            ContentType::Json | ContentType::Jsonl => {
                let mut keys = json::Keys::default();
                self.each_block(|at, block| keys.scan(at, block, &mut |mark| found.push(mark)))?;
            }
            ContentType::StructuredData => found.push_line(self.first_line()?, 1),
            ContentType::Log | ContentType::Unknown => self.push_ends(&mut found)?,
        }
        let mut landmarks = Vec::new();
        for Mark { line, depth, bytes } in found.marks {
            let end = bytes.end.min(bytes.start + TEXT_BYTES_MAX);
            let text = self.slice(bytes.start..end)?;
            let cut = if end < bytes.end { "…" } else { "" };
            landmarks.push(Landmark { line, depth, text: format!("{}{cut}", text.trim_ascii()) });
        }
        self.require_fresh()?;
        Ok(Landmarks {
            landmarks,
            n_left_out: found.n_left_out,
            is_whole: self.bytes() <= Landmarks::BYTES_MAX,
        })
    }

    /// The first and the last line, which show when a log begins and ends.
    fn push_ends(&self, found: &mut Marks) -> Result<(), ReadError> {
        let n_lines = self.n_lines()?;
        found.push_line(self.first_line()?, 1);
        if n_lines > 1 {
            let end = self.bytes() - u64::from(self.line_end_before(self.bytes(), 1)?.is_some());
            let start = self.line_end_before(end, end)?.map_or(0, |line_end| line_end + 1);
            found.push_line(start..end, n_lines);
        }
        Ok(())
    }

    fn first_line(&self) -> Result<Range<u64>, ReadError> {
        Ok(0..self.line_end_from(0, TEXT_BYTES_MAX * 2)?.unwrap_or(self.bytes()))
    }

    /// Calls `see` with each block of the text up to the limit, and its offset.
    fn each_block(&self, mut see: impl FnMut(u64, &[u8])) -> Result<(), ReadError> {
        let end = self.bytes().min(Landmarks::BYTES_MAX);
        let (mut at, mut block) = (0, Vec::new());
        while at < end {
            self.read(at..end.min(at + BLOCK_BYTES), &mut block)?;
            see(at, &block);
            at += block.len() as u64;
        }
        Ok(())
    }

    /// Calls `see` with each line, or its beginning if it is long.
    fn each_line(&self, mut see: impl FnMut(Mark, &[u8])) -> Result<(), ReadError> {
        let mark = |line: u64, start: u64, text: &[u8]| Mark {
            line,
            depth: 0,
            bytes: start..start + text.len() as u64,
        };
        let (mut line, mut start, mut head) = (1, 0, Vec::new());
        self.each_block(|at, block| {
            let mut part_end = at;
            for part in block.split_inclusive(|&byte| byte == b'\n') {
                part_end += part.len() as u64;
                let n_free = LINE_BYTES_MAX - head.len();
                head.extend_from_slice(&part[..part.len().min(n_free)]);
                if part.ends_with(b"\n") {
                    see(mark(line, start, head.trim_ascii_end()), head.trim_ascii_end());
                    head.clear();
                    line += 1;
                    start = part_end;
                }
            }
        })?;
        if !head.is_empty() {
            see(mark(line, start, head.trim_ascii_end()), head.trim_ascii_end());
        }
        Ok(())
    }
}

#[derive(Default)]
struct Marks {
    marks: Vec<Mark>,
    n_left_out: u64,
}

impl Marks {
    fn push(&mut self, mark: Mark) {
        if self.marks.len() < Landmarks::LANDMARKS_MAX {
            self.marks.push(mark);
        } else {
            self.n_left_out += 1;
        }
    }

    fn push_line(&mut self, bytes: Range<u64>, line: u64) {
        if !bytes.is_empty() {
            self.push(Mark { line, depth: 0, bytes });
        }
    }

    fn extend(&mut self, line: Mark, depth: Option<u64>) {
        if let Some(depth) = depth {
            self.push(Mark { depth, ..line });
        }
    }
}

/// The depth of a Markdown heading. Lines inside code fences have none.
fn heading(line: &[u8], fence: &mut Option<u8>) -> Option<u64> {
    let text = line.trim_ascii_start();
    if let Some(mark) = [b'`', b'~'].into_iter().find(|&mark| text.starts_with(&[mark; 3])) {
        match *fence {
            None => *fence = Some(mark),
            Some(open) if open == mark => *fence = None,
            Some(_) => {}
        }
        return None;
    }
    let n_marks = line.iter().take_while(|&&byte| byte == b'#').count();
    let is_heading = fence.is_none() && (1..=6).contains(&n_marks) && line.get(n_marks) == Some(&b' ');
    is_heading.then(|| n_marks as u64 - 1)
}

/// Words that may precede the keyword of a definition.
const MODIFIERS: &str = "pub async unsafe const extern export default public private protected internal static abstract \
    final sealed open data inline virtual override partial declare readonly";

/// Keywords that begin a definition in some language.
const DEFINERS: &str = "fn struct enum trait impl mod type union macro_rules! class def function interface func module \
    namespace protocol object record sub package extension fun typedef defmodule contract";

fn definition(line: &[u8]) -> Option<u64> {
    let line =
        str::from_utf8(line).ok().filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let mut words =
        line.split([' ', '\t', '<', '{']).map(|word| word.split_once('(').map_or(word, |(word, _)| word));
    let word =
        words.find(|word| !is_listed(MODIFIERS, word) && !word.starts_with('"') && !word.is_empty())?;
    let has_name = line.len() > word.len();
    (has_name && is_listed(DEFINERS, word)).then_some(0)
}

/// A section of settings: `[name]`, or an unindented `name:` with its values below.
fn section(line: &[u8]) -> Option<u64> {
    let is_table = line.starts_with(b"[") && line.ends_with(b"]");
    let is_key = line.first().is_some_and(u8::is_ascii_alphabetic) && line.ends_with(b":");
    (is_table || is_key).then_some(0)
}

#[cfg(test)]
mod tests;
