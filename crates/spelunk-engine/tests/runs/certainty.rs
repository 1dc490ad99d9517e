//! How certain a small model was of its reply: what it doubts is not given as an answer.

use std::sync::Arc;

use spelunk_testkit::{FaultDisk, Rule, on, status};
use spelunk_types::{Grounding, Strategy};

use super::NOTE;
use crate::stage::{Stage, engine_on, events, view};

const NOT_SAID: &str = "The documents do not say.";

/// The answer to one question, and for each request whether it asked for certainty.
async fn answer(strategy: Strategy, reader_tokens_max: u64, rules: Vec<Rule>) -> (String, Vec<bool>) {
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = strategy;
    stage.limits.reader_tokens_max = reader_tokens_max;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "What is the magic number?").await;
    let asked = stage.server.requests().iter().map(|request| request.json()["logprobs"] == true).collect();
    (result.answer.unwrap().text, asked)
}

#[tokio::test]
async fn what_a_small_model_doubts_is_not_given() {
    let doubted = on("0#0").reply("42").certainty(0.3);
    assert_eq!(answer(Strategy::Direct, 1_000, vec![doubted]).await, (NOT_SAID.to_owned(), vec![true]));
    let believed = on("0#0").reply("42").certainty(0.4);
    assert_eq!(answer(Strategy::Direct, 1_000, vec![believed]).await, ("42".to_owned(), vec![true]));
}

#[tokio::test]
async fn an_answer_that_a_small_model_is_little_certain_of_cites_nothing() {
    let related =
        ("the model is not certain of this answer".to_owned(), "check it; related: a.md:1".to_owned());
    for (certainty, expected) in
        [(0.5, (Grounding::Uncited, vec![related])), (0.6, (Grounding::Cited, vec![]))]
    {
        let mut stage = Stage::new(&NOTE, [on("0#0").reply("42").certainty(certainty)]);
        stage.strategy = Strategy::Direct;
        stage.limits.reader_tokens_max = 1_000;
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let result = stage.ask(&engine, "What is the magic number?").await;
        let warnings = view(&events(&engine, &result.run)).warnings;
        let answer = result.answer.unwrap();
        assert_eq!(answer.text, "42");
        assert_eq!(answer.citations.is_empty(), answer.grounding == Grounding::Uncited);
        assert_eq!((answer.grounding, warnings), expected, "{certainty}");
    }
}

#[tokio::test]
async fn a_large_model_is_not_asked_for_its_certainty() {
    let rule = on("0#0").reply("42").certainty(0.1);
    assert_eq!(answer(Strategy::Direct, 0, vec![rule]).await, ("42".to_owned(), vec![false]));
}

#[tokio::test]
async fn a_server_that_reports_none_is_believed() {
    let silent = on("0#0").reply("42");
    assert_eq!(answer(Strategy::Direct, 1_000, vec![silent]).await, ("42".to_owned(), vec![true]));
    let refuses = on("0#0").always(status(400).message("`logprobs` is not supported with this model"));
    let rules = vec![refuses, on("0#1").reply("42")];
    assert_eq!(answer(Strategy::Direct, 1_000, rules).await, ("42".to_owned(), vec![true, false]));
}

#[tokio::test]
async fn a_cached_reply_keeps_its_certainty() {
    let mut stage = Stage::new(&NOTE, [on("0#0").reply("42").certainty(0.3)]);
    stage.cache_replies = true;
    stage.limits.reader_tokens_max = 1_000;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    for _ in 0..2 {
        let result = stage.ask(&engine, "What is the magic number?").await;
        assert_eq!(result.answer.unwrap().text, NOT_SAID);
    }
    assert_eq!(stage.server.requests().len(), 1);
}
