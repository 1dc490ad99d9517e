//! A parser for the small subset of Markdown that models use in answers. Anything else is text.
//! Parsing takes linear time for any input.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    Heading { level: usize, text: String },
    Paragraph(String),
    Item { depth: usize, marker: Option<String>, text: String },
    Quote(String),
    Code(Vec<String>),
    Table(Vec<Vec<String>>),
    Rule,
}

/// A run of text with one style within a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) is_bold: bool,
    pub(crate) is_code: bool,
}

const DEPTH_MAX: usize = 4;
/// Table columns are padded up to this width.
const COLUMN_CHARS_MAX: usize = 40;
const MARKER_DIGITS_MAX: usize = 9;

pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence: Option<(&str, Vec<String>)> = None;
    let mut is_new = true;
    for line in text.lines() {
        if let Some((mark, mut code)) = fence.take() {
            if line.trim() == mark {
                blocks.push(Block::Code(code));
            } else {
                code.push(line.to_owned());
                fence = Some((mark, code));
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark)) {
            fence = Some((mark, Vec::new()));
            is_new = true;
            continue;
        }
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        match begins(line) {
            Some(Block::Table(row)) => match blocks.last_mut() {
                Some(Block::Table(rows)) if !is_new => rows.extend(row),
                _ => blocks.push(Block::Table(row)),
            },
            Some(block) => blocks.push(block),
            None => go_on(&mut blocks, line.trim(), is_new),
        }
        is_new = false;
    }
    blocks.extend(fence.map(|(_, code)| Block::Code(code)));
    blocks
}

fn begins(line: &str) -> Option<Block> {
    let trimmed = line.trim();
    let level = trimmed.bytes().take_while(|b| *b == b'#').count();
    if let Some(text) = (1..=6).contains(&level).then(|| trimmed.get(level..)?.strip_prefix(' ')).flatten() {
        return Some(Block::Heading { level, text: text.trim().to_owned() });
    }
    if trimmed.len() >= 3 && ["-", "*", "_"].iter().any(|mark| trimmed.replace(mark, "").is_empty()) {
        return Some(Block::Rule);
    }
    if let Some(text) = trimmed.strip_prefix("> ") {
        return Some(Block::Quote(text.to_owned()));
    }
    if let Some(inner) = trimmed.strip_prefix('|').and_then(|line| line.strip_suffix('|')) {
        let cells: Vec<String> = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
        let is_divider =
            cells.iter().all(|cell| !cell.is_empty() && cell.bytes().all(|b| b":-".contains(&b)));
        return Some(Block::Table(if is_divider { Vec::new() } else { vec![cells] }));
    }
    let depth = (line.len() - line.trim_start().len()).div_ceil(2).min(DEPTH_MAX);
    if let Some(text) = ["- ", "* ", "+ "].iter().find_map(|mark| trimmed.strip_prefix(mark)) {
        return Some(Block::Item { depth, marker: None, text: text.trim().to_owned() });
    }
    let n_digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = trimmed.split_at_checked(n_digits)?;
    let text = rest.strip_prefix(". ").filter(|_| (1..=MARKER_DIGITS_MAX).contains(&n_digits))?;
    Some(Block::Item { depth, marker: Some(format!("{digits}.")), text: text.trim().to_owned() })
}

fn go_on(blocks: &mut Vec<Block>, line: &str, is_new: bool) {
    match blocks.last_mut().filter(|_| !is_new) {
        Some(Block::Paragraph(text) | Block::Item { text, .. } | Block::Quote(text)) => {
            text.push(' ');
            text.push_str(line);
        }
        Some(Block::Heading { .. } | Block::Code(_) | Block::Table(_) | Block::Rule) | None => {
            blocks.push(Block::Paragraph(line.to_owned()));
        }
    }
}

