//! What a run uses of models beyond text: schemas that providers enforce, windows that are smaller than assumed, and
//! named models.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Engine, NamedModels, RunResult};
use spelunk_model::{Model, ModelOptions, OpenAiModel};
use spelunk_testkit::{FaultDisk, ModelServer, Rule, on, status};
use spelunk_types::{Explain, Strategy};

use crate::stage::{Stage, engine_on, events, view};

const QUESTION: &str = "What is the magic number?";

fn cell(code: &str) -> String {
    format!("```repl\n{code}\n```")
}

fn stage(strategy: Strategy, rules: impl IntoIterator<Item = Rule>) -> Stage {
    let mut stage = Stage::new(&[("a.md", "The magic number is 42.\n")], rules);
    stage.strategy = strategy;
    stage
}

fn engine() -> Engine {
    engine_on(Arc::new(FaultDisk::sound()))
}

/// The error of a provider that does not support schemas.
fn no_schema() -> impl Into<spelunk_testkit::Fault> {
    status(400).message("response_format is not supported with this model")
}

/// Calls in order of arrival, each with whether it had a schema.
fn asked(server: &ModelServer) -> Vec<(String, bool)> {
    let told = |request: spelunk_testkit::Recorded| {
        let has_schema = request.json()["response_format"]["type"] == "json_schema";
        (request.call.clone().unwrap_or_default(), has_schema)
    };
    server.requests().into_iter().map(told).collect()
}

fn answer(result: &RunResult) -> String {
    match (&result.answer, &result.error) {
        (Some(answer), _) => answer.text.clone(),
        (None, Some(error)) => format!("{}: {error}", error.code()),
        (None, None) => String::new(),
    }
}

const TYPED: &str = "schema = {'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n'], 'additionalProperties': False}\n\
                     hits = grep('magic')\nfound = llm_query_batched([hits[0]['text'], 'again'], schema=schema)\nprint(found)";

