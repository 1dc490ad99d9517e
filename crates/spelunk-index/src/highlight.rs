//! Highlighting: the line of a passage that is most relevant to the question, and where the words occur in it.

use std::ops::Range;

use crate::question::Question;
use crate::tally::WordSet;

/// The best line of a passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// The line in the document, from 1.
    pub line: u64,
    /// The line without its line ending.
    pub text: String,
    /// The byte ranges of the question's words; ordered and disjoint.
    pub ranges: Vec<Range<usize>>,
}

/// The line with the most distinct words of the question, then with the most words, then the first.
/// For a passage found only by its document's name, the first non-blank line.
pub fn mark(text: &str, line_start: u64, question: &str) -> Mark {
    mark_text(text, line_start, &Question::of(question))
}

pub(crate) fn mark_text(text: &str, line_start: u64, question: &Question) -> Mark {
    let mut best: Option<((usize, usize, bool), Mark)> = None;
    for (line, text) in (line_start..).zip(text.lines()) {
        let (mut words, mut ranges) = (WordSet::default(), Vec::new());
        question.find(text, |hit| {
            words.insert(hit.word_idx);
            ranges.push(hit.at);
        });
        let worth = (words.len(), ranges.len(), !text.trim().is_empty());
        if best.as_ref().is_none_or(|(best, _)| worth > *best) {
            best = Some((worth, Mark { line, text: text.to_owned(), ranges: apart(ranges) }));
        }
    }
    best.map_or_else(|| Mark { line: line_start, ..Mark::default() }, |(_, mark)| mark)
}

fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests;
