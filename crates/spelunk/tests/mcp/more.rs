//! `rlm_query` with a conversation, with attachments, and as a follow-up to an agent's run.

use expect_test::expect;
use serde_json::json;
use spelunk_testkit::{ModelServer, when};

use super::client::Client;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls};

#[test]
fn a_conversation_and_attachments_are_answered_from() {
    let server = answering("It is 42.\n\n```evidence\nattachments/b.md:1: The number is 42.\n```");
    let scene = Scene::new(&NOTE);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let data = client.data(
        "rlm_query",
        &json!({
            "messages": [{ "role": "user", "content": "Hello." }, { "role": "user", "content": QUESTION }],
            "system": "Be brief.",
            "attachments": [{ "name": "../b.md", "text": "The number is 42.\n" }, { "name": "b.md", "base64": "dHdvCg==" }],
        }),
    );
    assert_eq!(data["evidence"][0]["document"], "attachments/b.md");
    let started = scene.journal(&scene.only_run())[0].clone();
    let names: Vec<&str> =
        started["sources"].as_array().unwrap().iter().filter_map(|source| source["name"].as_str()).collect();
    expect![[r###"
        "## system\nBe brief.\n\n## user\nHello.\n\n## user\nWhat is the magic number?\n" ["attachments/b.md", "attachments/b-2.md", "messages.json"]
    "###]].assert_eq(&format!("{:?} {names:?}\n", started["question"]["text"].as_str().unwrap()));
}

#[test]
fn an_agent_is_asked_more() {
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("There is another question"))
            .reply("")
            .tool_call("Finish", r#"{"answer": "It is 21."}"#)
            .usage(100, 20),
        when(|_| true).reply("").tool_call("Finish", r#"{"answer": "It is 42."}"#).usage(100, 20),
    ]);
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], Some(&server), &json!({}));
    let first =
        client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"], "strategy": "agent" }));
    let run = first["run"].clone();
    assert_eq!((&first["answer"], &first["success"]), (&json!("It is 42."), &json!(true)));
    let second = client.data("rlm_query", &json!({ "question": "And half of it?", "run": run }));
    assert_eq!((&second["answer"], &second["run"]), (&json!("It is 21."), &run));
    assert_eq!(scene.only_run(), run.as_str().unwrap());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let run = client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"] }))["run"].clone();
    let calls = n_calls(&server);
    let mut said = String::new();
    for arguments in [
        json!({ "question": "q", "messages": [{ "role": "user", "content": "q" }] }),
        json!({ "messages": [{ "role": "user", "content": "q" }], "attachments": [{ "name": "a" }] }),
        json!({ "question": "And?", "run": run }),
        json!({ "question": "And?", "run": run, "paths": ["notes"] }),
        json!({ "question": "And?", "run": run, "attachments": [] }),
        json!({ "question": "And?", "run": run, "strategy": "map" }),
        json!({ "run": run }),
        json!({ "question": " ", "run": run }),
        json!({ "question": "And?", "run": "nope" }),
    ] {
        let text = client.text("rlm_query", &arguments);
        said += &format!("{}\n", scene.normalise(text.lines().next().unwrap_or_default()));
    }
    expect![[r#"
        FAILED error: the argument `messages` cannot be combined with `question`: send one of the two
        FAILED error: the argument `attachments` is not valid: entry 1: it needs either `text` or `base64`
        FAILED error: run `SHORT` takes no follow-up question: it used the strategy `direct`, and only `agent` keeps its work
        FAILED error: the argument `paths` cannot be combined with `run`, which has its own
        FAILED error: the argument `attachments` cannot be combined with `run`, which has its own
        FAILED error: the argument `strategy` cannot be combined with `run`, which is an agent's
        FAILED error: the argument `question` is missing
        FAILED error: the question is empty
        FAILED error: there is no run `nope`
    "#]]
    .assert_eq(&said);
    assert_eq!(n_calls(&server), calls);
}
