//! Runs with the client's own model: by requests in one era of the protocol, in rounds in the other.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use crate::scene::{NOTE, QUESTION, REPLY, Scene};

fn sampled(text: &str) -> Value {
    json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "theirs", "stopReason": "endTurn" })
}

fn query() -> Value {
    json!({ "name": "rlm_query", "arguments": { "question": QUESTION, "paths": ["notes"] } })
}

#[test]
fn a_client_with_a_handshake_is_asked_by_a_request() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::legacy(&scene, &[], None, &json!({ "sampling": {} }));
    let id = client.begin("tools/call", query());
    let asked = client.asked();
    assert_eq!(asked["method"], "sampling/createMessage");
    let params = &asked["params"];
    assert_eq!(params["maxTokens"], 4096);
    expect![[r#"{"costPriority":0.3,"intelligencePriority":0.9,"speedPriority":0.3}"#]]
        .assert_eq(&rounded(&params["modelPreferences"]));
    assert!(params["systemPrompt"].as_str().is_some_and(|system| !system.is_empty()));
    let roles: Vec<&str> =
        params["messages"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user"]);
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": sampled(REPLY) }));
    let data = client.answer(id)["result"]["structuredContent"].clone();
    assert_eq!(
        (data["answer"].as_str(), data["model"].as_str()),
        (Some("The magic number is 42."), Some("mcp/theirs"))
    );
}

#[test]
fn a_limit_on_cost_is_refused_where_the_client_tells_no_price() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::legacy(&scene, &[], None, &json!({ "sampling": {} }));
    let mut query = query();
    query["arguments"]["limits"] = json!({ "cost_microusd_max": 1_000_000 });
    let id = client.begin("tools/call", query);
    let result = client.answer(id)["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["structuredContent"]["error"]["code"], "price-unknown", "{result}");
    assert!(scene.runs().is_empty());
}

/// Rounded, because 0.1 in single precision is not exact.
fn rounded(value: &Value) -> String {
    let tenth = |value: &Value| (value.as_f64().unwrap() * 10.0).round() / 10.0;
    let fields = value.as_object().unwrap().iter().map(|(name, value)| (name.clone(), json!(tenth(value))));
    Value::Object(fields.collect()).to_string()
}

#[test]
fn a_person_who_refuses_ends_the_run_and_it_can_go_on() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::legacy(&scene, &[], None, &json!({ "sampling": {} }));
    let id = client.begin("tools/call", query());
    let asked = client.asked();
    let no = json!({ "code": -1, "message": "User rejected sampling request" });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": no }));
    let result = client.answer(id)["result"].clone();
    assert_eq!(result["isError"], true);
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "model-request-refused");
    assert!(
        error
            .to_string()
            .contains("the client rejected the sampling request: User rejected sampling request"),
        "{error}"
    );
    let run = result["structuredContent"]["run"].clone();
    // The command line has no client to call.
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        --- stderr
        error: the run was started by an MCP client with its own model or agents

        hint: continue it from such a client with the tool `rlm_run`
        --- exit 2
    "#]]);
    let id = client.begin("tools/call", json!({ "name": "rlm_resume", "arguments": { "run": run } }));
    let asked = client.asked();
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": sampled(REPLY) }));
    assert_eq!(client.answer(id)["result"]["structuredContent"]["answer"], "The magic number is 42.");
}

#[test]
fn a_client_that_cannot_sample_after_all_gets_passages() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::legacy(&scene, &[], None, &json!({ "sampling": {} }));
    let id = client.begin("tools/call", query());
    let asked = client.asked();
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "no" } }));
    let result = client.answer(id)["result"].clone();
    let data = &result["structuredContent"];
    assert_eq!((&result["isError"], &data["degraded"]), (&json!(false), &json!(true)), "{result}");
    assert_eq!(data["passages"][0]["document"], "a.md", "{data}");
    assert!(data["hint"].as_str().unwrap().contains("declares sampling but does not support it"), "{data}");
    assert!(!client.text("context_list", &json!({})).starts_with("FAILED"));
}

#[test]
fn a_provider_goes_before_the_client_unless_the_caller_says_otherwise() {
    let (scene, server) = (Scene::new(&NOTE), crate::scene::answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({ "sampling": {} }));
    let data = client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"] }));
    assert_eq!(data["model"], "openai/scripted");
    let mut params = query();
    params["arguments"]["model"] = json!("client");
    let id = client.begin("tools/call", params);
    let asked = client.asked();
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": sampled(REPLY) }));
    assert_eq!(client.answer(id)["result"]["structuredContent"]["model"], "mcp/theirs");
}

#[test]
fn a_client_without_a_handshake_is_asked_in_rounds() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    let round = client.request("tools/call", query())["result"].clone();
    assert_eq!(round["resultType"], "input_required");
    let asked = round["inputRequests"].as_object().unwrap();
    assert_eq!(asked.len(), 1);
    let (key, request) = asked.iter().next().unwrap();
    assert_eq!(
        (request["method"].as_str(), request["params"]["maxTokens"].as_u64()),
        (Some("sampling/createMessage"), Some(4096))
    );
    let mut again = query();
    again["requestState"] = round["requestState"].clone();
    again["inputResponses"] = json!({ key: sampled(REPLY) });
    let answer = client.request("tools/call", again.clone())["result"].clone();
    assert_eq!(answer["structuredContent"]["answer"], "The magic number is 42.", "{answer}");
    // A handle is valid once.
    let twice = client.request("tools/call", again)["result"].clone();
    assert_eq!(twice["isError"], true);
}

