//! Guesses the type from the first lines of a text. JSON is tried before tables, so that `{"a":1,"b":2}` is not taken
//! for a row. The text is hostile: no test may fail, and all read only the head.

use super::log_line::is_log_start;
use super::{ContentType, Detector, delimited};

/// Bytes of a document that are examined, however long its lines are.
const HEAD_BYTES_MAX: usize = 64 * 1024;

type Test<'t> = fn(&Head<'t>) -> bool;

pub(super) struct Head<'t> {
    text: &'t str,
    is_cut: bool,
}

impl<'t> Head<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let reach = text.floor_char_boundary(HEAD_BYTES_MAX);
        let newlines = memchr::memchr_iter(b'\n', &text.as_bytes()[..reach]);
        let end = newlines.skip(Detector::SNIFF_LINES_MAX - 1).map(|at| at + 1).next().unwrap_or(reach);
        let head = text.get(..end).unwrap_or_default();
        Self { text: head.strip_prefix('\u{feff}').unwrap_or(head), is_cut: end < text.len() }
    }

    /// The type that the text looks like, if any. The first match wins.
    pub(super) fn content_type(&self) -> Option<ContentType> {
        let tests: [(Test<'t>, ContentType); 7] = [
            (Self::is_json, ContentType::Json),
            (Self::is_jsonl, ContentType::Jsonl),
            (Self::is_table, ContentType::StructuredData),
            (Self::is_log, ContentType::Log),
            (Self::is_markup, ContentType::Markup),
            (Self::is_code, ContentType::SourceCode),
            (Self::is_prose, ContentType::Prose),
        ];
        tests.into_iter().find(|(test, _)| test(self)).map(|(_, content_type)| content_type)
    }

    pub(super) fn language(&self) -> Option<&'static str> {
        let command = self.text.lines().next()?.strip_prefix("#!")?;
        let program = command.split(['/', ' ']).rfind(|word| !word.is_empty() && !word.starts_with('-'))?;
        match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "zsh" | "ksh" | "dash" => Some("bash"),
            "python" => Some("python"),
            "ruby" => Some("ruby"),
            "node" => Some("javascript"),
            "php" => Some("php"),
            "perl" => Some("perl"),
            "lua" => Some("lua"),
            _ => None,
        }
    }

    fn lines(&self) -> impl Iterator<Item = &'t str> {
        let whole = if self.is_cut { self.text.rfind('\n').map_or(0, |at| at + 1) } else { self.text.len() };
        self.text.get(..whole).unwrap_or_default().lines().filter(|line| !line.trim().is_empty())
    }

    fn is_json(&self) -> bool {
        let text = self.text.trim_start();
        if !text.starts_with(['[', '{']) {
            return false;
        }
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(_) => true,
            // It was valid up to the end of the head.
            Err(error) => self.is_cut && error.is_eof(),
        }
    }

    fn is_jsonl(&self) -> bool {
        let is_value = |line: &str| {
            line.trim_start().starts_with(['[', '{'])
                && serde_json::from_str::<serde_json::Value>(line).is_ok()
        };
        let mut n_lines = 0;
        self.lines().inspect(|_| n_lines += 1).all(is_value) && n_lines > 0
    }

    fn is_table(&self) -> bool {
        let Some(header) = self.lines().next() else { return false };
        let Some(delimiter) = delimited::delimiter_of(self.text) else { return false };
        let is_label = |cell: &[u8]| {
            let cell = String::from_utf8_lossy(cell);
            let cell = cell.trim().trim_matches('"').trim();
            cell.starts_with(|c: char| c.is_alphabetic() || c == '_') && cell.split_whitespace().count() <= 4
        };
        if !header.as_bytes().split(|&byte| byte == delimiter).all(is_label) {
            return false;
        }
        let widths: Vec<usize> = delimited::widths(self.text, delimiter, self.is_cut).collect();
        widths.len() >= 2 && widths.iter().all(|&width| width == widths[0] && width >= 2)
    }

    fn is_log(&self) -> bool {
        let (mut n_lines, mut n_starts) = (0, 0);
        for line in self.lines() {
            n_lines += 1;
            n_starts += usize::from(is_log_start(line.as_bytes()));
        }
        n_starts >= 2 && n_starts * 2 >= n_lines
    }

    fn is_markup(&self) -> bool {
        let start = self.text.trim_start().as_bytes();
        [&b"<?xml"[..], b"<!doctype", b"<html", b"<svg"]
            .iter()
            .any(|tag| start.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag)))
    }

    fn is_code(&self) -> bool {
        const STARTS: &str = "def |function |class |import |#include|package |from |fn |pub |use |func |const |\
            #define |using |namespace |async ";
        let is_start = |line: &&str| {
            STARTS.split('|').any(|start| line.starts_with(start)) && !line.ends_with(['.', ','])
        };
        self.text.starts_with("#!") || self.lines().filter(is_start).count() >= 2
    }

    fn is_prose(&self) -> bool {
        let (mut n_lines, mut n_sentences) = (0, 0);
        for line in self.lines() {
            let is_heading = line.starts_with("# ") || line.starts_with("## ");
            if is_heading && n_lines == 0 {
                return true;
            }
            n_lines += 1;
            let n_words = line.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
            n_sentences += usize::from(n_words >= 4);
        }
        n_sentences > 0 && n_sentences * 2 >= n_lines
    }
}
