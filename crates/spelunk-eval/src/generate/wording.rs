//! Wording: how a question asks for the form of its answer, and what it says about a missing
//! answer. People phrase that in many ways or not at all, so every task draws its own wording. An
//! engine that knew these phrases would know its exam: `cargo xtask tidy` keeps them out of it.

use crate::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Its name: a number, a path.
    pub(super) noun: &'static str,
    /// Its notation: `path/of/file, path/of/file`.
    pub(super) pattern: &'static str,
    /// Whether the question says what to reply if the text does not contain the answer.
    pub(super) may_be_missing: bool,
}

impl Shape {
    pub(super) const NUMBER: Self = Self::of("number", "number");

    pub(super) const fn of(noun: &'static str, pattern: &'static str) -> Self {
        Self { noun, pattern, may_be_missing: false }
    }

    /// The same for an answer that may be missing.
    pub(super) const fn or_missing(self) -> Self {
        Self { may_be_missing: true, ..self }
    }
}

/// Introductions of a question; usually empty.
const BEFORE: &[&str] = &[
    "",
    "",
    "",
    "I have a question about these files.",
    "Please answer from the text alone.",
    "I need this for a report.",
];

/// How the answer is requested. `{pattern}` and `{noun}` are filled in.
const FORMS: &[&str] = &[
    "",
    "End your reply with a line of the form `ANSWER: {pattern}`.",
    "Put the result at the very end, as `Result: {pattern}`.",
    "Close with `Final answer = {pattern}`.",
    "Give me just the {noun}, please, without an explanation.",
    "Only the {noun} is of interest.",
    "Write it as `<answer>{pattern}</answer>`.",
    "A program reads your reply: let it end with `{\"answer\": \"{pattern}\"}`.",
    "Explain briefly how you know, then write the {noun} on a line of its own.",
];

/// Instructions for a missing answer.
const MISSING: &[&str] = &[
    "",
    "If the text does not say it, the value is `absent`.",
    "Write `n/a` if it cannot be found.",
    "Should it not be in there, tell me so.",
    "Reply `unknown` where the files are silent.",
    "If there is no such entry, I want to hear that, and no guess.",
    "No guesses, please: when nothing tells, say that nothing does.",
];

pub(super) fn worded(rng: &mut Rng, question: &str, shape: Shape) -> String {
    let form = rng.pick(FORMS).replace("{pattern}", shape.pattern).replace("{noun}", shape.noun);
    let missing = if shape.may_be_missing { *rng.pick(MISSING) } else { "" };
    let mut parts = [*rng.pick(BEFORE), question, missing, form.as_str()];
    if rng.happens(300) {
        parts.swap(2, 3);
    }
    // Some people state the form before the question.
    if rng.happens(150) {
        parts.swap(1, 3);
    }
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_question_is_asked_in_many_forms_and_keeps_its_words() {
        let shape = Shape::of("year", "value").or_missing();
        let worded = |seed: u64| worded(&mut Rng::of(&[&seed.to_string()]), "When was it?", shape);
        let all: BTreeSet<String> = (0..400).map(worded).collect();
        assert!(all.len() > 150, "{}", all.len());
        assert!(all.iter().all(|question| question.contains("When was it?")), "{all:?}");
        assert!(all.contains("When was it?"), "some say nothing else");
        assert!(!all.iter().any(|question| question.contains("{noun}") || question.contains("{pattern}")));
        assert_eq!(worded(7), worded(7));
    }

    #[test]
    fn what_is_surely_there_is_not_said_to_be_missing() {
        for seed in 0..200_u64 {
            let question = worded(&mut Rng::of(&[&seed.to_string()]), "How many?", Shape::NUMBER);
            assert!(
                MISSING.iter().all(|missing| missing.is_empty() || !question.contains(missing)),
                "{question}"
            );
        }
    }
}
