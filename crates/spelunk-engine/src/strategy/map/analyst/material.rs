//! The text of a task as the analyst sees it. Every line carries its number in the document, so
//! that line numbers need no mapping back and document text cannot be mistaken for our own markup.

use std::fmt::Write as _;

use spelunk_context::{Chunk, Shown, SourceError, Span, View, render};

use crate::frame::Texts;
use crate::task::Analysis;

/// Space for the markup around documents.
const ROOM_BYTES: usize = 256;

#[derive(Debug)]
pub(super) struct Material {
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    name: String,
    /// Each line with its number in front and a newline at the end.
    lines: String,
    /// The number of each line; 0 if it is not a line of the document.
    numbers: Vec<u64>,
}

pub(super) fn read(texts: &Texts, view: &View, analysis: &Analysis) -> Result<Material, SourceError> {
    let mut sections = Vec::new();
    for part in &analysis.parts {
        let Some(document) = view.find(&part.name) else {
            return Err(SourceError::Changed { name: part.name.to_string() });
        };
        let segment = part.chunk.as_ref().and_then(|chunk| chunk.segment.as_ref());
        let text = texts.get(view, document, segment)?;
        let mut section = Section { name: part.name.to_string(), lines: String::new(), numbers: Vec::new() };
        match &part.chunk {
            Some(chunk) => section.add_chunk(chunk, &text),
            None => section.add_numbered(1, &text),
        }
        sections.push(section);
    }
    Ok(Material { sections })
}

impl Section {
    fn add_chunk(&mut self, chunk: &Chunk, text: &str) {
        if let Some(shell) = &chunk.shell {
            let start = line_at(chunk, text, &shell.body);
            self.add(None, &shell.open);
            self.add_numbered(start, part(text, &shell.body));
            self.add(None, &shell.close);
            return;
        }
        for (idx, line) in render(chunk, text).lines().enumerate() {
            let number = chunk.line_of(idx as u64 + 1);
            let mark = if number.is_some() { "" } else { "| " };
            self.lines.push_str(mark);
            self.add(number, line);
        }
    }

    fn add_numbered(&mut self, first: u64, text: &str) {
        for (idx, line) in text.lines().enumerate() {
            self.add(Some(first + idx as u64), line);
        }
    }

    fn cut(mut self, n_first: usize) -> (Self, Self) {
        let n_first = n_first.min(self.numbers.len());
        let at = self.lines.split_inclusive('\n').take(n_first).map(str::len).sum();
        let (lines, numbers) = (self.lines.split_off(at), self.numbers.split_off(n_first));
        let rest = Self { name: self.name.clone(), lines, numbers };
        (self, rest)
    }

    fn add(&mut self, number: Option<u64>, line: &str) {
        if let Some(number) = number {
            write!(self.lines, "{number}| ").expect("writing to a String cannot fail");
        }
        self.lines.push_str(line);
        self.lines.push('\n');
        self.numbers.push(number.unwrap_or(0));
    }

    fn add_to(&self, shown: &mut Shown) {
        for (line, number) in self.lines.lines().zip(&self.numbers).filter(|(_, number)| **number > 0) {
            let n_digits = number.ilog10() as usize + 1;
            shown.add(&self.name, *number, line.get(n_digits + "| ".len()..).unwrap_or_default());
        }
    }
}

fn line_at(chunk: &Chunk, text: &str, piece: &Span) -> u64 {
    let before = Span { start: chunk.span.start, end: piece.start.max(chunk.span.start) };
    chunk.lines.start() + part(text, &before).bytes().filter(|byte| *byte == b'\n').count() as u64
}

fn part<'t>(text: &'t str, span: &Span) -> &'t str {
    let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    text.get(at(span.start)..at(span.end)).unwrap_or_default()
}

impl Material {
    /// Renders the prompt. Documents come first and the question last; nothing in them is expanded as a placeholder.
    pub(super) fn render(&self, assignment: &str, question: &str) -> String {
        let n_bytes: usize = self.sections.iter().map(|section| section.lines.len()).sum();
        let mut text = String::with_capacity(n_bytes + assignment.len() + question.len() + ROOM_BYTES);
        for Section { name, lines, .. } in &self.sections {
            let name = name.replace(['"', '\n', '<', '>'], "?");
            writeln!(text, "<document name=\"{name}\">").expect("writing to a String cannot fail");
            text.push_str(lines);
            text.push_str("</document>\n");
        }
        write!(text, "\n{assignment}\n\nQuestion: {question}\n").expect("writing to a String cannot fail");
        text
    }

    /// The document text in it, which is all that an analyst can quote.
    pub(super) fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        for section in &self.sections {
            section.add_to(&mut shown);
        }
        shown
    }

    /// Splits the text in two at a line; `None` if there is only one line.
    pub(super) fn halves(self) -> Option<(Self, Self)> {
        let n_lines: usize = self.sections.iter().map(|section| section.numbers.len()).sum();
        if n_lines < 2 {
            return None;
        }
        let (mut left, mut right, mut n_left) = (Vec::new(), Vec::new(), n_lines / 2);
        for section in self.sections {
            let (first, rest) = section.cut(n_left);
            n_left -= first.numbers.len();
            left.extend((!first.numbers.is_empty()).then_some(first));
            right.extend((!rest.numbers.is_empty()).then_some(rest));
        }
        Some((Self { sections: left }, Self { sections: right }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spelunk_context::{Analyst, Corpus, Detector, ScanOptions, SourceInput};
    use spelunk_types::Focus;

    use super::*;
    use crate::task::DocumentPart;
    use crate::testing::chunk_of;

    #[test]
    fn each_segment_of_a_document_is_a_text_of_its_own() {
        let source = SourceInput::Text { name: "a.log".into(), bytes: b"one\ntwo\n".to_vec() };
        let corpus = Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}).unwrap();
        let view = View::of(Arc::new(corpus));
        let part = |chunk: Chunk| DocumentPart {
            document_idx: 0,
            name: "a.log".into(),
            digest: view.digest(),
            bytes: 4,
            lines: chunk.lines.clone(),
            chunk: Some(Box::new(chunk)),
        };
        let analysis = Analysis {
            number: 1,
            of: 1,
            analyst: Analyst::General,
            detected: Detector::default().detect("a.log", ""),
            focus: Focus::General,
            parts: [chunk_of(0..4, 1), chunk_of(4..8, 2), chunk_of(0..4, 1)].map(part).into(),
            schema: None,
        };
        let material = read(&Texts::default(), &view, &analysis).unwrap();
        let shown: Vec<&str> = material.sections.iter().map(|section| section.lines.as_str()).collect();
        assert_eq!(shown, ["1| one\n", "2| two\n", "1| one\n"]);
    }
}
