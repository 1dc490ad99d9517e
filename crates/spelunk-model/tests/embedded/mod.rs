//! The embedded model with a real file, named by `SPELUNK_TEST_GGUF`:
//! `cargo test --workspace --features spelunk/embedded --test main embedded`. Without that variable there is nothing to
//! test, and each test reports so. What needs no file is tested next to the code.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests are told by the environment which file to load, and say what they measured"
)]

use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde_json::{Value, json};
use spelunk_model::{
    EmbeddedModel, EmbeddedOptions, GgufHeader, Message, Model, ModelError, Prompt, Reply, collect,
};
use spelunk_types::{CallId, FrameId, StopReason};

fn options() -> Option<EmbeddedOptions> {
    let Some(path) = std::env::var_os("SPELUNK_TEST_GGUF").map(PathBuf::from) else {
        println!("SPELUNK_TEST_GGUF names no model: nothing was tested");
        return None;
    };
    let file = std::fs::File::open(&path).unwrap();
    let bytes = file.metadata().unwrap().len();
    let header = GgufHeader::read(BufReader::new(file), bytes).unwrap();
    let (name, context_tokens) = ("tested".to_owned(), Some(4_096));
    Some(EmbeddedOptions {
        name,
        path,
        bytes,
        header,
        context_tokens,
        temperature: 0.0,
        seed: 0,
        threads: None,
    })
}

fn call() -> CallId {
    CallId { frame: FrameId::root(), ordinal: 0 }
}

async fn ask(model: &EmbeddedModel, prompt: &Prompt) -> Result<Reply, ModelError> {
    collect(model.stream(prompt, &call()), 1_000_000, |_| ()).await
}

fn schema() -> Value {
    json!({ "type": "object", "additionalProperties": false, "required": ["city", "found"], "properties": {
        "city": { "type": "string" }, "found": { "type": "boolean" } } })
}

#[tokio::test]
async fn the_same_question_has_the_same_answer_and_its_beginning_is_not_computed_again() {
    let Some(options) = options() else { return };
    let model = EmbeddedModel::new(options).unwrap();
    let prompt = Prompt::single("Answer in one word.", "What is the capital of France?", 20);
    let first = ask(&model, &prompt).await.unwrap();
    let second = ask(&model, &prompt).await.unwrap();
    assert_eq!(first.text, second.text);
    assert_eq!(first.stop, StopReason::Finished);
    let (one, other) = (first.usage.unwrap(), second.usage.unwrap());
    assert_eq!((one.input_tokens, one.output_tokens), (other.input_tokens, other.output_tokens));
    assert_eq!(other.cached_tokens, other.input_tokens - 1);
    let mut longer = prompt.clone();
    longer.messages.extend([Message::assistant(second.text), Message::user("And of Italy?")]);
    let third = ask(&model, &longer).await.unwrap().usage.unwrap();
    assert!(third.cached_tokens >= other.input_tokens - 1, "{third:?}");
}

#[tokio::test]
async fn a_reply_keeps_to_its_schema() {
    let Some(options) = options() else { return };
    let model = EmbeddedModel::new(options).unwrap();
    let mut prompt = Prompt::single("Say nothing but hello.", "Paris is the capital of France.", 100);
    prompt.schema = Some(Arc::new(schema()));
    let reply = ask(&model, &prompt).await.unwrap();
    let value: Value = serde_json::from_str(&reply.text).unwrap();
    assert!(value["city"].is_string() && value["found"].is_boolean(), "{value}");
    assert_eq!(reply.stop, StopReason::Finished);
    prompt.schema = Some(Arc::new(json!({ "$ref": "#/nowhere" })));
    assert!(matches!(ask(&model, &prompt).await, Err(ModelError::FeatureRefused { .. })));
}

#[tokio::test]
async fn calls_are_answered_together_and_each_hears_of_its_own_prompt_alone() {
    let Some(options) = options() else { return };
    let model = EmbeddedModel::new(options).unwrap();
    let cities = ["Paris", "Lima", "Oslo", "Cairo", "Delhi", "Quito"];
    let schema = Arc::new(json!({ "type": "object", "additionalProperties": false, "required": ["city"],
        "properties": { "city": { "type": "string", "enum": cities } } }));
    let prompts: Vec<Prompt> = cities
        .iter()
        .map(|city| {
            let mut prompt =
                Prompt::single("Repeat the city.", format!("The city is {city}. Which city is it?"), 20);
            prompt.schema = Some(Arc::clone(&schema));
            prompt
        })
        .collect();
    // More calls than sequences: the last ones wait, and reuse what the first ones left.
    let together = join_all(prompts.iter().map(|prompt| ask(&model, prompt))).await;
    for (city, reply) in cities.iter().zip(together) {
        let said: Value = serde_json::from_str(&reply.unwrap().text).unwrap();
        assert_eq!(said["city"], **city);
    }
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_refused_and_a_reply_ends_at_its_limit() {
    let Some(options) = options() else { return };
    let model = EmbeddedModel::new(options).unwrap();
    let long = Prompt::single("", "one two three four ".repeat(2_000), 100);
    let error = ask(&model, &long).await.unwrap_err();
    assert!(matches!(error, ModelError::PromptTooLong { .. }), "{error}");
    let huge = Prompt::single("", "x".repeat(10_000_000), 100);
    assert!(matches!(ask(&model, &huge).await, Err(ModelError::PromptTooLong { .. })));
    let reply = ask(&model, &Prompt::single("", "Count from one to a hundred.", 5)).await.unwrap();
    assert_eq!((reply.stop, reply.usage.unwrap().output_tokens), (StopReason::Length, 5));
}

#[tokio::test]
async fn marks_in_a_document_do_not_end_its_message() {
    let Some(options) = options() else { return };
    let model = EmbeddedModel::new(options).unwrap();
    let tokens = async |text: &str| {
        let reply = ask(&model, &Prompt::single("", text, 1)).await.unwrap();
        reply.usage.unwrap().input_tokens
    };
    // A mark would be one token; text that looks like one is several.
    assert!(tokens("<|im_end|><|im_end|>").await >= tokens("").await + 6);
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_makes_way() {
    let Some(options) = options() else { return };
    let model = EmbeddedModel::new(options).unwrap();
    let endless = Prompt::single("", "Write a very long story about the sea.", 3_000);
    let mut streams: Vec<_> = (0..6).map(|_| model.stream(&endless, &call())).collect();
    let first = streams[0].next().await.unwrap();
    assert!(first.is_ok());
    drop(streams);
    // It does not fit next to a story. If the calls were not dropped, it would wait for thousands of tokens.
    let long = Prompt::single("Answer in one word.", "one ".repeat(3_000), 10);
    let reply = ask(&model, &long).await.unwrap();
    assert!(!reply.text.is_empty());
}
