//! Scoring: compares an answer in prose with the right one. If the answer is marked (`ANSWER: …`, `<answer>…`), only
//! the marked part counts; if it is on its own line, that line; otherwise the prose is parsed as far as possible
//! without guessing. How the question asked for it does not matter.

mod denial;
mod read;

use std::collections::BTreeSet;

use crate::{Scoring, Task};
use denial::{denies, offers};
use read::{ExtractedAnswer, numbers, pairs, paths, words};

/// How an answer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Marked as the answer.
    Asked,
    /// In prose, from which it could be extracted.
    Prose,
    /// Not at all, or unreadable.
    Missing,
}

/// A score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// From 0 to 1.
    pub score: f64,
    /// How the answer was given.
    pub form: Form,
    /// The relative error of a number.
    pub off: Option<f64>,
}

/// The score factor per unit of distance from the right number.
const STEP: f64 = 0.75;

/// Scores an answer.
pub fn score(task: &Task, answer: &str) -> Scored {
    let given = ExtractedAnswer::of(answer);
    let missing = Scored { score: 0.0, form: Form::Missing, off: None };
    let right = task.answer.first().map(String::as_str).unwrap_or_default();
    let scored = |score: Option<f64>| score.map(|score| Scored { score, form: given.form, off: None });
    let scored = match &task.scoring {
        Scoring::Exact => scored(exact(&given, right, &task.question)),
        Scoring::Number => number(&given, right),
        Scoring::Choice { among } => scored(choice(&given, right, among)),
        Scoring::Set => scored(set(&given, &task.answer)),
        Scoring::Pairs => {
            let found = pairs(&given.rest);
            scored(
                (!found.is_empty())
                    .then(|| overlap(&found, &task.answer.iter().flat_map(|pair| pairs(pair)).collect())),
            )
        }
        Scoring::Paths => {
            let found = paths(&given.rest);
            scored((!found.is_empty()).then(|| overlap_of_paths(&found, &task.answer)))
        }
        Scoring::Absent => {
            let denies = |text: &str| denies(text, &task.question);
            let is_denial =
                denies(given.value()) || (!offers(given.value(), &task.question) && denies(&given.line));
            scored((!given.line.is_empty()).then(|| f64::from(u8::from(is_denial))))
        }
    };
    // Marking "it is not there" as the answer is an answer, though a wrong one.
    let denied = Scored { form: Form::Asked, ..missing };
    let has_denied = given.form == Form::Asked && denies(&given.line, &task.question);
    scored.unwrap_or(if has_denied { denied } else { missing })
}

/// The same words, and no other candidate of the same form.
fn exact(given: &ExtractedAnswer, right: &str, question: &str) -> Option<f64> {
    let (said, meant) = (words(given.value()), words(right));
    if said.is_empty() {
        return None;
    }
    let is_number = meant.iter().all(|word| word.chars().all(|c| c.is_ascii_digit()));
    if is_number {
        let of_that_length =
            |word: &&String| word.len() == right.len() && word.chars().all(|c| c.is_ascii_digit());
        let candidates: BTreeSet<&String> = said.iter().filter(of_that_length).collect();
        if candidates.is_empty() && given.form == Form::Prose && !denies(&given.line, question) {
            return None;
        }
        return Some(f64::from(u8::from(
            candidates.len() == 1 && candidates.iter().all(|word| **word == right),
        )));
    }
    let is_within = said.windows(meant.len().max(1)).any(|window| *window == *meant);
    Some(f64::from(u8::from(is_within && said.len() <= meant.len() + 6)))
}

fn number(given: &ExtractedAnswer, right: &str) -> Option<Scored> {
    let right: f64 = right.trim().parse().ok()?;
    let said = match given.form {
        Form::Asked => numbers(&given.line).first().copied()?,
        Form::Prose | Form::Missing if given.alone.is_some() => numbers(given.value()).first().copied()?,
        // The last line with a number, and the first number in it.
        Form::Prose | Form::Missing => {
            given.rest.lines().rev().find_map(|line| numbers(line).first().copied())?
        }
    };
    let steps = (said - right).abs();
    let off = steps / right.abs().max(1.0);
    Some(Scored { score: STEP.powf(steps), form: given.form, off: Some(off) })
}

fn choice(given: &ExtractedAnswer, right: &str, among: &[String]) -> Option<f64> {
    let said = words(given.value());
    let named: Vec<&String> =
        among.iter().filter(|choice| said.windows(1).any(|word| word == words(choice).as_slice())).collect();
    match named.as_slice() {
        [] if given.form == Form::Asked => Some(0.0),
        [] => None,
        [one] => Some(f64::from(u8::from(one.as_str() == right))),
        [..] => Some(0.0),
    }
}

fn set(given: &ExtractedAnswer, right: &[String]) -> Option<f64> {
    let meant: BTreeSet<String> = right.iter().map(|item| words(item).join(" ")).collect();
    let are_numbers = meant.iter().all(|item| item.chars().all(|c| c.is_ascii_digit()));
    let found: BTreeSet<String> = if are_numbers {
        let len = meant.first().map_or(0, String::len);
        let is_one = |word: &String| word.len() == len && word.chars().all(|c| c.is_ascii_digit());
        words(&given.rest).into_iter().filter(is_one).collect()
    } else {
        given
            .line
            .split([',', ';'])
            .map(|item| words(item).join(" "))
            .filter(|item| !item.is_empty())
            .collect()
    };
    (!found.is_empty()).then(|| overlap(&found, &meant))
}

/// The harmonic mean of precision and recall.
fn overlap<T: Ord>(found: &BTreeSet<T>, meant: &BTreeSet<T>) -> f64 {
    harmonic(found.intersection(meant).count(), found.len(), meant.len())
}

fn overlap_of_paths(found: &BTreeSet<String>, meant: &[String]) -> f64 {
    let is_same = |found: &str, meant: &str| found == meant || found.ends_with(&format!("/{meant}"));
    let n_both = meant.iter().filter(|path| found.iter().any(|found| is_same(found, path))).count();
    harmonic(n_both, found.len(), meant.len())
}

#[expect(clippy::cast_precision_loss, reason = "answers have a few items")]
fn harmonic(n_both: usize, n_found: usize, n_meant: usize) -> f64 {
    match n_found + n_meant {
        0 => 0.0,
        sum => 2.0 * n_both.min(n_found) as f64 / sum as f64,
    }
}

#[cfg(test)]
mod tests;