/// Parses the inline styles of a line. An unpaired marker is text.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let pieces: Vec<&str> = text.split('`').collect();
    let n_pieces = pieces.len();
    // If the number of markers is odd, the last one is unpaired.
    let has_loose_tick = n_pieces.is_multiple_of(2);
    let is_code = |idx: usize| idx % 2 == 1 && !(has_loose_tick && idx + 1 == n_pieces);
    let n_bold: usize =
        (0..n_pieces).filter(|idx| !is_code(*idx)).map(|idx| pieces[idx].matches("**").count()).sum();
    let (mut spans, mut n_seen, mut is_bold) = (Vec::new(), 0, false);
    for (idx, piece) in pieces.iter().enumerate() {
        if is_code(idx) {
            push(&mut spans, piece, is_bold, true);
            continue;
        }
        if has_loose_tick && idx + 1 == n_pieces {
            push(&mut spans, "`", is_bold, false);
        }
        for (part_idx, part) in piece.split("**").enumerate() {
            if part_idx > 0 {
                n_seen += 1;
                if n_seen == n_bold && n_bold % 2 == 1 {
                    push(&mut spans, "**", is_bold, false);
                } else {
                    is_bold = !is_bold;
                }
            }
            push(&mut spans, part, is_bold, false);
        }
    }
    spans
}

fn push(spans: &mut Vec<Span>, text: &str, is_bold: bool, is_code: bool) {
    if text.is_empty() {
        return;
    }
    match spans.last_mut() {
        Some(last) if (last.is_bold, last.is_code) == (is_bold, is_code) && !is_code => {
            last.text.push_str(text);
        }
        _ => spans.push(Span { text: text.to_owned(), is_bold, is_code }),
    }
}

/// The text for a terminal with bold and colour. It must not contain control characters.
pub(crate) fn for_terminal(text: &str) -> String {
    let mut shown = String::new();
    let mut before: Option<Block> = None;
    for block in blocks(text) {
        let is_list = matches!((&before, &block), (Some(Block::Item { .. }), Block::Item { .. }));
        if before.is_some() && !is_list {
            shown.push('\n');
        }
        shown += &match &block {
            Block::Heading { text, .. } => format!("\u{1b}[1;4m{}\u{1b}[0m\n", text.replace("**", "")),
            Block::Paragraph(text) => format!("{}\n", painted(text)),
            Block::Item { depth, marker, text } => {
                let (indent, marker) = ("  ".repeat(*depth), marker.as_deref().unwrap_or("•"));
                format!("{indent}{marker} {}\n", painted(text))
            }
            Block::Quote(text) => format!("\u{1b}[2m│\u{1b}[0m {}\n", painted(text)),
            Block::Code(lines) => lines
                .iter()
                .map(|line| format!("    \u{1b}[36m{line}\u{1b}[0m\n"))
                .collect::<Vec<_>>()
                .concat(),
            Block::Table(rows) => columns(rows),
            Block::Rule => "────────\n".to_owned(),
        };
        before = Some(block);
    }
    shown
}

/// The rows of a table, each column as wide as its widest cell, up to a maximum.
fn columns(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or_default().min(COLUMN_CHARS_MAX)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let cell = |(cell, width): (&String, &usize)| {
        painted(cell) + &" ".repeat(width.saturating_sub(cell.chars().count()) + 2)
    };
    let line = |row: &Vec<String>| row.iter().zip(&widths).map(cell).collect::<String>();
    rows.iter().map(|row| format!("{}\n", line(row).trim_end())).collect::<Vec<_>>().concat()
}

fn painted(text: &str) -> String {
    let paint = |span: Span| match (span.is_code, span.is_bold) {
        (true, _) => format!("\u{1b}[36m{}\u{1b}[0m", span.text),
        (false, true) => format!("\u{1b}[1m{}\u{1b}[0m", span.text),
        (false, false) => span.text,
    };
    spans(text).into_iter().map(paint).collect()
}

#[cfg(test)]
mod tests;
