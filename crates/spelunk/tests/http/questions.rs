//! Follow-up questions to an agent's run over HTTP: the same run continues, even after the server was killed, and
//! everything else is rejected.

use expect_test::expect;
use serde_json::json;
use spelunk_testkit::{Gate, ModelServer, when};

use super::client::Server;
use crate::scene::{NOTE, QUESTION, Scene, n_calls, wait_at};

/// An agent that answers at once, and differently to the follow-up; a question about one fact is held at the gate.
fn agent(gate: &Gate) -> ModelServer {
    let first = r#"{"answer": "It is 42.", "evidence": ["a.md:3: The magic number is 42."]}"#;
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("There is another question"))
            .reply("")
            .tool_call("Finish", r#"{"answer": "It is 21."}"#)
            .usage(100, 20),
        when(|prompt| prompt.contains("Who waits?")).gate(gate).reply("Nobody.").usage(100, 20),
        when(|prompt| !prompt.is_empty()).reply("").tool_call("Finish", first).usage(100, 20),
    ])
}

fn answered(server: &Server) -> String {
    let run = server.ask_with(&json!({ "question": QUESTION, "paths": ["notes"], "strategy": "agent" }));
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"answered"}"#);
    run
}

#[test]
fn an_agent_is_asked_more_and_the_same_run_goes_on() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let model = agent(&gate);
    let server = Server::start(&scene, &[], Some(&model));
    let run = answered(&server);
    let n_events = scene.journal(&run).len() as u64;
    let answer = server.post(&format!("/v1/runs/{run}/questions"), &json!({ "question": "And half of it?" }));
    assert_eq!((answer.status, answer.json()["id"].as_str()), (202, Some(run.as_str())), "{}", answer.body);
    let events: Vec<_> = server.watch(&run, n_events).collect();
    assert_eq!(events.last().unwrap().data, r#"{"state":"answered"}"#);
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).take(2).collect();
    assert_eq!(kinds, ["run.resumed", "question.added"]);
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    assert_eq!((&result["answer"], &result["calls"]), (&json!("It is 21."), &json!(2)));
    assert_eq!((scene.only_run(), n_calls(&model)), (run.clone(), 2));
    assert!(!scene.exists(&format!(".spelunk/server/tickets/{run}.json")));
}

#[test]
fn a_question_that_waits_survives_the_server_and_is_asked_once() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let model = agent(&gate);
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=1"], Some(&model));
    let run = answered(&server);
    let other =
        server.ask_with(&json!({ "question": "Who waits?", "paths": ["notes"], "strategy": "direct" }));
    wait_at(&gate, &model);
    let asked = server.post(&format!("/v1/runs/{run}/questions"), &json!({ "question": "And half of it?" }));
    assert_eq!((asked.status, asked.json()["state"].clone()), (202, json!("queued")), "{}", asked.body);
    server.kill();
    gate.open();
    let server = Server::start(&scene, &[], Some(&model));
    server.finish(&run);
    server.finish(&other);
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "It is 21.");
    let added =
        |scene: &Scene| scene.journal(&run).iter().filter(|event| event["type"] == "question.added").count();
    assert_eq!(added(&scene), 1);
    // After another kill, there is nothing left to do.
    server.kill();
    let server = Server::start(&scene, &[], Some(&model));
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "It is 21.");
    assert_eq!(added(&scene), 1);
}

#[test]
fn a_question_that_was_taken_back_leaves_the_run_as_it_was() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let model = agent(&gate);
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=1"], Some(&model));
    let run = answered(&server);
    server.ask_with(&json!({ "question": "Who waits?", "paths": ["notes"], "strategy": "direct" }));
    wait_at(&gate, &model);
    assert_eq!(
        server.post(&format!("/v1/runs/{run}/questions"), &json!({ "question": "And half of it?" })).status,
        202
    );
    assert_eq!(server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).json()["state"], "answered");
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "It is 42.");
    gate.open();
}

#[test]
fn what_cannot_be_asked_more_is_refused() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let model = agent(&gate);
    let server = Server::start(&scene, &[], Some(&model));
    let run = answered(&server);
    let direct =
        server.ask_with(&json!({ "question": "Who waits?", "paths": ["notes"], "strategy": "direct" }));
    wait_at(&gate, &model);
    let question = json!({ "question": "And?" });
    let mut said = String::new();
    let mut refuse = |what: &str, run: &str, body: &serde_json::Value| {
        let answer = server.post(&format!("/v1/runs/{run}/questions"), body);
        let (status, code) = answer.problem();
        let detail = scene.normalise(answer.json()["detail"].as_str().unwrap());
        said += &format!("{what}: {status} {code}: {detail}\n");
    };
    refuse("at work", &direct, &question);
    gate.open();
    server.finish(&direct);
    refuse("not an agent", &direct, &question);
    refuse("no run", "rlm-20260101T000000Z-00000000", &question);
    refuse("no words", &run, &json!({ "question": " " }));
    refuse("no question", &run, &json!({}));
    refuse("a path", &run, &json!({ "question": "And?", "paths": ["notes"] }));
    refuse("no object", &run, &json!([]));
    // The source has changed, which is detected once it is read again.
    scene.write("notes/a.md", b"The magic number is 43.\n");
    assert_eq!(server.post(&format!("/v1/runs/{run}/questions"), &question).status, 202);
    let end = server.finish(&run).last().unwrap().data.clone();
    said += &format!("changed text: {end}\n");
    expect![[r#"
        at work: 409 run-at-work: run `SHORT2` is queued or in progress
        not an agent: 409 usage-wrong: run `SHORT2` takes no follow-up question: it used the strategy `direct`, and only `agent` keeps its work
        no run: 404 run-not-found: there is no run `rlm-20260101T000000Z-00000000`
        no words: 422 usage-wrong: the question is empty
        no question: 422 usage-wrong: the argument `question` is missing
        a path: 422 usage-wrong: there is no argument `paths`
        no object: 422 json-malformed: the body is not an object
        changed text: {"state":"failed: corpus-changed"}
    "#]].assert_eq(&said);
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "It is 42.");
}
