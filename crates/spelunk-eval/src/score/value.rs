//! A single value in prose: whether the answer gives it. It must be the only value of its form
//! there, in a place where answers are given, and neither denied nor one of two alternatives. A
//! word that occurs by accident in a long reply is no answer.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::notation::{Run, is_run, runs, whole, without_places};
use super::read::{ExtractedAnswer, sentences, spans, words};
use super::{Form, denies};
use crate::{Task, pattern};

/// Words of letters, digits and the punctuation that occurs within identifiers.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{Latin}0-9_./$\-]*[\p{Latin}0-9_]"));
pub(super) static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"`([^`\n]+)`"));

/// A reply with at most this many words besides the value gives it as its answer.
const WORDS_MAX: usize = 6;
/// In a longer reply, the value must be in one of this many sentences at the beginning or the end.
const SENTENCES: usize = 2;
const REFUSALS: &[&str] =
    &["not", "t", "than", "instead", "unlike", "nicht", "kein", "keine", "pas", "不", "非"];
const ALTERNATIVES: &[&str] = &["or", "either", "oder", "entweder", "ou", "soit", "o", "或", "または"];
/// Words that introduce an answer.
const GIVING: &[&str] = &[
    "is", "was", "are", "were", "be", "called", "named", "ist", "war", "sind", "heißt", "est", "était",
    "sont", "es", "era", "fue", "son", "是", "为", "は",
];
/// Words that introduce the person who did it.
const BY: &[&str] = &["by", "von", "par", "por"];
const AND: &[&str] = &["and", "und", "et", "y", "和", "と"];
/// Extensions of file names: a path is where a value was found, unless the question asks for one.
const FILE_ENDINGS: &[&str] = &[
    ".py", ".rs", ".js", ".ts", ".md", ".rst", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".log", ".html",
    ".toml", ".yaml", ".yml", ".xml",
];

/// 1 if the answer gives `right`, one of the right answers of the task.
pub(super) fn exact(given: &ExtractedAnswer, right: &str, task: &Task) -> Option<f64> {
    let text = without_places(given.value(), &task.question);
    if words(&text).is_empty() {
        return None;
    }
    let is_given = if is_run(right) {
        is_run_given(&text, right, task).or_else(|| {
            let is_other = given.form == Form::Asked || denies(&given.line, &task.question);
            is_other.then_some(false)
        })?
    } else {
        are_words_given(&text, right, task)
    };
    Some(f64::from(u8::from(is_given)))
}

/// `None` if no value has the form of the right one.
fn is_run_given(text: &str, right: &str, task: &Task) -> Option<bool> {
    let language = task.language.as_str();
    let meant = whole(right, language).unwrap_or_else(|| right.to_owned());
    let is_whole = meant.chars().all(|c| c.is_ascii_digit());
    let of_that_form = |run: &Run<'_>| {
        if is_whole {
            whole(run.text, language).filter(|digits| digits.len() == meant.len())
        } else {
            let separators = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
            (separators(run.text) == separators(&meant)).then(|| run.text.to_owned())
        }
    };
    let asked: Vec<String> = runs(&task.question, language).iter().filter_map(of_that_form).collect();
    let is_asked = |value: &String| !asked.contains(&meant) && asked.contains(value);
    let text = super::read::ungrouped(text);
    let found: Vec<(Range<usize>, String)> = runs(&text, language)
        .iter()
        .filter_map(|run| of_that_form(run).map(|value| (run.start..run.start + run.text.len(), value)))
        .filter(|(_, value)| !is_asked(value))
        .collect();
    let is_meant = |at: &Range<usize>| {
        let place = Place::of(&text, at.clone());
        place.is_at_an_end && !place.is_refused()
    };
    (!found.is_empty())
        .then(|| found.iter().all(|(_, value)| *value == meant) && found.iter().any(|(at, _)| is_meant(at)))
}

