//! Searches a text in memory in place: no copy, no threads, and line numbers only up to the last match shown. It finds
//! what a reader over the same text finds, but does not redact secrets.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr_iter, memrchr};

use super::pattern::{Choice, Pattern, without_end};
use super::show::{LOOK_BYTES, RANGES_MAX, cut_around};
use super::{CompiledQuery, Extent, GrepMatch, GrepReport};

impl CompiledQuery {
    /// Searches a text without a byte order mark. Returns `None` if a reader is needed: for lines that are not UTF-8,
    /// lines that are too long, and a search that may stop early.
    pub fn search_in(&self, text: &[u8]) -> Option<GrepReport> {
        let shown_max = usize::try_from(self.query.matches_max).unwrap_or(usize::MAX);
        if self.query.extent != Extent::Whole {
            return None;
        }
        let (mut n_matches, mut lines) = (0, Vec::new());
        let all = self.pattern.each_line(text, Choice::Matching, |line| {
            n_matches += 1;
            if lines.len() < shown_max {
                lines.push(line);
            }
            ControlFlow::Continue(())
        });
        debug_assert!(all.is_continue(), "nobody stopped it");
        let (mut matches, mut line, mut counted_to) = (Vec::with_capacity(lines.len()), 1, 0);
        for found in lines {
            line += memchr_iter(b'\n', &text[counted_to..found.start]).count() as u64;
            counted_to = found.start;
            matches.push(shown(text, &self.pattern, line, found, self.query.context_lines)?);
        }
        Some(GrepReport {
            truncated: n_matches > matches.len() as u64,
            matches,
            n_matches,
            stopped_early: false,
            bytes_scanned: text.len() as u64,
        })
    }
}

fn shown(
    text: &[u8],
    pattern: &Pattern,
    line: u64,
    found: Range<usize>,
    context_lines: u64,
) -> Option<GrepMatch> {
    let (before, after) =
        (back_lines(text, found.start, context_lines), lines_from(text, found.end, context_lines));
    let look_bytes = usize::try_from(LOOK_BYTES).unwrap_or(usize::MAX);
    let reach = [before.first().map_or(0, |first| found.start - first.start), found.len()];
    let behind = after.last().map_or(0, |last| last.end - found.end);
    if reach.into_iter().chain([behind]).any(|n_bytes| n_bytes + 2 > look_bytes) {
        return None;
    }
    let text_of = |line: &Range<usize>| std::str::from_utf8(without_end(text.get(line.clone())?)).ok();
    let matching = text_of(&found)?;
    let mut ranges = Vec::new();
    pattern.each_match(matching.as_bytes(), 0, |range| {
        if !range.is_empty() {
            ranges.push(range);
        }
        ranges.len() < RANGES_MAX
    });
    let (shown, ranges) = cut_around(matching, ranges);
    let cut_all = |lines: &[Range<usize>]| {
        lines
            .iter()
            .map(|line| text_of(line).map(|text| cut_around(text, Vec::new()).0))
            .collect::<Option<_>>()
    };
    Some(GrepMatch { line, text: shown, ranges, before: cut_all(&before)?, after: cut_all(&after)? })
}

/// The lines before an offset where a line begins, including their ends.
fn back_lines(text: &[u8], from: usize, n_lines: u64) -> Vec<Range<usize>> {
    let (mut lines, mut end) = (Vec::new(), from);
    for _ in 0..n_lines {
        let Some(last) = end.checked_sub(1) else { break };
        let start = memrchr(b'\n', &text[..last]).map_or(0, |idx| idx + 1);
        lines.push(start..end);
        end = start;
    }
    lines.reverse();
    lines
}

/// The lines from an offset where a line begins.
fn lines_from(text: &[u8], from: usize, n_lines: u64) -> Vec<Range<usize>> {
    let (mut lines, mut start) = (Vec::new(), from);
    for _ in 0..n_lines {
        if start >= text.len() {
            break;
        }
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |idx| start + idx + 1);
        lines.push(start..end);
        start = end;
    }
    lines
}
