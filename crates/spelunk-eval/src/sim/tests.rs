//! The simulated reader finds what is there, overlooks more in longer prompts, and is deterministic.

use spelunk_model::{Reply, collect};

use super::*;
use crate::sink::tests::MemorySink;
use crate::{Kind, Order, Task, generate, score};

const DIRECT: &str = "You answer a question from documents that you are given.";
const PERFECT: SimSettings = SimSettings {
    seed: 1,
    recall_permille: 1000,
    half_tokens: u64::MAX,
    mistake_permille: 0,
    slip_permille: 0,
    window_tokens: u64::MAX,
};

fn made(kind: Kind, variant: &str, tokens: u64) -> (Task, String) {
    let mut sink = MemorySink::default();
    let order = Order { kind, variant: Some(variant), tokens, seed: 5, tree: None };
    let task = generate(&order, &mut sink).unwrap();
    let mut text = String::new();
    for (path, content) in &sink.files {
        text.push_str(&format!("<document name=\"{path}\">\n"));
        for (idx, line) in content.lines().enumerate() {
            text.push_str(&format!("{}| {line}\n", idx + 1));
        }
        text.push_str("</document>\n");
    }
    (task, text)
}

fn asked(model: &SimModel, prompt: &Prompt) -> Result<Reply, ModelError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(collect(model.stream(prompt, &"0#0".parse().unwrap()), 1 << 20, |_| {}))
}

fn said(settings: SimSettings, system: &str, user: &str) -> String {
    asked(&SimModel::new(settings), &Prompt::single(system, user, 1000)).unwrap().text
}

#[test]
fn a_reader_who_overlooks_nothing_answers_every_question_of_ours() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Code) {
        for variant in kind.variants() {
            let (task, text) = made(kind, variant, 6000);
            let answer = said(PERFECT, DIRECT, &format!("{text}\n\nQuestion: {}\n", task.question));
            assert!(
                (score(&task, &answer).score - 1.0).abs() < 1e-9,
                "{}: {answer} {:?}",
                task.id,
                task.answer
            );
        }
    }
}

#[test]
fn more_is_overlooked_in_longer_prompts() {
    let settings = SimSettings::default();
    let noticed: Vec<u64> =
        [1000, 8000, 32_000, 60_000, 100_000].map(|tokens| settings.noticed_permille(tokens)).to_vec();
    assert_eq!(noticed, [998, 981, 777, 499, 264]);
    let (task, text) = made(Kind::Labels, "count-read", 100_000);
    let answer = said(settings, DIRECT, &format!("{text}\n\nQuestion: {}\n", task.question));
    let scored = score(&task, &answer);
    assert!(scored.off.is_some_and(|off| (0.6..0.9).contains(&off)), "{scored:?}");
}

#[test]
fn the_same_prompt_gets_the_same_reply_and_another_seed_another() {
    let (task, text) = made(Kind::Labels, "count-read", 40_000);
    let prompt = format!("{text}\n\nQuestion: {}\n", task.question);
    let settings = SimSettings { slip_permille: 0, ..SimSettings::default() };
    assert_eq!(said(settings, DIRECT, &prompt), said(settings, DIRECT, &prompt));
    assert_ne!(said(settings, DIRECT, &prompt), said(SimSettings { seed: 2, ..settings }, DIRECT, &prompt));
}

#[test]
fn it_plays_every_role() {
    let (task, text) = made(Kind::Labels, "count-easy", 1000);
    let question = format!("Question: {}\n", task.question);
    let n = &task.answer[0];
    let analyst = "You are an analyst. Reply with one JSON object of this form";
    assert!(said(PERFECT, analyst, &format!("{text}\n{question}")).contains(&format!("\"count\":{n}")));
    let notes = format!(
        "About a: delivery=3\nThe counts of all parts add up to {n}.\nAbout b: delivery=4\n\n{question}"
    );
    assert!(said(PERFECT, "You combine what analysts found", &notes).ends_with(&format!("ANSWER: {n}")));
    let search = "Somebody asks a question about a body of text that you cannot see.";
    assert!(!said(PERFECT, search, &question).contains("ANSWER"));
    let repl = "You answer a question about text that is too long to read at once.";
    assert!(said(PERFECT, repl, &question).starts_with("```repl\nquestion = "));
    assert!(said(PERFECT, "", &format!("JSON please. {question}\n{text}")).starts_with("{\"counts\":{"));
    assert_eq!(said(PERFECT, DIRECT, "Question: What is love?"), "I do not understand the question.");
}

#[test]
fn a_prompt_beyond_its_window_is_refused() {
    let model = SimModel::new(SimSettings { window_tokens: 10, ..PERFECT });
    let refused = asked(&model, &Prompt::single("", "x".repeat(100), 10)).unwrap_err();
    assert_eq!(refused.to_string(), "the prompt exceeds the model's context window: 25 tokens of 10");
}
