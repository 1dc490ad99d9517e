//! Name hops: lines with the names of a question, then lines with the names on those. Who conducted the concert, and
//! where was she born? No search for the words of the question finds the second line; her name does.

use std::collections::{BTreeMap, BTreeSet};

use spelunk_context::View;

use crate::question::{names_in, sentences};

/// A name of the question on more lines than this is not distinctive.
const ASKED_LINES_MAX: usize = 30;
/// The same limit for a name found on the way.
const FOLLOWED_LINES_MAX: usize = 6;
/// Names searched for in one round.
const NAMES_MAX: usize = 60;
/// Lines of the whole trail.
const LINES_MAX: usize = 40;
const SENTENCE_CHARS_MAX: usize = 400;
/// The largest view that is read into memory for this. Above it, only the index is searched.
pub(super) const VIEW_BYTES_MAX: u64 = 50_000_000;

/// A sentence of a document, or a line of one without sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) document: String,
    pub(crate) line: u64,
    pub(crate) text: String,
}

/// Follows the names of a question through a view for `rounds` rounds, in order of discovery. Unreadable documents
/// and views that are too large yield nothing.
pub(crate) fn follow(view: &View, question: &str, rounds: usize) -> Vec<Sentence> {
    if view.bytes() > VIEW_BYTES_MAX {
        return Vec::new();
    }
    let texts = texts(view);
    let (mut seen, mut trail): (BTreeSet<String>, Vec<Sentence>) = (BTreeSet::new(), Vec::new());
    let mut names: Vec<String> = names_in(question).into_iter().map(str::to_owned).collect();
    for round in 0..=rounds {
        names.retain(|name| seen.insert(name.clone()));
        names.truncate(NAMES_MAX);
        if names.is_empty() || trail.len() >= LINES_MAX {
            break;
        }
        let lines_max = if round == 0 { ASKED_LINES_MAX } else { FOLLOWED_LINES_MAX };
        let mut found = lines_in(&texts, &names, lines_max);
        found.retain(|sentence| !trail.contains(sentence));
        found.truncate(LINES_MAX - trail.len());
        names = found.iter().flat_map(|sentence| names_on(&sentence.text)).collect();
        trail.extend(found);
    }
    trail
}

/// The sentences that contain each of these names, by name, except for names on too many lines.
pub(super) fn lines_with(view: &View, names: &[String], lines_max: usize) -> Vec<Sentence> {
    lines_in(&texts(view), names, lines_max)
}

/// The readable documents, by name.
fn texts(view: &View) -> Vec<(&str, String)> {
    let documents = view.documents();
    documents.filter_map(|document| Some((document.name.as_str(), view.read_owned(document).ok()?))).collect()
}

fn lines_in(texts: &[(&str, String)], names: &[String], lines_max: usize) -> Vec<Sentence> {
    let mut by_name: BTreeMap<usize, Vec<Sentence>> = BTreeMap::new();
    let mut too_common = BTreeSet::new();
    for (document, text) in texts {
        for (idx, name) in names.iter().enumerate() {
            if too_common.contains(&idx) || !text.contains(name.as_str()) {
                continue;
            }
            let found = by_name.entry(idx).or_default();
            let lines = text.lines().enumerate().filter(|(_, line)| line.contains(name.as_str()));
            for (line_idx, line) in lines {
                let sentences = sentences(line).filter(|sentence| holds(sentence, name));
                found.extend(sentences.map(|sentence| Sentence {
                    document: (*document).to_owned(),
                    line: line_idx as u64 + 1,
                    text: shortened(sentence),
                }));
                if found.len() > lines_max {
                    too_common.insert(idx);
                    break;
                }
            }
        }
    }
    let mut all: Vec<Sentence> = Vec::new();
    for (idx, found) in by_name {
        if !too_common.contains(&idx) {
            all.extend(found.into_iter().filter(|sentence| !all.contains(sentence)).collect::<Vec<_>>());
        }
    }
    all
}

/// Whether a text contains a name as a separate word.
pub(super) fn holds(text: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(start, _)| {
        let (before, after) = (text.get(..start), text.get(start + name.len()..));
        !is_part(before.and_then(|before| before.chars().next_back()))
            && !is_part(after.and_then(|after| after.chars().next()))
    })
}

fn shortened(sentence: &str) -> String {
    sentence.chars().take(SENTENCE_CHARS_MAX).collect()
}

/// Likely names on a line: runs of capitalised words as one name, and words with a digit. A single capitalised word
/// at the beginning may be any word.
pub(super) fn names_on(line: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut run_begins_line = false;
    let mut close = |run: &mut Vec<&str>, run_begins_line: bool| {
        if run.len() > 1 || (run.len() == 1 && !run_begins_line) {
            names.push(run.join(" "));
        }
        run.clear();
    };
    let mut numbered = Vec::new();
    let mut end_before = 0;
    for (start, word) in words_of(line) {
        let touches = line.get(end_before..start) == Some(" ");
        end_before = start + word.len();
        let is_capital = word.starts_with(char::is_uppercase) && word.chars().count() > 2;
        if !(is_capital && touches) {
            close(&mut run, run_begins_line);
        }
        if is_capital {
            if run.is_empty() {
                run_begins_line = start == 0;
            }
            run.push(word);
        } else if word.contains(|c: char| c.is_ascii_digit()) && word.len() > 2 {
            numbered.push(word.to_owned());
        }
    }
    close(&mut run, run_begins_line);
    names.extend(numbered);
    names
}

/// Runs of letters, digits and underscores, with their offsets.
fn words_of(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest_start = 0;
    std::iter::from_fn(move || {
        let rest = line.get(rest_start..)?;
        let start = rest_start + rest.find(is_word)?;
        let tail = line.get(start..)?;
        let length = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
        rest_start = start + length;
        Some((start, tail.get(..length)?))
    })
}

#[cfg(test)]
pub(super) mod tests;
