//! A task of one analyst: parts of documents by reference, without their text.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::Arc;

use spelunk_context::{Analyst, Chunk, Detected, ManifestRow, PlanTask, SchemaSketch, View};
use spelunk_types::{BlobId, Focus, Unit};

/// The prefixes of the first lines of a note.
const TYPE_MARK: &str = "Type: ";
const ANALYST_MARK: &str = "Analyst: ";

#[derive(Debug, Clone)]
pub(crate) struct Analysis {
    /// Starts at 1.
    pub(crate) number: u64,
    pub(crate) of: u64,
    pub(crate) analyst: Analyst,
    pub(crate) detected: Detected,
    pub(crate) focus: Focus,
    /// Never empty.
    pub(crate) parts: Vec<DocumentPart>,
    /// The structure of the whole document, for a chunk of JSON.
    pub(crate) schema: Option<Arc<SchemaSketch>>,
}

#[derive(Debug, Clone)]
pub(crate) struct DocumentPart {
    pub(crate) document_idx: u32,
    pub(crate) name: Arc<str>,
    pub(crate) digest: BlobId,
    /// The size of this part without overlap.
    pub(crate) bytes: u64,
    /// Its lines, from 1.
    pub(crate) lines: RangeInclusive<u64>,
    /// `None` for a whole document.
    pub(crate) chunk: Option<Box<Chunk>>,
}

impl Analysis {
    pub(crate) fn of_chunk(task: &PlanTask, chunk: &Chunk, view: &View, focus: Focus) -> Self {
        let part = DocumentPart {
            document_idx: chunk.document_idx,
            name: Arc::clone(&chunk.document),
            digest: digest(view, &chunk.document),
            bytes: chunk.span.end - chunk.span.start,
            lines: chunk.lines.clone(),
            chunk: Some(Box::new(chunk.clone())),
        };
        let (analyst, detected, schema) = (task.analyst, task.detected.clone(), task.schema.clone());
        Self { number: 0, of: 0, analyst, detected, focus, parts: vec![part], schema }
    }

    pub(crate) fn of_small(row: &ManifestRow, view: &View, focus: Focus) -> Self {
        let part = DocumentPart {
            document_idx: row.document_idx,
            name: row.name.as_str().into(),
            digest: digest(view, &row.name),
            bytes: row.bytes,
            lines: 1..=row.lines.max(1),
            chunk: None,
        };
        let (analyst, detected) = (Analyst::of(row.detected.content_type), row.detected.clone());
        Self { number: 0, of: 0, analyst, detected, focus, parts: vec![part], schema: None }
    }

    /// The content type as reports name it; a custom kind has its own name.
    pub(crate) fn content_type(&self) -> &str {
        self.detected.custom.as_ref().map_or_else(|| self.detected.content_type.name(), |kind| &kind.name)
    }

    /// What is read, for the prompt: `python code`, `a log`.
    pub(crate) fn what(&self) -> String {
        use spelunk_context::ContentType as Type;
        if let Some(kind) = &self.detected.custom {
            return format!("text of the kind `{}`", kind.name.replace('`', "'"));
        }
        match (self.detected.content_type, self.detected.language) {
            (Type::SourceCode, Some(language)) => format!("{language} code"),
            (Type::SourceCode, None) => "code".to_owned(),
            (Type::StructuredData, _) => "rows of a table".to_owned(),
            (Type::Json, _) => "JSON".to_owned(),
            (Type::Jsonl, _) => "lines of JSON".to_owned(),
            (Type::Log, _) => "part of a log".to_owned(),
            (Type::Prose, _) => "prose".to_owned(),
            (Type::Markup, _) => "markup".to_owned(),
            (Type::Config, _) => "configuration".to_owned(),
            (Type::Unknown, _) => "text".to_owned(),
        }
    }

    /// The language of code, or the content type.
    fn noun(&self) -> String {
        self.detected.language.unwrap_or_else(|| self.content_type()).replace('`', "'")
    }

    pub(crate) fn custom_prompt(&self) -> Option<&str> {
        self.detected.custom.as_ref()?.analyst_prompt.as_deref()
    }

    /// The note of the frame: its type, and the task in words. [`Noted`] parses it.
    pub(crate) fn note(&self) -> String {
        format!(
            "{TYPE_MARK}{}\n{ANALYST_MARK}{}\n{}",
            self.content_type(),
            self.analyst.name(),
            self.assignment()
        )
    }

