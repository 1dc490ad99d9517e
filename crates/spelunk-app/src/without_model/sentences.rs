//! The sentences of a passage.

use std::ops::Range;

/// A shorter line is not continued by the next one.
const FLOWING_BYTES_MIN: usize = 40;

/// A line of a text that is not blank, with its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) at: Range<usize>,
    kind: LineKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    /// A heading, or the underline of one.
    Heading,
    /// A rule or a fence, which has no content.
    Frame,
    /// Only a link, as in a table of contents, or the target of one.
    Link,
    /// A line between fences, or indented like code.
    Code,
    /// A complete line: an item, a row.
    Own,
    /// A line that may continue the one before.
    Flowing,
}

impl Line {
    pub(super) fn is_heading(&self) -> bool {
        self.kind == LineKind::Heading
    }

    pub(super) fn is_code(&self) -> bool {
        self.kind == LineKind::Code
    }
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    let (mut at, mut is_code) = (0, false);
    let mut lines: Vec<Line> = Vec::new();
    for piece in text.split_inclusive('\n') {
        let from = at;
        at += piece.len();
        let is_fence = piece.trim_start().starts_with("```");
        is_code ^= is_fence;
        let mut kind = if is_code && !is_fence { LineKind::Code } else { kind(piece) };
        if is_underline(piece.trim_end())
            && let Some(above) = lines.last_mut().filter(|above| above.kind == LineKind::Flowing)
        {
            above.kind = LineKind::Heading;
            kind = LineKind::Heading;
        }
        lines.push(Line { at: from..at, kind });
    }
    lines
}

/// Whether a line underlines a heading, as in reStructuredText.
fn is_underline(line: &str) -> bool {
    let first = line.chars().next().filter(|first| "=-~^\"'*+#".contains(*first));
    line.len() >= 4 && first.is_some_and(|first| line.chars().all(|c| c == first))
}

fn kind(line: &str) -> LineKind {
    let said = line.trim();
    if said.is_empty() {
        return LineKind::Blank;
    }
    let is_underline = said.chars().all(|c| "=-~^*+_#`.:|".contains(c)) || said.starts_with("```");
    if said.starts_with('#') && said.trim_start_matches('#').starts_with(' ') {
        return LineKind::Heading;
    }
    if is_underline {
        return LineKind::Frame;
    }
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| said.strip_prefix(mark));
    let numbered =
        said.split_once(". ").filter(|(n, _)| n.len() < 4 && n.bytes().all(|b| b.is_ascii_digit()));
    let text = item.or(numbered.map(|(_, text)| text)).unwrap_or(said);
    let is_link = text.starts_with('[') && text.ends_with(')') && text.contains("](") && !text.contains(") ");
    if is_link || said.starts_with(".. _") || said.contains(". . .") || said.contains(".....") {
        return LineKind::Link;
    }
    let is_own = item.is_some() || numbered.is_some() || said.starts_with('|');
    if is_own {
        LineKind::Own
    } else if line.starts_with("    ") {
        LineKind::Code
    } else {
        LineKind::Flowing
    }
}

/// The sentences of a text. If it is not prose, each line is one.
pub(super) fn sentences(text: &str, lines: &[Line], is_prose: bool) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        match line.kind {
            LineKind::Blank | LineKind::Heading | LineKind::Frame | LineKind::Link => {}
            LineKind::Flowing if goes_on && is_prose => {
                if let Some(last) = blocks.last_mut() {
                    last.end = line.at.end;
                }
            }
            LineKind::Code | LineKind::Own | LineKind::Flowing => blocks.push(line.at.clone()),
        }
        // A short line ends a sentence.
        let is_text = matches!(line.kind, LineKind::Code | LineKind::Own | LineKind::Flowing);
        goes_on = is_text && line.at.len() >= FLOWING_BYTES_MIN;
    }
    blocks.into_iter().flat_map(|block| split(text, block, is_prose)).collect()
}

/// Splits a block after each full stop, question mark or exclamation mark followed by a space and a capital.
fn split(text: &str, block: Range<usize>, is_prose: bool) -> Vec<Range<usize>> {
    let said = text.get(block.clone()).unwrap_or_default();
    let mut parts = Vec::new();
    let mut from = 0;
    let ends = said.char_indices().filter(|(_, c)| is_prose && matches!(c, '.' | '?' | '!'));
    for (at, _) in ends {
        let after = said.get(at + 1..).unwrap_or_default();
        let next = after.trim_start();
        let begins = next.chars().next().is_some_and(|c| c.is_uppercase() || "`\"*[(".contains(c));
        if begins && next.len() < after.len() {
            parts.push(from..at + 1);
            from = at + 1 + (after.len() - next.len());
        }
    }
    parts.push(from..said.trim_end().len().max(from));
    let trimmed = |part: Range<usize>| {
        let lead = said.get(part.clone()).map_or(0, |text| text.len() - text.trim_start().len());
        block.start + part.start + lead..block.start + part.end
    };
    parts.into_iter().map(trimmed).filter(|part| part.start < part.end).collect()
}
