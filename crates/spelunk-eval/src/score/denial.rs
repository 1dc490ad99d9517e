//! Denials: whether an answer states that the text does not contain it. Any plain statement of that counts, however the
//! question wanted it phrased; one that offers a value anyway does not.

use std::sync::LazyLock;

use regex::Regex;

use super::read::words;
use crate::pattern;

static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\babsent\b|(?:\bnot|n't) (?:\w+ly )?(?:in (?:the|this|these|there|it|any)\b|there\b|been ",
        r"|stated?\b|given?\b|mention|found\b|find\b|available|present|provide|specif|known\b|list|named?\b|record",
        r"|say|said\b|tell|hold|contain|include|appear|reveal|disclose|indicate|identif)",
        r"|\bno (?:\w+ )?(?:such|mention|information|record|answer|entry|statement|indication)\b|\bno registration",
        r"|\b(?:cannot|can't|could not|couldn't|unable to) (?:be )?(?:find|found|determined?|answered|say)\b",
        r"|\bnothing (?:\w+ ){1,5}(?:was|is) found\b",
        r"|\bnothing (?:was|is|in|says|about|tells|does|on)\b|\b(?:is|are|remains?) (?:silent|unknown|missing)\b",
    ))
});
/// A reply of a word or two.
static SHORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\W*(?:the value is )?(?:absent|none|unknown|n/?a|nothing|missing|not known)\W*$")
});
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\p{Lu}\p{Ll}+) (\p{Lu}\p{Ll}+)\b"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9]{6}\b"));

/// Capitalised words that begin a sentence and are not names.
const BEGINNINGS: &[&str] =
    &["the", "this", "these", "in", "at", "it", "no", "not", "a", "an", "according", "there"];

/// Whether a text denies. The first sentence that denies or offers something decides.
pub(super) fn denies(text: &str, question: &str) -> bool {
    let text = text.replace('’', "'");
    for sentence in sentences(&text) {
        let offered = offer(sentence, question);
        match denial(sentence) {
            // "Not Ada, and it is not said who" denies; "it is not said, but it is Ada" does not.
            Some(denied) => return offered.is_none_or(|offered| offered < denied),
            None if offered.is_some() => return false,
            None => {}
        }
    }
    false
}

/// Whether a text offers a value that may be meant as the answer.
pub(super) fn offers(text: &str, question: &str) -> bool {
    text.lines().any(|line| offer(line, question).is_some())
}

fn denial(sentence: &str) -> Option<usize> {
    if SHORT.is_match(sentence) { Some(0) } else { DENIAL.find(sentence).map(|found| found.start()) }
}

/// The last position in a sentence of a value that may be meant as the answer: a number of the expected form, or a
/// person.
fn offer(sentence: &str, question: &str) -> Option<usize> {
    let asked = words(question);
    let is_asked = |word: &str| asked.contains(&word.to_lowercase());
    let number = NUMBER.find_iter(sentence).filter(|found| !is_asked(found.as_str())).last();
    let names = NAME.captures_iter(sentence).filter(|found| {
        let is_plain = |idx: usize| {
            let word = found.get(idx).map_or("", |word| word.as_str());
            is_asked(word) || BEGINNINGS.contains(&word.to_lowercase().as_str())
        };
        !is_plain(1) && !is_plain(2)
    });
    let name = names.last().and_then(|found| found.get(0));
    number.map(|found| found.start()).max(name.map(|found| found.start()))
}

/// Sentences, without headings.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split_inclusive([';', '!', '?']).flat_map(|part| part.split(". ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = "Who has kept the pumping station at Uluness since the war?";

    #[test]
    fn a_plain_statement_is_enough() {
        let plain = [
            "The text does not say it.",
            "The text does not say it of the pumping station, only of the signal station.",
            "The text doesn't say who has kept the Pumping Station at Uluness.",
            "absent",
            "Unknown.",
            "n/a",
            "None",
            "Not found in these files.",
            "It is not explicitly stated.",
            "There is no mention of it.",
            "The documents are silent on that.",
            "Nothing in the text tells.",
            "Nothing that answers the question was found in what was read.",
            "I couldn’t find it.",
            "This cannot be determined from the text.",
            "The text names Olga Berg for the signal station, but it does not say who keeps the pumping station.",
            "The text does not mention it. It gives 111111 for another one.",
            "# Report\n\n## Summary\n\nThe documents do not contain this information.",
            "Nothing was found. These were looked for:\n\n- pump",
        ];
        for text in plain {
            assert!(denies(text, QUESTION), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_made_up_is_none() {
        let made_up = [
            "",
            "835407",
            "Olga Berg",
            "Olga Berg has kept it. Nothing else is known.",
            "The number is 835407. It is not in line 3.",
            "It is not stated explicitly, but it was Olga Berg.",
            "Nothing is more certain: it is 835407.",
            "Nothing is more certain than Olga Berg.",
            "absent, or 835407",
            "There is no doubt that it was she.",
            "I do not know much, so perhaps.",
        ];
        for text in made_up {
            assert!(!denies(text, QUESTION), "{text}");
        }
    }
}