fn are_words_given(text: &str, right: &str, task: &Task) -> bool {
    let shape = Shape::of(right);
    let is_short = words(text).len() <= words(right).len() + WORDS_MAX;
    occurrences(text, right).into_iter().any(|at| {
        let place = Place::of(text, at);
        if place.is_refused() {
            return false;
        }
        let has_rival = || !place.is_named() && place.has_rival(shape, right, task);
        match shape {
            Shape::Code => (is_short || place.is_at_an_end) && !has_rival(),
            _ if is_short => true,
            _ if !place.is_at_an_end => false,
            // In German, every noun is capitalised.
            Shape::Name if task.language == "de" => place.is_giving(),
            Shape::Name | Shape::Capitals => !has_rival(),
            Shape::Plain => place.is_giving(),
        }
    })
}

/// The positions of a value; `20 MiB` is also `20MiB`.
fn occurrences(text: &str, right: &str) -> Vec<Range<usize>> {
    let (said, meant) = (spans(text), words(right));
    let squeezed = |text: &str| text.split_whitespace().collect::<String>().to_lowercase();
    let right = squeezed(right);
    let mut found = Vec::new();
    for first in 0..said.len() {
        for n_words in 1..=meant.len() + 2 {
            let Some(window) = said.get(first..first + n_words) else { break };
            let (Some(begin), Some(end)) = (window.first(), window.last()) else { break };
            let at = begin.start..end.end;
            let raw = text.get(at.clone()).unwrap_or_default();
            if (words(raw) == meant || squeezed(raw) == right) && is_all_of_a_name(text, &at) {
                found.push(at);
            }
        }
    }
    found
}

/// Whether this position is not inside a longer identifier: `num_cpus` is no part of
/// `num_cpus_max`, but one of `just.num_cpus`.
fn is_all_of_a_name(text: &str, at: &Range<usize>) -> bool {
    let (before, after) = (text.get(..at.start).unwrap_or_default(), text.get(at.end..).unwrap_or_default());
    let goes_on = |chars: &mut dyn Iterator<Item = char>, marks: &[char]| {
        chars.next().is_some_and(|c| marks.contains(&c)) && chars.next().is_some_and(char::is_alphanumeric)
    };
    !goes_on(&mut before.chars().rev(), &['_', '/', '-'])
        && !goes_on(&mut after.chars(), &['_', '/', '-', '.'])
}

/// The form of a value, to recognise others like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `num_cpus`, `HeroDevs`, `/news.html`.
    Code,
    /// `TERM`.
    Capitals,
    /// `Siddhant Goel`.
    Name,
    /// Anything else.
    Plain,
}

impl Shape {
    pub(super) fn of(value: &str) -> Self {
        let tokens = || TOKEN.find_iter(value).map(|found| found.as_str());
        if tokens().any(is_code) || value.contains(" -") {
            Self::Code
        } else if tokens().next().is_some_and(is_capitals) {
            Self::Capitals
        } else if value.starts_with(char::is_uppercase) {
            Self::Name
        } else {
            Self::Plain
        }
    }
}

fn is_code(token: &str) -> bool {
    let has_mark = token.contains(['_', '/', '.', '$']) || token.contains(|c: char| c.is_ascii_digit());
    let pairs = || token.chars().zip(token.chars().skip(1));
    let has_hump = pairs().any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    token.contains(char::is_alphabetic) && ((has_mark && token.len() > 3) || has_hump)
}

fn is_capitals(token: &str) -> bool {
    token.len() > 1 && token.chars().all(char::is_uppercase)
}

pub(super) fn is_file(token: &str) -> bool {
    token.contains('/') || FILE_ENDINGS.iter().any(|ending| token.ends_with(ending))
}