/// Answers every question of a round the same way until the call is complete. Returns the result and the number of
/// questions in each round.
fn play(client: &mut Client, call: &Value, reply: impl Fn(&str) -> String) -> (Value, Vec<usize>) {
    let (mut params, mut rounds) = (call.clone(), Vec::new());
    loop {
        let result = client.request("tools/call", params)["result"].clone();
        if result["resultType"] != "input_required" {
            return (result, rounds);
        }
        let asked = result["inputRequests"].as_object().unwrap();
        rounds.push(asked.len());
        let replies: serde_json::Map<String, Value> =
            asked.iter().map(|(key, request)| (key.clone(), sampled(&reply(&request.to_string())))).collect();
        params = call.clone();
        params["requestState"] = result["requestState"].clone();
        params["inputResponses"] = json!(replies);
    }
}

#[test]
fn calls_that_begin_together_are_asked_in_one_round() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    let code = "answers = llm_query_batched([f'question {i}' for i in range(6)])\nFINAL(' '.join(answers))";
    let call = json!({ "name": "rlm_query", "arguments": { "question": "Ask six.", "paths": ["notes"], "strategy": "repl" } });
    let (result, rounds) = play(&mut client, &call, |request| match request.split_once("question ") {
        Some((_, rest)) if !request.contains("Ask six.") => format!("a{}", rest.chars().next().unwrap()),
        Some(_) | None => format!("```repl\n{code}\n```"),
    });
    assert_eq!(rounds, [1, 6], "{result}");
    assert_eq!(result["structuredContent"]["answer"], "a0 a1 a2 a3 a4 a5", "{result}");
}

#[test]
fn the_parts_of_a_directory_are_read_in_few_rounds() {
    let files: Vec<(String, String)> = (0..5)
        .map(|n| (format!("src/f{n}.py"), format!("def f{n}():\n    return {n}\n").repeat(800)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let scene = Scene::new(&files);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    let arguments = json!({ "question": "Review it.", "paths": ["src"], "strategy": "map" });
    let call = json!({ "name": "rlm_query", "arguments": arguments });
    let n_tasks = client.data("rlm_plan", &json!({ "paths": ["src"] }))["n_tasks"].as_u64().unwrap();
    assert!(n_tasks > 20, "{n_tasks}");
    let (result, rounds) = play(&mut client, &call, |request| {
        let is_analyst = request.contains("Reply with one JSON object");
        let reply = if is_analyst {
            r#"{"relevant": true, "summary": "s", "findings": [{"type": "pattern", "summary": "a function", "file": "f0.py", "line": 1, "evidence": "def f0():", "severity": "low"}]}"#
        } else {
            "## Summary\n\nFunctions [F1].\n"
        };
        reply.to_owned()
    });
    assert_eq!(result["isError"], false, "{result}");
    // A round contains all calls in flight when the client is asked.
    assert!(rounds.first().is_some_and(|first| *first > 1), "{rounds:?}");
    assert!(rounds.len() <= 10, "{rounds:?}");
}

#[test]
fn after_ten_rounds_the_caller_is_told_to_configure_a_provider_and_can_go_on() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    let call = json!({ "name": "rlm_query", "arguments": { "question": "Ask on.", "paths": ["notes"], "strategy": "repl" } });
    let n = std::cell::Cell::new(0);
    let reply = |_: &str| {
        n.set(n.get() + 1);
        if n.get() < 12 {
            format!("```repl\nprint('turn {}', len(context))\n```", n.get())
        } else {
            "```repl\nFINAL('done')\n```".to_owned()
        }
    };
    let (result, rounds) = play(&mut client, &call, reply);
    assert_eq!(rounds, [1; 10]);
    let said = result["content"][0]["text"].as_str().unwrap();
    assert!(
        said.contains("asked the client's model in 10 rounds") && said.contains("configure a provider"),
        "{said}"
    );
    let go_on = json!({ "name": "rlm_result", "arguments": { "run": scene.only_run() } });
    let (result, rounds) = play(&mut client, &go_on, reply);
    assert_eq!(
        (rounds, result["structuredContent"]["answer"].as_str()),
        (vec![1; 2], Some("done")),
        "{result}"
    );
}

#[test]
fn a_round_without_the_replies_is_a_refusal() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    for replies in
        [json!({}), json!({ "1:0#0": 7, "other": {} }), json!({ "1:0#0": { "role": "assistant" } })]
    {
        let round = client.request("tools/call", query())["result"].clone();
        let mut again = query();
        again["requestState"] = round["requestState"].clone();
        again["inputResponses"] = replies;
        let result = client.request("tools/call", again)["result"].clone();
        assert_eq!(
            (result["isError"].as_bool(), result["structuredContent"]["error"]["code"].as_str()),
            (Some(true), Some("model-request-refused")),
            "{result}"
        );
    }
}

#[test]
fn s3_11_the_root_and_its_sub_calls_have_hints_of_their_own() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    let hints = std::cell::RefCell::new(Vec::new());
    let call = json!({ "name": "rlm_query", "arguments": { "question": "Ask one.", "paths": ["notes"], "strategy": "repl" } });
    let (result, _) = play(&mut client, &call, |request| {
        let asked: Value = serde_json::from_str(request).unwrap();
        hints.borrow_mut().push(rounded(&asked["params"]["modelPreferences"]));
        if request.contains("Ask one.") { "```repl\nFINAL(llm_query('a sub-question'))\n```" } else { "42" }
            .to_owned()
    });
    assert_eq!(result["structuredContent"]["answer"], "42", "{result}");
    expect![[r#"
        {"costPriority":0.3,"intelligencePriority":0.9,"speedPriority":0.3}
        {"costPriority":0.8,"intelligencePriority":0.4,"speedPriority":0.7}"#]]
    .assert_eq(&hints.borrow().join("\n"));
}