    /// The task in words, as part of the prompt.
    pub(crate) fn assignment(&self) -> String {
        let mut text = String::new();
        match self.parts.as_slice() {
            [DocumentPart { name, lines, chunk: Some(chunk), .. }] => {
                let (number, n_chunks) = (chunk.index + 1, chunk.n_chunks);
                text += &format!("Part {number} of {n_chunks} of `{name}`: {}.", in_words(lines));
                if let Some(scope) = &chunk.scope {
                    text += &format!(" It is in {scope}.");
                }
                if let Some(prelude) = &chunk.prelude {
                    text += &format!(
                        " Shown first because it applies to every part: {}.",
                        in_words(&prelude.lines)
                    );
                }
                if chunk.overlap_lines > 0 {
                    text += &format!(" The {} lines before it are also shown.", chunk.overlap_lines);
                }
            }
            parts => {
                let (total, noun) = (parts.iter().map(DocumentPart::n_lines).sum::<u64>(), self.noun());
                text += &match parts.len() {
                    1 => format!("1 {noun} file ({total} lines)."),
                    n => format!(
                        "Batch: {n} {noun} files (combined: {total} lines). Analyse each file separately, and name its path in each finding."
                    ),
                };
                for (idx, part) in parts.iter().enumerate() {
                    let (number, name, n_lines) = (idx + 1, &part.name, part.n_lines());
                    write!(text, "\n--- FILE {number}: {name} ({n_lines} lines) ---")
                        .expect("writing to a String");
                }
            }
        }
        if let Some(schema) = &self.schema {
            text += &format!("\nThe structure of the whole document:\n{schema}");
        }
        text
    }

    pub(crate) fn label(&self) -> String {
        match self.parts.as_slice() {
            [DocumentPart { name, lines, chunk: Some(_), .. }] => {
                format!("{name} {}", in_words(lines))
            }
            [part] => part.name.to_string(),
            parts => {
                let (first, others) =
                    (parts.first().map_or("", |part| &part.name), parts.len().saturating_sub(1));
                let word = if others == 1 { "other" } else { "others" };
                format!("{first} and {others} {word}")
            }
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Documents that begin in this task, so that the sum over all tasks counts each once.
    pub(crate) fn n_begun(&self) -> u64 {
        let begins = |part: &&DocumentPart| part.chunk.as_ref().is_none_or(|chunk| chunk.index == 0);
        self.parts.iter().filter(begins).count() as u64
    }

    pub(crate) fn units(&self) -> Vec<Unit> {
        self.parts.iter().map(DocumentPart::unit).collect()
    }
}

/// The parsed note of an analyst's frame. Journals have no other record of a failed task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    /// `source_code`; empty in journals of earlier engines.
    pub content_type: String,
    /// `code`; empty in journals of earlier engines.
    pub analyst: String,
    /// What it reads.
    pub units: Vec<Unit>,
    /// For people: the documents it lists, or its first sentence.
    pub label: String,
}

impl Noted {
    /// Reads a note: ``Part 1 of 3 of `a.log`: lines 1 to 9. …``, or a line `--- FILE 1: a.py (20 lines) ---` for each.
    pub fn read(note: &str) -> Self {
        let mut noted = Self::default();
        for line in note.lines() {
            if let Some(content_type) = line.strip_prefix(TYPE_MARK) {
                content_type.clone_into(&mut noted.content_type);
            } else if let Some(analyst) = line.strip_prefix(ANALYST_MARK) {
                analyst.clone_into(&mut noted.analyst);
            } else if let Some(unit) = file_in(line) {
                noted.units.push(unit);
            } else if noted.label.is_empty() {
                line.clone_into(&mut noted.label);
                noted.units.extend(part_in(line));
                if !noted.units.is_empty() {
                    break;
                }
            }
        }
        let is_listed = !noted.label.starts_with("Part ") && !noted.units.is_empty();
        match noted.units.as_slice() {
            [only] if is_listed => only.file.clone_into(&mut noted.label),
            [first, other] if is_listed => noted.label = format!("{} and {}", first.file, other.file),
            [first, others @ ..] if is_listed => {
                noted.label = format!("{} and {} others", first.file, others.len());
            }
            _ => {}
        }
        noted
    }
}

fn file_in(line: &str) -> Option<Unit> {
    let (_, rest) = line.strip_prefix("--- FILE ")?.strip_suffix(" ---")?.split_once(": ")?;
    let (name, lines) = rest.rsplit_once(" (")?;
    let line_end = lines.strip_suffix(" lines)")?.parse().ok()?;
    Some(Unit { file: name.to_owned(), line_start: 1, line_end })
}

fn part_in(line: &str) -> Option<Unit> {
    let (_, rest) = line.strip_prefix("Part ")?.split_once(" of `")?;
    let (name, rest) = rest.split_once("`: line")?;
    let lines = rest.trim_start_matches('s').split(['.', '\n']).next()?.trim();
    let (first, last) = lines.split_once(" to ").unwrap_or((lines, lines));
    Some(Unit { file: name.to_owned(), line_start: first.parse().ok()?, line_end: last.parse().ok()? })
}

fn in_words(lines: &RangeInclusive<u64>) -> String {
    if lines.start() == lines.end() {
        format!("line {}", lines.start())
    } else {
        format!("lines {} to {}", lines.start(), lines.end())
    }
}

fn digest(view: &View, name: &str) -> BlobId {
    view.find(name).map_or_else(|| spelunk_journal::digest(name.as_bytes()), |entry| entry.digest.clone())
}

impl DocumentPart {
    /// An upper bound on the rendered size: with prelude, overlap and line numbers.
    pub(crate) fn shown_bytes_max(&self) -> u64 {
        let chunk = self.chunk.as_deref();
        let prelude = chunk.and_then(|chunk| chunk.prelude.as_ref());
        let prelude_bytes = prelude.map_or(0, |prelude| prelude.span.end - prelude.span.start);
        let prelude_lines = prelude.map_or(0, |prelude| prelude.lines.end() + 1 - prelude.lines.start());
        let overlap_bytes = chunk.map_or(0, |chunk| chunk.overlap.end - chunk.overlap.start);
        let overlap_lines = chunk.map_or(0, |chunk| chunk.overlap_lines);
        let shell_bytes = chunk.and_then(|chunk| chunk.shell.as_ref());
        let shell_bytes = shell_bytes.map_or(0, |shell| (shell.open.len() + shell.close.len()) as u64);
        let n_lines = self.n_lines() + prelude_lines + overlap_lines + 4;
        let number_bytes = u64::from(self.lines.end().checked_ilog10().unwrap_or(0)) + 4;
        let name_bytes = self.name.len() as u64;
        self.bytes + prelude_bytes + overlap_bytes + shell_bytes + name_bytes + n_lines * number_bytes
    }