#[tokio::test]
async fn a_sub_call_with_a_schema_is_held_to_it_by_the_provider() {
    let stage = stage(
        Strategy::Repl,
        [
            on("0#0").reply(cell(TYPED)),
            // Each typed call takes the id of its correction together with its own.
            on("0#5").reply(cell("FINAL(found[0]['n'])")),
            on("0#*").reply(r#"{"n": 42}"#),
        ],
    );
    let result = stage.ask(&engine(), QUESTION).await;
    assert_eq!(answer(&result), "42");
    let mut asked = asked(&stage.server);
    asked.sort();
    assert_eq!(
        asked,
        [("0#0", false), ("0#1", true), ("0#3", true), ("0#5", false)]
            .map(|(call, has)| (call.to_owned(), has))
    );
    let sent =
        stage.server.requests().into_iter().find(|request| request.call.as_deref() == Some("0#1")).unwrap();
    assert_eq!(sent.json()["response_format"]["json_schema"]["schema"]["required"], serde_json::json!(["n"]));
}

#[tokio::test]
async fn a_provider_without_schemas_is_asked_again_without_and_not_a_third_time() {
    let mut stage = stage(
        Strategy::Repl,
        [
            on("0#0").reply(cell(&TYPED.replace("[hits[0]['text'], 'again']", "[hits[0]['text']]"))),
            on("0#1").fault(no_schema()).reply(r#"{"n": 42}"#),
            on("0#3").reply(cell(&TYPED.replace("[hits[0]['text'], 'again']", "['again']"))),
            on("0#4").reply(r#"The number is {"n": "many"}"#),
            on("0#5").reply(r#"{"n": 43}"#),
            on("0#6").reply(cell("FINAL(found[0]['n'])")),
        ],
    );
    stage.limits.retries_max = 0;
    let result = stage.ask(&engine(), QUESTION).await;
    // The reply of 0#4 is invalid, which is detected here as usual.
    assert_eq!(answer(&result), "43");
    let expected = [
        ("0#0", false),
        ("0#1", true),
        ("0#1", false),
        ("0#3", false),
        ("0#4", false),
        ("0#5", false),
        ("0#6", false),
    ];
    assert_eq!(asked(&stage.server), expected.map(|(call, has)| (call.to_owned(), has)));
}

#[tokio::test]
async fn analysts_and_typed_conclusions_are_held_to_their_forms() {
    let report = r#"{"relevant": true, "summary": "s", "answer": "42", "count": null, "findings": []}"#;
    let map = stage(Strategy::Map, [on("0.0#0").reply(report), on("*").reply("The number is 42.")]);
    map.ask(&engine(), QUESTION).await;
    let analysts: Vec<_> = asked(&map.server).into_iter().filter(|(_, has_schema)| *has_schema).collect();
    assert_eq!(analysts, [("0.0#0".to_owned(), true)]);

    let mut typed =
        stage(Strategy::Repl, [on("0#0").reply(cell("print(grep('magic'))")), on("0#1").reply("42")]);
    typed.schema = Some(r#"{"type": "integer"}"#.to_owned());
    typed.limits.turns_max = 1;
    let result = typed.ask(&engine(), QUESTION).await;
    assert_eq!(answer(&result), "42");
    assert_eq!(asked(&typed.server), [("0#0".to_owned(), false), ("0#1".to_owned(), true)]);
}

fn too_long() -> impl Into<spelunk_testkit::Fault> {
    status(400).code("context_length_exceeded").message("This model's maximum context length is 10 tokens")
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_asked_once_with_half_the_text() {
    let text = "A line of magic numbers.\n".repeat(200);
    let rules = [on("0#0").always(too_long()), on("0#1").reply("It is 42.")];
    let stage = Stage::new(&[("a.md", &text)], rules);
    let result = stage.ask(&engine(), QUESTION).await;
    assert_eq!(answer(&result), "It is 42.");
    let lengths: Vec<usize> = stage.server.requests().iter().map(|request| request.body.len()).collect();
    assert!(lengths.len() == 2 && lengths[1] * 3 < lengths[0] * 2, "{lengths:?}");

    let rules = [on("0#*").always(too_long())];
    let stage = Stage::new(&[("a.md", &text)], rules);
    let result = stage.ask(&engine(), QUESTION).await;
    assert!(answer(&result).starts_with("model-prompt-too-long"), "{}", answer(&result));
    assert_eq!(stage.server.requests().len(), 2);
}

#[tokio::test]
async fn a_search_whose_passages_are_too_long_is_asked_once_with_half_of_them() {
    let part = |n: u32| format!("Chapter {n}. {}\n\n", format!("Magic number {n} is a number. ").repeat(30));
    let text: String = (0..60).map(part).collect();
    let rules = [on("0#0").reply("magic number"), on("0#1").always(too_long()), on("0#2").reply("It is 42.")];
    let stage = Stage { strategy: Strategy::Search, ..Stage::new(&[("a.md", &text)], rules) };
    let result = stage.ask(&engine(), QUESTION).await;
    assert_eq!(answer(&result), "It is 42.");
    let lengths: Vec<usize> = stage.server.requests().iter().map(|request| request.body.len()).collect();
    assert!(lengths.len() == 3 && lengths[2] * 3 < lengths[1] * 2, "{lengths:?}");
}

/// Code that prints a lot.
fn much(letter: &str) -> String {
    cell(&format!("print(grep('magic'), '{letter}' * 3000)"))
}

/// The lengths of the requests.
fn lengths(stage: &Stage) -> Vec<usize> {
    stage.server.requests().iter().map(|request| request.body.len()).collect()
}

#[tokio::test]
async fn a_turn_that_is_too_long_is_asked_once_with_half_of_the_conversation_and_a_resumed_run_does_the_same()
{
    let stage = stage(
        Strategy::Repl,
        [
            on("0#0").reply(much("a")),
            on("0#1").reply(much("b")),
            on("0#2").always(too_long()),
            on("0#3").reply(much("c")),
            // From then on a summary keeps the rest within the reduced length.
            on("0#4").fault(status(401)).reply("I looked for magic."),
            on("0#5").reply(cell("FINAL(42)")),
        ],
    );
    let engine = engine();
    let stopped = stage.ask(&engine, QUESTION).await;
    assert!(answer(&stopped).starts_with("model-unauthorized"), "{}", answer(&stopped));
    let lengths = lengths(&stage);
    assert!(lengths[3] + 3000 < lengths[2], "{lengths:?}");
    let told = &view(&events(&engine, &stopped.run)).warnings[0].0;
    assert_eq!(told, "the conversation exceeded the model's context window, so its older half was dropped");
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(answer(&resumed), "42");
    assert_eq!(stage.server.requests().len(), 7);
}

#[tokio::test]
async fn a_summary_and_a_conclusion_that_are_too_long_are_done_without_or_with_half() {
    let rules = [
        on("0#0").reply(much("a")),
        on("0#1").reply(much("b")),
        on("0#2").always(too_long()),
        on("0#3").reply(much("c")),
        on("0#4").always(too_long()),
        on("0#5").reply("It is 42."),
    ];
    let mut stage = stage(Strategy::Repl, rules);
    (stage.limits.turns_max, stage.limits.transcript_tokens_max) = (3, 1_500);
    let result = stage.ask(&engine(), QUESTION).await;
    assert_eq!(answer(&result), "It is 42.");
    assert_eq!(result.stopped_by(), Some(spelunk_types::ErrorCode::TurnsExhausted));
    // The failed call is a summary: the turn continues with what is left.
    let asked: Vec<bool> =
        stage.server.requests().iter().map(|request| request.body.contains("Write a summary")).collect();
    assert_eq!(asked, [false, false, true, false, false, false]);
}

#[tokio::test]
async fn an_instruction_that_does_not_fit_is_told_as_it_is() {
    let stage = stage(Strategy::Repl, [on("0#*").always(too_long())]);
    let result = stage.ask(&engine(), QUESTION).await;
    assert!(answer(&result).starts_with("model-prompt-too-long"), "{}", answer(&result));
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn an_agent_whose_turn_is_too_long_goes_on_with_half_of_the_conversation() {
    let text = "A line of magic numbers.\n".repeat(600);
    let read = r#"{"path": "input/contexts/a.md", "offset": 1, "limit": 300}"#;
    let write = r#"{"path": "output/answer.md", "content": "It is 42."}"#;
    let rules = [
        on("0#0").reply("").tool_call("Read", read),
        on("0#1").reply("").tool_call("Read", read),
        on("0#2").always(too_long()),
        on("0#3").reply("").tool_call("Write", write),
        on("0#*").reply("").tool_call("Finish", "{}"),
    ];
    let stage = Stage { strategy: Strategy::Agent, ..Stage::new(&[("a.md", &text)], rules) };
    let result = stage.ask(&engine(), QUESTION).await;
    assert_eq!(answer(&result), "It is 42.");
    let lengths = lengths(&stage);
    assert!(lengths[3] * 3 < lengths[2] * 2, "{lengths:?}");
    // A call and its result stay together: no provider accepts one without the other.
    let sent = stage.server.requests()[3].json();
    let messages = sent["messages"].as_array().unwrap().clone();
    let of_role = |role: &str| messages.iter().filter(|message| message["role"] == role).count();
    assert_eq!((of_role("tool"), of_role("user")), (1, 2), "{sent:#}");
}

#[tokio::test]
async fn a_sub_call_that_is_too_long_is_an_error_that_says_to_split() {
    let code = "hits = grep('magic')\ntry:\n    said = llm_query('long')\nexcept ModelError as error:\n    said = str(error)\nprint(said)";
    let stage = stage(
        Strategy::Repl,
        [on("0#0").reply(cell(code)), on("0#1").always(too_long()), on("0#2").reply(cell("FINAL(said)"))],
    );
    let said = answer(&stage.ask(&engine(), QUESTION).await);
    assert!(
        said.starts_with("model-prompt-too-long") && said.ends_with("split the text and ask about each part"),
        "{said}"
    );
}

/// A model of another server, by name.
fn other(server: &ModelServer) -> Arc<dyn Model> {
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "other".into(),
        key: None,
        price: None,
        label_calls: true,
    };
    Arc::new(OpenAiModel::new(options).unwrap())
}

#[tokio::test]
async fn a_child_asks_the_model_that_its_parent_names_and_a_resumed_run_needs_the_same_names() {
    let code = "hits = grep('magic')\nsaid = rlm_query('how many?', model='fast')\nprint(said)";
    let stage = stage(Strategy::Repl, [on("0#0").reply(cell(code)), on("0#1").always(status(401))]);
    let fast = ModelServer::start([
        on("0.0#0").reply(cell("print(grep('magic'))")),
        on("0.0#1").reply(cell("FINAL('forty-two')")),
    ])
    .await;
    let disk = Arc::new(FaultDisk::sound());
    let named = |name: &str| NamedModels::of(BTreeMap::from([(name.to_owned(), other(&fast))]));
    let engine = engine_on(Arc::clone(&disk) as _).with_named_models(named("fast"));
    let result = stage.ask(&engine, QUESTION).await;
    assert!(answer(&result).starts_with("model-unauthorized"), "{}", answer(&result));
    assert_eq!(fast.requests().len(), 2);
    let refused = stage.resume(&engine_on(Arc::clone(&disk) as _), &result.run).err().unwrap();
    expect!["run `RUN` was started with names of models fast, not none"]
        .assert_eq(&refused.to_string().replace(result.run.short(), "RUN"));
    let refused = stage.resume(&engine_on(disk).with_named_models(named("slow")), &result.run).err().unwrap();
    assert!(refused.to_string().contains("slow"), "{refused}");
}

/// Named models with one entry, `fast`, which can be opened or not.
fn roster(fast: &ModelServer, is_open: bool) -> NamedModels {
    let model = other(fast);
    let open = move |_: &str| if is_open { Ok(Arc::clone(&model)) } else { Err("it has no key".to_owned()) };
    NamedModels::new(vec!["fast".to_owned()], open)
}

const TRIES_FAST: &str = "hits = grep('magic')\ntry:\n    said = llm_query('how many?', model='fast')\nexcept ModelError as error:\n    said = str(error)\nprint(said, budget()['depth'])";

#[tokio::test]
async fn a_model_that_could_not_be_asked_is_refused_again_when_the_run_resumes() {
    let rules = [on("0#0").reply(cell(TRIES_FAST)), on("0#1").fault(status(401)).reply(cell("FINAL(said)"))];
    let stage = stage(Strategy::Repl, rules);
    let fast = ModelServer::start([on("*").reply("forty-two")]).await;
    let disk = Arc::new(FaultDisk::sound());
    let engine = |is_open| engine_on(Arc::clone(&disk) as _).with_named_models(roster(&fast, is_open));
    let result = stage.ask(&engine(false), QUESTION).await;
    assert!(answer(&result).starts_with("model-unauthorized"), "{}", answer(&result));
    // Its key is available by now.
    let resumed = stage.resume(&engine(true), &result.run).unwrap().join().await;
    assert_eq!(answer(&resumed), "the model 'fast' cannot be used: it has no key");
    assert_eq!(fast.requests().len(), 0);
}

#[tokio::test]
async fn a_resumed_run_whose_model_cannot_be_asked_any_more_says_so_and_loses_nothing() {
    let rules = [on("0#0").reply(cell(TRIES_FAST)), on("0#2").fault(status(401)).reply(cell("FINAL(said)"))];
    let stage = stage(Strategy::Repl, rules);
    let fast = ModelServer::start([on("0#1").reply("forty-two")]).await;
    let disk = Arc::new(FaultDisk::sound());
    let engine = |is_open| engine_on(Arc::clone(&disk) as _).with_named_models(roster(&fast, is_open));
    let result = stage.ask(&engine(true), QUESTION).await;
    let resumed = stage.resume(&engine(false), &result.run).unwrap().join().await;
    assert_eq!(
        answer(&resumed),
        "model-not-configured: the model `fast` of this run is not available: it has no key"
    );
    let resumed = stage.resume(&engine(true), &result.run).unwrap().join().await;
    assert_eq!(answer(&resumed), "forty-two");
    assert_eq!(fast.requests().len(), 1);
}
