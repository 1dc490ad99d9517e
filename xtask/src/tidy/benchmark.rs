//! The engine must not know its exam: no phrase that our own tasks use may occur in its source or
//! prompts. A measured gain that depends on such a phrase is worthless.

use super::code::line_of;
use super::{Complaint, RepoFile};

const ENGINE: &str = "crates/spelunk-engine/src/";

/// How tasks ask for the format of an answer, literally.
const FORMS: &[&str] = &["ANSWER:", "<answer>"];
/// How tasks ask for an absent answer, and what they are about, in lower case.
const WORDS: &[&str] = &[
    "absent",
    "if the text does not",
    "end your reply with a line",
    "registration number",
    "pumping station",
    "signal station",
    "since the war",
    "the expedition to",
    "until before",
    "price_cents",
    "payment was declined",
];

pub(crate) fn check(file: &RepoFile) -> Vec<Complaint> {
    if !file.path.starts_with(ENGINE) {
        return Vec::new();
    }
    let lower = file.text.to_ascii_lowercase();
    let forms = FORMS.iter().flat_map(|word| file.text.match_indices(word));
    let words = WORDS.iter().flat_map(|word| lower.match_indices(word));
    let complain = |(at, word): (usize, &str)| {
        let message = format!("`{word}` is a word of our own benchmark: the engine must not know its exam");
        Complaint::at(&file.path, line_of(&file.text, at), message)
    };
    forms.chain(words).map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    #[test]
    fn words_of_the_benchmark_are_found_in_source_and_prompts() {
        let source = "let said = \"ANSWER: 7\";\n// answer: Answer\nif question.contains(\"Absent\") {}\n";
        assert_eq!(
            told(&check(&file("crates/spelunk-engine/src/strategy/a.rs", source))),
            [
                "1: `ANSWER:` is a word of our own benchmark: the engine must not know its exam",
                "3: `absent` is a word of our own benchmark: the engine must not know its exam",
            ]
        );
        let prompt = "Look.\n\nIf the text does not say it, say so.\n";
        assert_eq!(
            told(&check(&file("crates/spelunk-engine/src/prompts/a.md", prompt))),
            ["3: `if the text does not` is a word of our own benchmark: the engine must not know its exam"]
        );
    }

    #[test]
    fn other_places_may_speak_of_it() {
        for path in [
            "crates/spelunk-eval/src/generate.rs",
            "crates/spelunk-engine/tests/runs/a.rs",
            "docs/evaluation.md",
        ] {
            assert_eq!(check(&file(path, "ANSWER: absent")), []);
        }
        let plain = "The text does not say it. An answer: forty-two.\n";
        assert_eq!(check(&file("crates/spelunk-engine/src/a.rs", plain)), []);
    }
}
