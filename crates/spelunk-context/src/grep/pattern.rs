//! Patterns, validated and compiled for line searches. The engine is linear for any pattern; memory
//! is bounded.

use std::ops::{ControlFlow, Range};

use grep_matcher::{LineMatchKind, Matcher as _};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::{Hir, HirKind, LookSet};

use super::GrepQuery;
use crate::PatternError;

const COMPILED_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Per thread.
const DFA_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The error type of a search has no values.
const NO_ERRORS: &str = "searching has no errors";
const NEST_MAX: u32 = 200;

#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    matcher: RegexMatcher,
    /// The pattern without its word boundaries, if it has any. A boundary next to a secret depends on the secret, so
    /// lines that may contain one are selected without boundaries.
    pub(super) loose: Option<RegexMatcher>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Matching,
    /// Lines that match, and those that may match once their secrets are masked.
    MayMatch,
}

impl Pattern {
    pub(crate) fn compile(query: &GrepQuery) -> Result<Self, PatternError> {
        let pattern = &query.pattern;
        let (bytes, bytes_max) = (pattern.len() as u64, query.pattern_bytes_max);
        if bytes == 0 {
            return Err(PatternError::Empty);
        }
        if bytes > bytes_max {
            return Err(PatternError::TooLong { bytes, bytes_max });
        }
        if pattern.contains('\n') {
            return Err(PatternError::LineEnd { pattern: pattern.escape_debug().to_string() });
        }
        let parsed = if query.literal { None } else { Some(parse(query)?) };
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(!query.case_sensitive)
            .fixed_strings(query.literal)
            .multi_line(true)
            .crlf(true)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(DFA_BYTES_MAX);
        let build = |builder: &RegexMatcherBuilder, regex: &str| {
            builder.build(regex).map_err(|error| unsearchable(pattern, &error))
        };
        let matcher = build(&builder, pattern)?;
        let has_words = |hir: &Hir| hir.properties().look_set().contains_word();
        let loose = match parsed.filter(has_words) {
            None => None,
            // The flags are part of the parsed pattern.
            Some(hir) => {
                let loose = without_words(&hir).to_string();
                Some(build(builder.case_insensitive(false).multi_line(false), &loose)?)
            }
        };
        Ok(Self { matcher, loose })
    }

    /// Calls `found` with each selected line of the buffer, including its end. The buffer begins at a line start.
    pub(super) fn each_line(
        &self,
        buffer: &[u8],
        choice: Choice,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let matcher = self.matcher_for(choice);
        // A pattern that is anchored to the start of the text is applied to each line by itself.
        let by_lines = matcher.line_terminator().is_none();
        let mut at = 0;
        while at < buffer.len() {
            let candidate = if by_lines {
                Some(LineMatchKind::Candidate(0))
            } else {
                matcher.find_candidate_line(&buffer[at..]).expect(NO_ERRORS)
            };
            let (offset, is_sure) = match candidate {
                None => break,
                Some(LineMatchKind::Confirmed(offset)) => (at + offset, true),
                Some(LineMatchKind::Candidate(offset)) => (at + offset, false),
            };
            let line = line_around(buffer, at, offset);
            at = line.end;
            // An empty match after the last line end is in no line of this buffer.
            let is_hit = |line: &[u8]| matcher.find(line).expect(NO_ERRORS).is_some();
            if !line.is_empty() && (is_sure || is_hit(without_end(&buffer[line.clone()]))) {
                found(line)?;
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) fn find(&self, line: &[u8]) -> Option<Range<usize>> {
        self.find_from(line, 0, Choice::Matching)
    }

    /// The first match at or after `from`; the text before `from` is visible to the pattern.
    pub(super) fn find_from(&self, line: &[u8], from: usize, choice: Choice) -> Option<Range<usize>> {
        let found = self.matcher_for(choice).find_at(line, from).expect(NO_ERRORS);
        found.map(|found| found.start()..found.end())
    }

    pub(super) fn each_match(&self, line: &[u8], from: usize, mut found: impl FnMut(Range<usize>) -> bool) {
        self.matcher.find_iter_at(line, from, |at| found(at.start()..at.end())).expect(NO_ERRORS);
    }

    fn matcher_for(&self, choice: Choice) -> &RegexMatcher {
        match choice {
            Choice::Matching => &self.matcher,
            Choice::MayMatch => self.loose.as_ref().unwrap_or(&self.matcher),
        }
    }
}

/// The line that contains an offset, including its end, no earlier than `from`, where a line begins.
fn line_around(buffer: &[u8], from: usize, offset: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &buffer[from..offset]).map_or(from, |idx| from + idx + 1);
    let end = memchr::memchr(b'\n', &buffer[offset..]).map_or(buffer.len(), |idx| offset + idx + 1);
    start..end
}

pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Parses the pattern as typed, so that error positions refer to it.
fn parse(query: &GrepQuery) -> Result<Hir, PatternError> {
    let pattern = &query.pattern;
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.utf8(false).nest_limit(NEST_MAX);
    parser.case_insensitive(!query.case_sensitive).multi_line(true).crlf(true);
    let (offset, why) = match parser.build().parse(pattern) {
        Ok(hir) => return Ok(hir),
        Err(regex_syntax::Error::Parse(error)) => (error.span().start.offset, error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => (error.span().start.offset, error.kind().to_string()),
        // The enum is non-exhaustive.
        Err(_) => (0, "it cannot be parsed".to_owned()),
    };
    let column = pattern.get(..offset).unwrap_or(pattern).chars().count();
    Err(PatternError::Syntax { pattern: pattern.clone(), column, why })
}

/// Recursion is bounded by `NEST_MAX`.
fn without_words(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(look) if LookSet::singleton(*look).contains_word() => Hir::empty(),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(without_words(&repetition.sub))),
        HirKind::Capture(group) => without_words(&group.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_words).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_words).collect()),
    }
}

fn unsearchable(pattern: &str, error: &grep_regex::Error) -> PatternError {
    let pattern = pattern.to_owned();
    if matches!(error.kind(), ErrorKind::NotAllowed(_) | ErrorKind::Banned(_)) {
        PatternError::LineEnd { pattern }
    } else {
        // The syntax is valid, so only the size can be wrong.
        PatternError::TooComplex { pattern }
    }
}

#[cfg(test)]
mod tests;
