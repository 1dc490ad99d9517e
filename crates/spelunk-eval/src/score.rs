//! Scoring: compares an answer in prose with the right one. If the answer is marked (`ANSWER: …`,
//! `<answer>…`), only the marked part counts; if it is on its own line, only that line; otherwise the prose
//! is parsed as far as possible without guessing. How the question asked for the answer does not matter.

mod denial;
mod notation;
mod read;
mod set;
mod value;

use std::collections::BTreeSet;

use crate::{Scoring, Task};
use denial::{denies, offers};
use notation::{numbers, without_places};
use read::{ExtractedAnswer, pairs, paths, words};
use set::items;
use value::exact;

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
    /// Whether the answer says that the text does not contain it, and offers nothing instead.
    pub is_denial: bool,
}

/// The score factor per unit of distance from the right number.
const STEP: f64 = 0.75;

/// Scores an answer: the best over all right ones.
pub fn score(task: &Task, answer: &str) -> Scored {
    let given = ExtractedAnswer::of(answer);
    let denies = |text: &str| denies(text, &task.question);
    let is_denial = denies(given.value()) || (!offers(given.value(), &task.question) && denies(&given.line));
    let missing = Scored { score: 0.0, form: Form::Missing, off: None, is_denial };
    let all = task.answer.first().into_iter().chain(&task.accept);
    let scored = |score: Option<f64>| score.map(|score| Scored { score, form: given.form, ..missing });
    let scored = match &task.scoring {
        Scoring::Exact => scored(all.filter_map(|right| exact(&given, right, task)).reduce(f64::max)),
        Scoring::Number => {
            let best = |a: Scored, b: Scored| if b.score > a.score { b } else { a };
            let all = all.filter_map(|right| number(&given, right, task));
            all.map(|(score, off)| Scored { score, form: given.form, off: Some(off), is_denial }).reduce(best)
        }
        Scoring::Choice { among } => {
            let first = task.answer.first();
            let others = || among.iter().filter(|choice| Some(*choice) != first);
            let all =
                all.filter_map(|right| choice(&given, right, &others().chain([right]).collect::<Vec<_>>()));
            scored(all.reduce(f64::max))
        }
        Scoring::Set => {
            let found = set(&given, task);
            let meant = task.answer.iter().map(|item| words(item).join(" ")).collect();
            scored((!found.is_empty()).then(|| overlap(&found, &meant)))
        }
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
        Scoring::Absent => scored((!given.line.is_empty()).then(|| f64::from(u8::from(is_denial)))),
    };
    // A marked "it is not there" is an answer, though a wrong one.
    let is_marked = given.form == Form::Asked && denies(&given.line);
    let form = if is_marked { Form::Asked } else { Form::Missing };
    scored.unwrap_or(Scored { form, ..missing })
}

/// The score of a number and its relative error. Numbers from the question are skipped if there are others.
fn number(given: &ExtractedAnswer, right: &str, task: &Task) -> Option<(f64, f64)> {
    let right: f64 = right.trim().parse().ok()?;
    let is_same = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let asked: Vec<f64> = numbers(&task.question, &task.language).into_iter().flatten().collect();
    let asked = if asked.iter().any(|number| is_same(*number, right)) { Vec::new() } else { asked };
    let is_new = |readings: &Vec<f64>| {
        !readings.iter().any(|number| asked.iter().any(|asked| is_same(*asked, *number)))
    };
    let text = match given.form {
        Form::Asked => &given.line,
        Form::Prose | Form::Missing => given.alone.as_ref().unwrap_or(&given.rest),
    };
    let text = without_places(text, &task.question);
    // The last line with a number, and the first number in it.
    let lines = || text.lines().rev().map(|line| numbers(line, &task.language));
    let new = lines().find_map(|line| line.into_iter().find(is_new));
    let said = new.or_else(|| lines().find_map(|line| line.into_iter().next()))?;
    let steps = said.into_iter().map(|said| (said - right).abs()).reduce(f64::min)?;
    let is_count = task.tolerance == 0.0 && right.fract() == 0.0;
    let score = match steps {
        steps if steps <= task.tolerance + 1e-9 => 1.0,
        steps if is_count => STEP.powf(steps),
        _ => 0.0,
    };
    Some((score, steps / right.abs().max(1.0)))
}

fn choice(given: &ExtractedAnswer, right: &str, among: &[&String]) -> Option<f64> {
    let said = words(given.value());
    let is_named = |choice: &str| said.windows(1).any(|word| word == words(choice).as_slice());
    let named: Vec<&&String> = among.iter().filter(|choice| is_named(choice)).collect();
    match named.as_slice() {
        [] if given.form == Form::Asked => Some(0.0),
        [] => None,
        [one] => Some(f64::from(u8::from(one.as_str() == right))),
        [..] => Some(0.0),
    }
}

/// The items of a list; if the right ones are numbers, only numbers of that length.
fn set(given: &ExtractedAnswer, task: &Task) -> BTreeSet<String> {
    let is_digits = |item: &String| item.chars().all(|c| c.is_ascii_digit());
    let len = task.answer.first().map_or(0, String::len);
    if task.answer.iter().all(is_digits) {
        words(&given.rest).into_iter().filter(|word| word.len() == len && is_digits(word)).collect()
    } else {
        items(given, task)
    }
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
