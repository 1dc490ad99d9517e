//! The text of a task as an analyst reads it: every line under its number in the document, so that no line number has
//! to be mapped back, and no text of a document can pass for our own marks.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use spelunk_context::{Chunk, SourceError, Span, View, render};

use super::{Analysis, Part};

/// Texts that are in use, or were last: the parts of a long document come one after the other, and reading it for each
/// would take longer than everything else.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<(u32, Arc<str>)>,
    in_use: HashMap<u32, Weak<str>>,
}

impl Texts {
    /// The text of a document. Others wait meanwhile, and find it here if it is the same.
    fn get(&self, view: &View, part: &Part) -> Result<Arc<str>, SourceError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at_hand = match &state.last {
            Some((idx, text)) if *idx == part.document_idx => Some(Arc::clone(text)),
            Some(_) | None => state.in_use.get(&part.document_idx).and_then(Weak::upgrade),
        };
        if let Some(text) = at_hand {
            return Ok(text);
        }
        let Some(document) = view.find(&part.name) else {
            return Err(SourceError::Changed { name: part.name.to_string() });
        };
        let text = view.read(document)?;
        state.in_use.retain(|_, text| text.strong_count() > 0);
        state.in_use.insert(part.document_idx, Arc::downgrade(&text));
        state.last = Some((part.document_idx, Arc::clone(&text)));
        Ok(text)
    }
}

/// Text that is ready to be shown.
#[derive(Debug)]
pub(super) struct Material {
    sections: Vec<Section>,
    /// What of it is the parts' own.
    bytes: u64,
}

/// Lines of one document.
#[derive(Debug)]
struct Section {
    name: String,
    lines: Vec<String>,
}

/// Reads the parts of a task.
pub(super) fn read(texts: &Texts, view: &View, analysis: &Analysis) -> Result<Material, SourceError> {
    let (mut sections, mut bytes) = (Vec::new(), 0);
    for part in &analysis.parts {
        let text = texts.get(view, part)?;
        bytes += part.chunk.as_ref().map_or(text.len() as u64, |chunk| chunk.span.end - chunk.span.start);
        let lines = match &part.chunk {
            Some(chunk) => chunk_lines(chunk, &text),
            None => numbered(1, &text),
        };
        sections.push(Section { name: part.name.to_string(), lines });
    }
    Ok(Material { sections, bytes })
}

fn chunk_lines(chunk: &Chunk, text: &str) -> Vec<String> {
    if let Some(shell) = &chunk.shell {
        let start = line_at(chunk, text, &shell.body);
        let mut lines = vec![shell.open.clone()];
        lines.extend(numbered(start, part(text, &shell.body)));
        lines.push(shell.close.clone());
        return lines;
    }
    let rendered = render(chunk, text);
    let number = |(idx, line): (usize, &str)| match chunk.line_of(idx as u64 + 1) {
        Some(number) => format!("{number}| {line}"),
        None => format!("| {line}"),
    };
    rendered.lines().enumerate().map(number).collect()
}

/// The line on which a piece within a chunk begins.
fn line_at(chunk: &Chunk, text: &str, piece: &Span) -> u64 {
    let before = Span { start: chunk.span.start, end: piece.start.max(chunk.span.start) };
    chunk.lines.start() + part(text, &before).bytes().filter(|byte| *byte == b'\n').count() as u64
}

fn part<'t>(text: &'t str, span: &Span) -> &'t str {
    let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    text.get(at(span.start)..at(span.end)).unwrap_or_default()
}

fn numbered(first: u64, text: &str) -> Vec<String> {
    text.lines().enumerate().map(|(idx, line)| format!("{}| {line}", first + idx as u64)).collect()
}

impl Material {
    /// The prompt's text. The documents come first and the question last; nothing in them is taken for a place to fill.
    pub(super) fn render(&self, assignment: &str, question: &str) -> String {
        let mut text = String::new();
        for Section { name, lines } in &self.sections {
            let name = name.replace(['"', '\n', '<', '>'], "?");
            writeln!(text, "<document name=\"{name}\">").expect("writing to a String cannot fail");
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
            text.push_str("</document>\n");
        }
        write!(text, "\n{assignment}\n\nQuestion: {question}\n").expect("writing to a String cannot fail");
        text
    }

    /// How much text of the documents it is, without what is shown twice.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The same text in two, cut at a line; nothing where there is only one line.
    pub(super) fn halves(self) -> Option<(Self, Self)> {
        let n_lines: usize = self.sections.iter().map(|section| section.lines.len()).sum();
        if n_lines < 2 {
            return None;
        }
        let (mut left, mut right, mut n_left) = (Vec::new(), Vec::new(), n_lines / 2);
        for Section { name, mut lines } in self.sections {
            let rest = lines.split_off(n_left.min(lines.len()));
            n_left -= lines.len();
            if !rest.is_empty() {
                right.push(Section { name: name.clone(), lines: rest });
            }
            if !lines.is_empty() {
                left.push(Section { name, lines });
            }
        }
        let half = |sections| Self { sections, bytes: self.bytes / 2 };
        Some((half(left), half(right)))
    }
}
