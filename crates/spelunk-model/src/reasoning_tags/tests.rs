//! Reasoning and answer are separated the same way however a reply is split.

use proptest::prelude::*;

use super::*;

/// The reasoning and the answer of a reply that arrives in these pieces.
fn read(pieces: &[String]) -> (String, String) {
    let mut tags = ReasoningTags::default();
    let mut deltas: Vec<ModelDelta> = pieces.iter().flat_map(|piece| tags.push(piece.clone())).collect();
    deltas.extend(tags.finish());
    let (mut reasoning, mut answer) = (String::new(), String::new());
    for delta in deltas {
        match delta {
            ModelDelta::Reasoning(text) => reasoning += &text,
            ModelDelta::Text(text) => answer += &text,
            ModelDelta::ToolCall(_) | ModelDelta::Certainty(_) | ModelDelta::Done { .. } => {
                panic!("only text was pushed")
            }
        }
    }
    (reasoning, answer)
}

fn check(text: &str, reasoning: &str, answer: &str) {
    assert_eq!(read(&[text.to_owned()]), (reasoning.to_owned(), answer.to_owned()), "{text}");
    let characters: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(read(&characters), (reasoning.to_owned(), answer.to_owned()), "{text} by characters");
}

#[test]
fn tags_at_the_beginning_hold_the_reasoning() {
    check("<think>\nHm.\n</think>\n\nYes.", "\nHm.\n", "Yes.");
    check("\n <think></think>Yes.", "", "Yes.");
    check("<think>a < b </thin k></think>c", "a < b </thin k>", "c");
    check("<think>never closed </th", "never closed </th", "");
    check("<think>x</think> \n", "x", "");
}

#[test]
fn tags_elsewhere_are_text() {
    check("", "", "");
    check("  <thin", "", "  <thin");
    let blank = " ".repeat(1001);
    check(&format!("{blank}<think>a"), "", &format!("{blank}<think>a"));
    check(" <thinking>", "", " <thinking>");
    check("Yes. <think>no</think>", "", "Yes. <think>no</think>");
    check("<think>a</think>b <think>c</think>", "a", "b <think>c</think>");
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same(pieces in prop::collection::vec("(<|t|<think>|</think>|</|k>| |\n|a|ä){0,4}", 0..12)) {
        let whole = pieces.concat();
        prop_assert_eq!(read(&pieces), read(&[whole]));
    }
}
