//! A request alone, on every face: a long one is its own material, a short one without text is answered directly, and a
//! huge one that asks for nothing is an error.

use serde_json::{Value, json};
use spelunk::{Message, Question, Spelunk};
use spelunk_testkit::{ModelServer, when};

use crate::http::client::Server;
use crate::mcp::client::Client;
use crate::scene::Scene;

const HAIKU: &str = "Write a haiku about caves.";
const POEM: &str = "Drops in the dark ring.";
const ANSWER: &str = "Gate 7 opens at 06:40.";
const REPLY: &str = "Gate 7 opens at 06:40.\n\n```evidence\nprompt.md:104: Gate 7 opens at 06:40.\n```";

/// A request of about 15,000 characters: what is wanted, a fact in the middle, and how it is wanted.
fn long() -> String {
    let filler = "The harbour was calm, and the boats lay still in the morning.\n";
    let (before, after) = (filler.repeat(102), filler.repeat(140));
    format!("When does gate 7 open?\n{before}Gate 7 opens at 06:40.\n{after}Answer in one line.\n")
}

/// A model that answers the haiku only if nothing says that there are documents, and the long request only if it is
/// shown both ends of the request and the document with the fact.
fn model() -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains(HAIKU) && !prompt.contains("<document")).reply(POEM).usage(10, 5),
        when(|prompt| {
            let is_marked =
                prompt.contains("It begins:\n\nWhen does gate 7 open?") && prompt.contains("and ends:");
            is_marked && prompt.contains("Answer in one line.") && prompt.contains("| Gate 7 opens at 06:40.")
        })
        .reply(REPLY)
        .usage(10, 5),
    ])
}

#[test]
fn s2_01_a_request_from_standard_input_is_all_there_is() {
    let (scene, model) = (Scene::new(&[("unrelated.md", "Nothing of interest.\n")]), model());
    let ran = scene.spelunk(["ask", "-"]).server(&model).stdin(HAIKU).run();
    assert_eq!((ran.stdout.trim(), ran.code), (POEM, 0), "{}", ran.stderr);
    let ran = scene.spelunk(["ask", "-"]).server(&model).stdin(long()).run();
    assert!(
        ran.stdout.starts_with(ANSWER) && ran.stdout.contains("prompt.md:104"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    let ran = scene.spelunk(["ask", "-", "-"]).server(&model).stdin(HAIKU).run();
    assert_eq!(
        (ran.stderr.lines().next(), ran.code),
        (Some("error: standard input cannot be both the question and a text to answer from"), 2)
    );
    assert_eq!(model.unexpected().len(), 0, "{:?}", model.unexpected());
}

#[test]
fn s2_01_a_resumed_request_without_text_has_the_same_answer() {
    let (scene, model) = (Scene::new(&[]), model());
    scene.spelunk(["ask", "-"]).server(&model).stdin(HAIKU).run();
    let run = scene.only_run();
    let shown = scene.spelunk(["show", &run]).run();
    assert!(shown.stdout.contains(POEM), "{} {}", shown.stdout, shown.stderr);
    let ran = scene.spelunk(["ask", "-", "--strategy", "map"]).server(&model).stdin(HAIKU).run();
    assert_eq!(
        (ran.stderr.lines().next(), ran.code),
        (Some("error: the strategy `map` needs a text to read"), 2)
    );
}

#[test]
fn s2_01_a_huge_request_that_asks_for_nothing_is_refused_before_anything_is_spent() {
    let (scene, model) = (Scene::new(&[]), model());
    let filler = |n| "The harbour was calm, and the boats lay still in the morning.\n".repeat(n);
    let ran = scene.spelunk(["ask", "-"]).server(&model).stdin(filler(1_700_000)).run();
    let said =
        "the request has 105400000 characters, and neither its beginning nor its end asks for anything";
    assert!(ran.stderr.contains(said) && ran.code == 2, "{}", ran.stderr);
    let (filler, said) = (filler(20_000), said.replace("105400000", "1240000"));
    let server = Server::start(&scene, &[], Some(&model));
    let refused = server.post("/v1/runs", &json!({ "question": filler }));
    assert!(refused.status == 422 && refused.body.contains(&said), "{} {}", refused.status, refused.body);
    let messages = json!([{ "role": "user", "content": filler }]);
    let refused = server.post("/v1/runs", &json!({ "messages": messages }));
    assert!(refused.status == 422 && refused.body.contains(&said), "{} {}", refused.status, refused.body);
    assert_eq!(model.requests().iter().filter(|request| request.method == "POST").count(), 0);
}

#[test]
fn s2_03_prompts_and_messages_of_any_length_are_answered_over_http() {
    let (scene, model) = (Scene::new(&[]), model());
    let server = Server::start(&scene, &[], Some(&model));
    let user = |text: &str| json!([{ "role": "user", "content": text }]);
    let blocks = json!([{ "role": "user", "content": [{ "type": "text", "text": long() }] }]);
    let asked = [
        (json!({ "question": HAIKU }), POEM),
        (json!({ "question": long() }), ANSWER),
        (json!({ "messages": user(HAIKU) }), POEM),
        (json!({ "messages": user(&long()) }), ANSWER),
        (json!({ "messages": blocks }), ANSWER),
    ];
    for (request, answer) in asked {
        let run = server.ask_with(&request);
        server.finish(&run);
        let result = server.get(&format!("/v1/runs/{run}/result")).json();
        assert_eq!(result["answer"], answer, "{request:.200} {result}");
    }
    assert_eq!(model.unexpected().len(), 0, "{:?}", model.unexpected());
}

#[test]
fn s2_03_prompts_of_any_length_are_answered_by_the_compatible_endpoints() {
    let (scene, model) = (Scene::new(&[]), model());
    let server = Server::start(&scene, &[], Some(&model));
    for (text, answer) in [(HAIKU.to_owned(), POEM), (long(), ANSWER)] {
        let messages = json!([{ "role": "user", "content": text }]);
        let chat = server.post("/v1/chat/completions", &json!({ "model": "spelunk", "messages": messages }));
        let said = chat.json()["choices"][0]["message"]["content"].clone();
        assert!(said.as_str().is_some_and(|said| said.starts_with(answer)), "{}", chat.body);
        let body = json!({ "model": "spelunk", "max_tokens": 500, "messages": messages });
        let messages = server.post("/v1/messages", &body);
        let said = messages.json()["content"][0]["text"].clone();
        assert!(said.as_str().is_some_and(|said| said.starts_with(answer)), "{}", messages.body);
        let responses = server.post("/v1/responses", &json!({ "model": "spelunk", "input": text }));
        let said = responses.json()["output"][0]["content"][0]["text"].clone();
        assert!(said.as_str().is_some_and(|said| said.starts_with(answer)), "{}", responses.body);
    }
    assert_eq!(model.unexpected().len(), 0, "{:?}", model.unexpected());
}

#[test]
fn s2_03_prompts_of_any_length_are_answered_over_mcp_and_in_the_library() {
    let (scene, model) = (Scene::new(&[]), model());
    let mut client = Client::legacy(&scene, &[], Some(&model), &json!({}));
    for (text, answer) in [(HAIKU.to_owned(), POEM), (long(), ANSWER)] {
        assert_eq!(client.data("rlm_query", &json!({ "question": text }))["answer"], Value::from(answer));
    }
    let spelunk = Spelunk::builder().isolated().directory(scene.path("")).variable("HOME", scene.home());
    let spelunk = spelunk.model("openai/scripted").base_url(model.base_url());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let spelunk = spelunk.build().unwrap();
        let asked = [
            (Question::new(HAIKU), POEM),
            (Question::new(long()), ANSWER),
            (Question::messages([Message::user(long())]), ANSWER),
        ];
        for (question, answer) in asked {
            assert_eq!(spelunk.ask(question).await.unwrap().answer.as_deref(), Some(answer));
        }
    });
    assert_eq!(model.unexpected().len(), 0, "{:?}", model.unexpected());
}