/// A value in its sentence.
struct Place<'a> {
    before: &'a str,
    after: &'a str,
    /// At the beginning or the end of the reply.
    is_at_an_end: bool,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, at: Range<usize>) -> Self {
        let all = sentences(text);
        let idx_of =
            |position: usize| all.iter().position(|sentence| sentence.end > position).unwrap_or(all.len());
        let (first, last) = (idx_of(at.start), idx_of(at.end.saturating_sub(1)));
        let begin = all.get(first).map_or(0, |sentence| sentence.start);
        let end = all.get(last).map_or(text.len(), |sentence| sentence.end);
        let before = text.get(begin.min(at.start)..at.start).unwrap_or_default();
        // The `queues.` of `queues.QueueEmpty` belongs to the value.
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        Self {
            before: if before.ends_with('.') { before.trim_end_matches(is_part) } else { before },
            after: text.get(at.end..end.max(at.end)).unwrap_or_default(),
            is_at_an_end: first < SENTENCES || last + SENTENCES >= all.len(),
        }
    }

    /// "not X", "X or Y".
    fn is_refused(&self) -> bool {
        let (before, after) = (words(self.before), words(self.after));
        let is_in = |word: &String, list: &[&str]| list.contains(&word.as_str());
        before.iter().rev().take(2).any(|word| is_in(word, REFUSALS))
            || before.last().is_some_and(|word| is_in(word, ALTERNATIVES))
            || after.first().is_some_and(|word| is_in(word, ALTERNATIVES))
    }

    /// Whether the value is set off, is the first or last of its sentence, or follows "is".
    fn is_giving(&self) -> bool {
        let is_set_off = self.before.ends_with(['`', '*', '"', '“', '„', '«', '「'])
            || self.before.trim_end().ends_with(':');
        is_set_off || words(self.after).is_empty() || self.follows(GIVING) || self.follows(BY)
    }

    /// Whether the value is the first of its sentence or follows "is", and no list follows it.
    fn is_named(&self) -> bool {
        let after = self.after.trim_start_matches(['`', '*', '"', '(', ')', ' ']);
        let has_more = after.starts_with([',', '/', '、', '&'])
            || words(after).first().is_some_and(|word| AND.contains(&word.as_str()));
        !has_more && self.follows(GIVING)
    }

    /// Whether the value follows one of these words, or nothing.
    fn follows(&self, list: &[&str]) -> bool {
        words(self.before).last().is_none_or(|word| list.contains(&word.as_str()))
    }

    /// Whether the sentence has another value of that form that is not in the question.
    fn has_rival(&self, shape: Shape, right: &str, task: &Task) -> bool {
        let padded = |text: &str| format!(" {} ", words(text).join(" "));
        let known: Vec<String> = [&task.question]
            .into_iter()
            .chain(&task.answer)
            .chain(&task.accept)
            .map(|text| padded(text))
            .collect();
        let is_known = |text: &str| known.iter().any(|known| known.contains(&padded(text)));
        let is_like_it = |token: &str| match shape {
            Shape::Code => is_code(token) && (is_file(right) || !is_file(token)),
            Shape::Capitals => is_capitals(token),
            Shape::Name => token.starts_with(char::is_uppercase) && !is_capitals(token),
            Shape::Plain => false,
        };
        let is_rival = |token: &&str| is_like_it(token) && !is_known(token);
        // The first word of a sentence is capitalised anyway, and what touches the value belongs to it.
        let has_one = |text: &'a str, is_skipped: fn(&str, &Range<usize>) -> bool| {
            let tokens = TOKEN.find_iter(text).filter(|found| !is_skipped(text, &found.range()));
            let quoted =
                QUOTED.captures_iter(text).filter_map(|found| found.get(1)).map(|found| found.as_str());
            let quoted = quoted.filter(|text| shape == Shape::Code && !is_known(text) && !is_file(text));
            tokens.map(|found| found.as_str()).filter(is_rival).chain(quoted).next().is_some()
        };
        let touches_end = |text: &str, at: &Range<usize>| {
            at.end == text.trim_end().len() || words(text.get(..at.start).unwrap_or_default()).is_empty()
        };
        let touches_begin = |text: &str, at: &Range<usize>| at.start == text.len() - text.trim_start().len();
        match shape {
            Shape::Name => has_one(self.before, touches_end) || has_one(self.after, touches_begin),
            Shape::Code | Shape::Capitals | Shape::Plain => {
                has_one(self.before, |_, _| false) || has_one(self.after, |_, _| false)
            }
        }
    }
}
