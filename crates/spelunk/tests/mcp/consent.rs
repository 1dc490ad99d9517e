//! Consent over MCP: the client's user is asked by elicitation before a tool changes something, in both eras of the
//! protocol. A client without elicitation cannot ask.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use crate::scene::{QUESTION, Scene};
use crate::tools::{BOOK, BOOKING, booked, scene, writing};

fn query() -> Value {
    json!({ "name": "rlm_query", "arguments": { "question": QUESTION, "paths": ["notes"] } })
}

fn booking() -> Scene {
    scene(&format!("[ask]\ntools = \"book\"\n{BOOK}"))
}

const DENIED: &str = "the user does not allow this call of `book`";

/// What a user may say, and what comes of it.
fn replies() -> [(Value, &'static str, usize); 5] {
    [
        (json!({ "action": "accept", "content": { "allow": true } }), "seat 1", 1),
        (json!({ "action": "accept", "content": { "allow": false } }), DENIED, 0),
        (json!({ "action": "accept", "content": {} }), DENIED, 0),
        (json!({ "action": "decline" }), DENIED, 0),
        (json!({ "action": "cancel" }), DENIED, 0),
    ]
}

fn answer(result: &Value) -> &str {
    result["structuredContent"]["answer"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_client_with_a_handshake_asks_its_user() {
    for (reply, said, n_booked) in replies() {
        let (scene, model) = (booking(), writing(&[BOOKING]));
        let mut client = Client::legacy(&scene, &[], Some(&model), &json!({ "elicitation": {} }));
        let id = client.begin("tools/call", query());
        let asked = client.asked();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.ends_with(r#"wants to call book with {"seat":"7A"}"#), "{message}");
        let schema = &asked["params"]["requestedSchema"];
        assert_eq!(schema["properties"]["allow"]["type"], "boolean", "{schema}");
        assert_eq!(booked(&scene), "");
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": reply }));
        let result = client.answer(id)["result"].clone();
        assert_eq!((answer(&result), booked(&scene).lines().count()), (said, n_booked), "{reply}");
    }
}

#[test]
fn a_client_without_a_handshake_asks_its_user_in_a_round() {
    for (reply, said, n_booked) in replies() {
        let (scene, model) = (booking(), writing(&[BOOKING]));
        let mut client = Client::modern(&scene, &[], Some(&model), &json!({ "elicitation": { "form": {} } }));
        let round = client.request("tools/call", query())["result"].clone();
        assert_eq!(round["resultType"], "input_required", "{round}");
        let asked = round["inputRequests"].as_object().unwrap();
        let (key, request) = asked.iter().next().unwrap();
        assert_eq!((asked.len(), request["method"].as_str()), (1, Some("elicitation/create")), "{request}");
        assert_eq!(booked(&scene), "");
        let mut again = query();
        again["requestState"] = round["requestState"].clone();
        again["inputResponses"] = json!({ key: reply });
        let result = client.request("tools/call", again)["result"].clone();
        assert_eq!((answer(&result), booked(&scene).lines().count()), (said, n_booked), "{reply}");
    }
}

#[test]
fn a_client_that_cannot_ask_is_told_how_to_allow_it() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let (scene, model) = (booking(), writing(&[BOOKING]));
        let mut client = Client::legacy(&scene, &[], Some(&model), &capabilities);
        let result = client.call("rlm_query", &query()["arguments"]);
        expect!["`book` may change something, so it needs consent: `--allow-tool book`"]
            .assert_eq(answer(&result));
        assert_eq!(booked(&scene), "");
    }
}

#[test]
fn a_session_of_an_agent_asks_too_and_a_reply_that_is_none_is_a_no() {
    let scene = booking();
    let mut client = Client::legacy(&scene, &[], None, &json!({ "elicitation": {} }));
    let code = "try:\n    print(book('7A'))\nexcept ToolError as error:\n    print(error)";
    let params = json!({ "name": "rlm_repl", "arguments": { "code": code, "paths": ["notes"] } });
    let id = client.begin("tools/call", params);
    let asked = client.asked();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "no" } }));
    let result = client.answer(id)["result"].clone();
    let output = result["structuredContent"]["output"].as_str().unwrap();
    assert_eq!((output.trim_end(), booked(&scene)), (DENIED, String::new()));
}

#[test]
fn a_run_that_waits_says_so() {
    let (scene, model) = (booking(), writing(&[BOOKING]));
    let mut client = Client::legacy(&scene, &[], Some(&model), &json!({ "elicitation": {} }));
    let id = client.begin("tools/call", query());
    let asked = client.asked();
    let status = crate::scene::wait_for("the state", || {
        let status = client.data("rlm_status", &json!({ "run": scene.only_run() }));
        (status["state"] == "waiting").then_some(status)
    });
    assert_eq!(status["question"], QUESTION);
    let allow = json!({ "action": "accept", "content": { "allow": true } });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": allow }));
    assert_eq!(answer(&client.answer(id)["result"]), "seat 1");
}
