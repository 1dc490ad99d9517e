//! Grep: the matching lines of desk files and mounted documents. All matches are counted, the first
//! are shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use spelunk_context::{GrepMatch, GrepQuery, ReadError, Reader};

use super::glob::Globs;
use super::wire::GrepMode;
use super::{arguments, wire};
use crate::{Desk, DeskError, DeskPath, show};

const SHOWN_DEFAULT: u64 = 100;
const SHOWN_MAX: u64 = 2000;
const CONTEXT_LINES_MAX: u64 = 20;
const UNREADABLE_MAX: usize = 5;

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let asked: wire::Grep = arguments("Grep", value)?;
    let base = asked.path.as_deref().map_or_else(|| Ok(DeskPath::top()), DeskPath::parse)?;
    desk.require(&base)?;
    let globs = asked.glob.as_ref().map(|glob| Globs::compile("Grep", glob.all())).transpose()?;
    let mode = asked.mode.unwrap_or(GrepMode::Lines);
    let limit = asked.limit.unwrap_or(SHOWN_DEFAULT).clamp(1, SHOWN_MAX);
    let mut query = GrepQuery::new(asked.pattern.clone());
    query.case_sensitive = !asked.ignore_case;
    query.literal = asked.literal;
    query.context_lines = asked.context.unwrap_or(0).min(CONTEXT_LINES_MAX);
    query.matches_max = if mode == GrepMode::Lines { limit } else { 0 };
    let found = search(desk, &base, globs.as_ref(), &query)?;
    let text = match mode {
        GrepMode::Lines => found.lines(),
        GrepMode::Files => found.names(limit, |path, _| format!("{path}\n")),
        GrepMode::Count => found.names(limit, |path, n_matches| format!("{n_matches:>8} {path}\n")),
    };
    Ok(show::bounded(&text, desk.limits().output_bytes_max, "narrow `pattern`, `path` or `glob`"))
}

#[derive(Debug, Default)]
struct GrepResults {
    files: BTreeMap<DeskPath, (Vec<GrepMatch>, u64)>,
    unreadable: Vec<(DeskPath, ReadError)>,
}

fn search(
    desk: &Desk,
    base: &DeskPath,
    globs: Option<&Globs>,
    query: &GrepQuery,
) -> Result<GrepResults, DeskError> {
    let is_wanted = |path: &DeskPath| globs.is_none_or(|globs| globs.takes(path, base));
    let mut found = GrepResults::default();
    let (mut room, never) = (query.matches_max, AtomicBool::new(false));
    let mut compiled = query.compile()?;
    for (path, bytes) in desk.files_within(base).filter(|(path, _)| is_wanted(path)) {
        // After the last match that is shown, the rest are only counted.
        compiled.show_at_most(room);
        let reader = Reader::of_bytes(path.as_str(), Arc::from(bytes)).with_redaction(false);
        let report = reader.grep_compiled(&compiled, &never)?;
        room -= report.matches.len() as u64;
        if report.n_matches > 0 {
            found.files.insert(path.clone(), (report.matches, report.n_matches));
        }
    }
    let path_of: BTreeMap<&str, &DeskPath> = desk
        .documents_within(base)
        .filter(|(path, _)| is_wanted(path))
        .map(|(path, name)| (name, path))
        .collect();
    let query = GrepQuery { matches_max: room, ..query.clone() };
    let report = desk.grep_documents(&query, path_of.keys().copied())?;
    for document in report.documents {
        if let Some(path) = path_of.get(document.document.as_str()) {
            found.files.insert((*path).clone(), (document.matches, document.n_matches));
        }
    }
    let unreadable = report.unreadable.into_iter();
    found.unreadable = unreadable
        .filter_map(|(name, error)| Some(((*path_of.get(name.as_str())?).clone(), error)))
        .collect();
    Ok(found)
}

impl GrepResults {
    fn lines(&self) -> String {
        let mut text = String::new();
        let mut n_shown = 0;
        for (path, (matches, n_matches)) in self.files.iter().filter(|(_, (matches, _))| !matches.is_empty())
        {
            n_shown += matches.len() as u64;
            text.push_str(&format!("{path} ({})\n", show::counted(*n_matches, "match", "matches")));
            push_lines(&mut text, matches);
        }
        let n_matches: u64 = self.files.values().map(|(_, n_matches)| n_matches).sum();
        let files = show::counted(self.files.len() as u64, "file", "files");
        text.push_str(&match n_matches {
            0 => "[no match]\n".to_owned(),
            n if n > n_shown => format!(
                "[{n_shown} of {n} matches in {files}; narrow the search, raise `limit`, or set mode to count]\n"
            ),
            n => format!("[{} in {files}]\n", show::counted(n, "match", "matches")),
        });
        self.push_unreadable(&mut text);
        text
    }

    fn names(&self, limit: u64, line: impl Fn(&DeskPath, u64) -> String) -> String {
        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut text: String =
            self.files.iter().take(shown).map(|(path, (_, n_matches))| line(path, *n_matches)).collect();
        let n_matches: u64 = self.files.values().map(|(_, n_matches)| n_matches).sum();
        let left_out = self.files.len().saturating_sub(shown);
        let more =
            if left_out > 0 { format!("; {left_out} not shown, raise `limit`") } else { String::new() };
        let files = show::counted(self.files.len() as u64, "file", "files");
        text.push_str(&format!("[{} in {files}{more}]\n", show::counted(n_matches, "match", "matches")));
        self.push_unreadable(&mut text);
        text
    }

    fn push_unreadable(&self, text: &mut String) {
        for (path, error) in self.unreadable.iter().take(UNREADABLE_MAX) {
            text.push_str(&format!("[`{path}` was not searched: {error}]\n"));
        }
        let n_more = self.unreadable.len().saturating_sub(UNREADABLE_MAX);
        if n_more > 0 {
            text.push_str(&format!("[{n_more} more were not searched]\n"));
        }
    }
}

/// Matches with their context lines, each line once; `--` marks a gap.
fn push_lines(text: &mut String, matches: &[GrepMatch]) {
    let mut lines: BTreeMap<u64, (char, &str)> = BTreeMap::new();
    for found in matches {
        let first = found.line.saturating_sub(found.before.len() as u64);
        for (line, before) in (first..).zip(&found.before) {
            lines.entry(line).or_insert(('-', before));
        }
        for (line, after) in (found.line + 1..).zip(&found.after) {
            lines.entry(line).or_insert(('-', after));
        }
    }
    let has_context = !lines.is_empty();
    lines.extend(matches.iter().map(|found| (found.line, (':', found.text.as_str()))));
    let mut last = None;
    for (line, (sign, shown)) in lines {
        if has_context && last.is_some_and(|last| line > last + 1) {
            text.push_str("--\n");
        }
        text.push_str(&format!("{line:>6}{sign} {shown}\n"));
        last = Some(line);
    }
}