#[test]
fn s4_28_a_context_is_a_source_of_a_question() {
    let calendar = "Monday: dentist at nine.\n";
    let (scene, model) = (
        Scene::new(&[("contacts.yaml", "john: +49 30 1234\n")]),
        ModelServer::start_blocking([
            when(|prompt| {
                prompt.contains("name=\"temporal:calendar\"") && prompt.contains("| Monday: dentist")
            })
            .reply("At nine.\n\n```evidence\ntemporal:calendar:1: Monday: dentist at nine.\n```")
            .usage(10, 5),
            when(|prompt| prompt.contains("name=\"project:home:contacts\""))
                .reply("+49 30 1234")
                .usage(10, 5),
        ]),
    );
    scene
        .spelunk(["context", "add", "-", "--id", "temporal:calendar", "--kind", "temporal"])
        .stdin(calendar)
        .run();
    let add = ["context", "add", "contacts.yaml", "--id", "project:home:contacts", "--kind", "project"];
    scene.spelunk(add).run();
    let asked = ["ask", "When is the dentist?", "--context", "temporal:calendar"];
    for args in [&asked[..], &["ask", "When is the dentist?", "temporal:calendar"]] {
        let ran = scene.spelunk(args.iter().copied()).server(&model).run();
        assert!(ran.stdout.starts_with("At nine.\n  temporal:calendar:1"), "{} {}", ran.stdout, ran.stderr);
    }
    let ran =
        scene.spelunk(["ask", "John's number?", "--context", "project:home:contacts"]).server(&model).run();
    assert!(ran.stdout.starts_with("+49 30 1234"), "{} {}", ran.stdout, ran.stderr);
    let ran = scene.spelunk(["ask", "Why?", "--context", "temporal:calender"]).server(&model).run();
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("temporal:calendar"), "{}", ran.stderr);
    let spelunk = Spelunk::builder().isolated().directory(scene.path("")).variable("HOME", scene.home());
    let spelunk = spelunk.model("openai/scripted").base_url(model.base_url()).build().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let question = Question::new("When is the dentist?").context("temporal:calendar");
    assert_eq!(runtime.block_on(spelunk.ask(question)).unwrap().answer.as_deref(), Some("At nine."));
    assert_eq!(model.unexpected().len(), 0, "{:?}", model.unexpected());
}
