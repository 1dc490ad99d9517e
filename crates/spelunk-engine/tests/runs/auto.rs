//! `auto` over text: which calls it makes before a question for a fact is answered.

use std::sync::Arc;

use spelunk_testkit::{FaultDisk, on, status};
use spelunk_types::{ErrorCode, Event, EventKind, Strategy};

use super::NOTE;
use crate::stage::{Stage, engine_on, events};

const ENGLISH: &str = "What is the magic number?";
const GERMAN: &str = "Wie ist die magische Zahl?";

/// The answer when the model gives these replies in turn, and the strategy that was chosen.
async fn answer(reader_tokens_max: u64, question: &str, replies: &[&str]) -> (String, Vec<Strategy>) {
    let rules = replies.iter().enumerate().map(|(idx, reply)| on(&format!("0#{idx}")).reply(*reply));
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = Strategy::Auto;
    stage.limits.reader_tokens_max = reader_tokens_max;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, question).await;
    assert_eq!(stage.server.requests().len(), replies.len());
    let chosen = events(&engine, &result.run).into_iter().filter_map(|event| {
        if let EventKind::StrategyChosen { strategy, .. } = event.kind { Some(strategy) } else { None }
    });
    (result.answer.unwrap().text, chosen.collect())
}

#[tokio::test]
async fn a_small_model_answers_from_the_passages_nearest_to_the_question() {
    let expected = ("42".to_owned(), vec![Strategy::Direct]);
    assert_eq!(answer(1_000, ENGLISH, &["fact", "42"]).await, expected);
    let twice = ["overview", "Which number is magic?", "fact", "42"];
    assert_eq!(answer(1_000, ENGLISH, &twice).await, expected);
}

#[tokio::test]
async fn a_small_model_proposes_searches_if_the_text_is_in_another_language() {
    let replies = ["What is the magic number?\nmagic number", "fact", "42"];
    assert_eq!(answer(1_000, GERMAN, &replies).await, ("42".to_owned(), vec![Strategy::Search]));
}

#[tokio::test]
async fn a_large_model_proposes_searches() {
    let replies = ["magic number", "fact", "The magic number is 42."];
    assert_eq!(answer(0, ENGLISH, &replies).await.1, [Strategy::Search]);
}

#[tokio::test]
async fn a_wrong_key_ends_the_run_before_a_strategy_is_chosen() {
    for reader_tokens_max in [0, 1_000] {
        let mut stage = Stage::new(&NOTE, [on("0#0").always(status(401))]);
        stage.strategy = Strategy::Auto;
        stage.limits.reader_tokens_max = reader_tokens_max;
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let result = stage.ask(&engine, ENGLISH).await;
        assert_eq!(result.stopped_by(), Some(ErrorCode::ModelUnauthorized));
        assert_eq!(stage.server.requests().len(), 1);
        let is_choice = |event: &Event| matches!(event.kind, EventKind::StrategyChosen { .. });
        assert!(!events(&engine, &result.run).iter().any(is_choice));
    }
}
