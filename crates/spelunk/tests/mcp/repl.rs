//! Code sessions: the calling agent is the root model.

use expect_test::expect;
use serde_json::json;

use super::client::Client;
use crate::scene::{NOTE, Scene, answering};

#[test]
fn variables_stay_from_cell_to_cell_and_final_ends_the_session() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    let first = client.data("rlm_repl", &json!({ "paths": ["notes"], "code": "n = len(context)\nprint(n)" }));
    assert_eq!((first["output"].as_str(), first["ended"].as_bool()), (Some("35"), Some(false)), "{first}");
    let session = first["session"].as_str().unwrap();
    let second =
        client.data("rlm_repl", &json!({ "session": session, "code": "print(n + 1, grep('magic')[0])" }));
    assert!(second["output"].as_str().unwrap().starts_with("36 "), "{second}");
    let broken = client.data("rlm_repl", &json!({ "session": session, "code": "1 / 0" }));
    assert!(broken["output"].as_str().unwrap().contains("ZeroDivisionError"), "{broken}");
    let last = client.data("rlm_repl", &json!({ "session": session, "code": "FINAL('the answer is 42')" }));
    assert_eq!(
        (last["output"].as_str(), last["ended"].as_bool()),
        (Some("the answer is 42"), Some(true)),
        "{last}"
    );
    let over = client.text("rlm_repl", &json!({ "session": session, "code": "1" }));
    expect![[r"
        FAILED error: there is no open session `SHORT`

        hint: leave out `session` and name `paths` or `contexts` to open one"]]
    .assert_eq(&scene.normalise(&over));
}

#[test]
fn a_session_is_described_and_ended() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    let opened = client.data("rlm_repl", &json!({ "paths": ["notes"] }));
    assert!(opened["output"].as_str().unwrap().contains("context"), "{opened}");
    let session = opened["session"].as_str().unwrap();
    assert_eq!(client.data("rlm_repl", &json!({ "session": session, "end": true }))["ended"], true);
    assert!(client.text("rlm_repl", &json!({ "session": session, "code": "1" })).starts_with("FAILED"));
    assert!(client.text("rlm_repl", &json!({ "code": "1" })).contains("no paths or contexts were given"));
}

#[test]
fn cells_ask_models() {
    let (scene, server) = (Scene::new(&NOTE), answering("forty-two"));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let said = client.data("rlm_repl", &json!({ "paths": ["notes"], "code": "print(llm_query('what?'))" }));
    assert_eq!(said["output"], "forty-two");
    let scene = Scene::new(&NOTE);
    let said = Client::plain(&scene)
        .data("rlm_repl", &json!({ "paths": ["notes"], "code": "print(llm_query('what?'))" }));
    assert!(said["output"].as_str().unwrap().contains("no model is configured"), "{said}");
}

#[test]
fn at_most_eight_sessions_are_open() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    for _ in 0..8 {
        assert!(!client.text("rlm_repl", &json!({ "paths": ["notes"] })).starts_with("FAILED"));
    }
    assert!(
        client
            .text("rlm_repl", &json!({ "paths": ["notes"] }))
            .starts_with("FAILED error: 8 sessions are already open")
    );
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_session_asks_the_client_in_rounds() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    let call = json!({ "name": "rlm_repl", "arguments": { "paths": ["notes"], "code": "print(llm_query('what?'))" } });
    let round = client.request("tools/call", call.clone())["result"].clone();
    let key = round["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut again = call;
    again["requestState"] = round["requestState"].clone();
    let reply = json!({ "role": "assistant", "content": { "type": "text", "text": "that" }, "model": "m" });
    again["inputResponses"] = json!({ key: reply });
    assert_eq!(client.request("tools/call", again)["result"]["structuredContent"]["output"], "that");
}
