//! What is asked, apart from the form in which the answer is wanted: a small model that is told the form of the answer
//! together with the question answers at once, whatever else it was told to do.

use super::trail::sentences;

/// How sentences begin that speak of the reply.
const ABOUT_REPLY: &[&str] = &[
    "end your reply",
    "end your answer",
    "reply with",
    "reply in",
    "answer with",
    "answer in",
    "give your answer",
    "give the answer",
    "write your answer",
    "format your",
    "format the answer",
    "if the text does not",
    "if it is not said",
    "if it is not there",
];

/// The question without what it says about the form of the reply; all of it if it says nothing else.
pub(super) fn core(question: &str) -> String {
    let is_about_reply = |sentence: &str| {
        let sentence = sentence.to_lowercase();
        !sentence.ends_with('?') && ABOUT_REPLY.iter().any(|begin| sentence.starts_with(begin))
    };
    let lines = question.lines().map(|line| {
        let kept = sentences(line).filter(|sentence| !is_about_reply(sentence));
        kept.collect::<Vec<_>>().join(" ")
    });
    let core = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if core.is_empty() { question.trim().to_owned() } else { core }
}

/// The sentences that ask; all of them where none has a question mark.
pub(super) fn questions(core: &str) -> String {
    let all: Vec<&str> = core.lines().flat_map(sentences).collect();
    let asking: Vec<&str> = all.iter().copied().filter(|sentence| sentence.ends_with('?')).collect();
    if asking.is_empty() { all.join(" ") } else { asking.join(" ") }
}

/// The sentences that tell: what is meant by the words of the question.
pub(super) fn told(core: &str) -> String {
    let all = core.lines().flat_map(sentences);
    all.filter(|sentence| !sentence.ends_with('?')).collect::<Vec<_>>().join(" ")
}

/// A value, with words about it, in the form of the line that the question asks for: `ANSWER: value`.
pub(super) fn in_form(question: &str, value: &str, words: &str) -> String {
    match label(question) {
        Some(label) => format!("{words}\n\n{label}: {value}"),
        None => format!("{value}\n\n{words}"),
    }
}

/// `ANSWER` of a question that asks for "a line of the form `ANSWER: number`".
fn label(question: &str) -> Option<&str> {
    let spans = question.split('`').skip(1).step_by(2);
    let mut labels = spans.filter_map(|span| span.split_once(':')).map(|(label, _)| label);
    labels.find(|label| !label.is_empty() && label.chars().all(|c| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_reply_is_no_part_of_the_question() {
        let cases = [
            ("How many? End your reply with a line of the form `ANSWER: number`.", "How many?"),
            (
                "Which order is it? Give its number from the column order. Answer in German.",
                "Which order is it? Give its number from the column order.",
            ),
            ("Who?\nIf the text does not say it, the value is `absent`.\n", "Who?"),
            ("Reply with the sum of v1.5 and more.", "Reply with the sum of v1.5 and more."),
            ("If it is not open, is it shut?", "If it is not open, is it shut?"),
            ("Answer with a number: how many? It is 2024.", "Answer with a number: how many? It is 2024."),
            ("", ""),
        ];
        for (question, expected) in cases {
            assert_eq!(core(question), expected, "{question}");
        }
    }

    #[test]
    fn what_asks_is_told_from_what_tells() {
        let core = "Each is good (or fair) or bad. How many are bad?\nAnd why?";
        assert_eq!(
            (questions(core), told(core)),
            ("How many are bad? And why?".into(), "Each is good (or fair) or bad.".into())
        );
        assert_eq!((questions("Count them."), told("Count them?")), ("Count them.".into(), String::new()));
    }

    #[test]
    fn an_answer_has_the_line_that_was_asked_for() {
        let asked = "How many `x: y`? End your reply with a line of the form `ANSWER: number`.";
        assert_eq!(in_form(asked, "7", "Counted."), "Counted.\n\nANSWER: 7");
        assert_eq!(in_form("How many `x: y` and `:`?", "7", "Counted."), "7\n\nCounted.");
    }
}
