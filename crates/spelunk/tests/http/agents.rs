//! `/mcp`: agents over HTTP, of both eras of the protocol.

use serde_json::{Value, json};

use spelunk_testkit::{Gate, ModelServer};

use super::client::{Answer, Server};
use crate::mcp::client::{LEGACY, MODERN};
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, to_all, wait_at, wait_for};

fn message(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn send(server: &Server, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut all =
        vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    all.extend(headers);
    server.send("POST", "/mcp", &all, body.to_string().as_bytes())
}

/// The response, whether it came directly or in a stream.
fn answer_of(answer: &Answer, id: u64) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let lines = answer.body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    messages.into_iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{}", answer.body))
}

#[test]
fn an_agent_of_the_older_era_has_a_session() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let hello = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let answer = send(&server, &[], &message(1, "initialize", &hello));
    assert_eq!(answer_of(&answer, 1)["result"]["protocolVersion"], LEGACY);
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let headers = [("Mcp-Session-Id", session.as_str()), ("Mcp-Protocol-Version", LEGACY)];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(&server, &headers, &ready).status, 202);
    let call = json!({ "name": "rlm_query", "arguments": { "question": QUESTION, "paths": ["notes"] } });
    let answer = send(&server, &headers, &message(2, "tools/call", &call));
    assert_eq!(answer_of(&answer, 2)["result"]["structuredContent"]["answer"], "The magic number is 42.");
    // The run is in the server's workspace, and the HTTP API shows it.
    let run = scene.only_run();
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "The magic number is 42.");
    let gone = server.send("DELETE", "/mcp", &headers, b"");
    assert!(gone.status / 100 == 2, "{}", gone.status);
    assert_eq!(send(&server, &headers, &message(3, "tools/list", &json!({}))).status, 404);
}

#[test]
fn an_agent_of_the_newer_era_needs_no_session() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({ "name": "context_register", "_meta": meta,
        "arguments": { "path": "notes/a.md", "context_id": "numbers" } });
    let headers =
        [("Mcp-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "context_register")];
    let answer = send(&server, &headers, &message(1, "tools/call", &call));
    assert_eq!(answer_of(&answer, 1)["result"]["isError"], false, "{}", answer.body);
    assert_eq!(answer.header("mcp-session-id"), None);
    // Runs over HTTP can use a context that an agent registered.
    let run = server.ask_with(&json!({ "question": QUESTION, "contexts": ["numbers"] }));
    server.finish(&run);
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["documents"], 1);
}

#[test]
fn messages_that_are_none_are_refused_and_the_next_one_is_served() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--set", "server.body_bytes_max=2000"], None);
    for body in ["", "{", "[]", "7", r#"{"jsonrpc":"1.0"}"#] {
        let headers =
            [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        let answer = server.send("POST", "/mcp", &headers, body.as_bytes());
        assert!(answer.status / 100 == 4, "{body}: {}", answer.status);
    }
    let long = message(1, "tools/list", &json!({ "x": "x".repeat(3_000) }));
    assert_eq!(send(&server, &[], &long).problem(), (413, "body-too-large".into()));
    let unknown = [("Mcp-Session-Id", "../../etc/passwd")];
    assert!(send(&server, &unknown, &message(1, "tools/list", &json!({}))).status / 100 == 4);
    let hello = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    assert_eq!(send(&server, &[], &message(1, "initialize", &hello)).status, 200);
}

/// Calls a tool as a client of the newer era, and returns what it says.
fn call(server: &Server, name: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [("Mcp-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", name)];
    let params = json!({ "name": name, "_meta": meta, "arguments": arguments });
    answer_of(&send(server, &headers, &message(1, "tools/call", &params)), 1)["result"].clone()
}

#[test]
fn runs_of_agents_and_of_http_share_slots_and_can_be_cancelled_from_either_side() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=1"], Some(&model));
    let query = json!({ "question": QUESTION, "paths": ["notes"], "wait_ms": 1 });
    call(&server, "rlm_query", &query);
    wait_at(&gate, &model);
    let of_agent = scene.only_run();
    // The only slot is taken: a run over HTTP waits, and another one of an agent is refused.
    let of_http = server.ask();
    let counts = server.get("/metrics").body;
    assert!(
        counts.contains("spelunk_runs_running 1\n") && counts.contains("spelunk_runs_queued 1\n"),
        "{counts}"
    );
    let refused = call(&server, "rlm_query", &query);
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"]["error"]["message"], "1 run already in progress", "{refused}");
    // Cancelled over HTTP, the agent's run ends and the other one begins.
    let cancelled = server.post(&format!("/v1/runs/{of_agent}/cancel"), &json!({}));
    assert_eq!(cancelled.status, 202, "{}", cancelled.body);
    wait_for("the waiting run to start", || scene.runs().contains(&of_http).then_some(()));
    // And the run of HTTP is cancelled by an agent.
    wait_for("the run to be cancelled", || {
        (call(&server, "rlm_cancel", &json!({ "run": of_http }))["isError"] != true).then_some(())
    });
    gate.open();
    let events = server.finish(&of_http);
    assert!(events.last().is_some_and(|event| event.data.contains("cancelled")), "{:?}", events.last());
}