    fn n_lines(&self) -> u64 {
        (self.lines.end() + 1).saturating_sub(*self.lines.start())
    }

    pub(crate) fn unit(&self) -> Unit {
        Unit { file: self.name.to_string(), line_start: *self.lines.start(), line_end: *self.lines.end() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_a_task_reads() {
        let unit = |file: &str, line_start, line_end| Unit { file: file.into(), line_start, line_end };
        let part =
            Noted::read("Type: log\nAnalyst: general\nPart 2 of 3 of `a.log`: lines 4 to 9. It is in x.\n");
        assert_eq!((part.content_type.as_str(), part.analyst.as_str()), ("log", "general"));
        assert_eq!(part.units, [unit("a.log", 4, 9)]);
        assert_eq!(part.label, "Part 2 of 3 of `a.log`: lines 4 to 9. It is in x.");
        let batch = Noted::read(
            "Batch: 2 python files.\n--- FILE 1: a (b).py (20 lines) ---\n--- FILE 2: c.py (3 lines) ---\n",
        );
        assert_eq!(batch.units, [unit("a (b).py", 1, 20), unit("c.py", 1, 3)]);
        assert_eq!((batch.content_type.as_str(), batch.label.as_str()), ("", "a (b).py and c.py"));
        assert_eq!(Noted::read("Part 1 of 1 of `x`: line 7.").units, [unit("x", 7, 7)]);
        let named =
            |note: &str| Noted::read(note).units.into_iter().map(|unit| unit.file).collect::<Vec<_>>();
        assert_eq!(named("Part 2 of 3 of `logs/of `x`.log`: lines 1 to 9."), ["logs/of `x`.log"]);
        assert_eq!(named("1 document (3 lines).\n--- FILE 1: e: f.md (3 lines) ---"), ["e: f.md"]);
        for strange in ["", "Part", "Part 1 of `", "--- FILE  ---\n--- FILE 1: x ---"] {
            assert_eq!(named(strange), Vec::<String>::new(), "{strange}");
        }
        assert_eq!(Noted::read("anything").label, "anything");
    }
}
