//! Asking over HTTP: from the request to the answer and its evidence.

use expect_test::expect;
use serde_json::json;

use super::client::{Server, ids};
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, to_all, wait_at};
use spelunk_testkit::{Gate, ModelServer};

#[test]
fn a_question_is_answered_and_the_events_are_those_of_the_journal() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let answer = server.post("/v1/runs", &json!({ "question": QUESTION, "paths": ["notes"] }));
    assert_eq!(answer.status, 202, "{}", answer.body);
    let run = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(answer.header("location"), Some(format!("/v1/runs/{run}").as_str()));
    let events = server.finish(&run);
    let journal = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    let recorded: Vec<&str> = events.iter().filter(|e| e.id.is_some()).map(|e| e.data.as_str()).collect();
    assert_eq!(recorded, journal.lines().collect::<Vec<_>>());
    let n_events = journal.lines().count() as u64;
    assert_eq!(ids(&events), (1..=n_events).collect::<Vec<_>>());
    let last = events.last().unwrap();
    assert_eq!((last.kind.as_str(), last.data.as_str(), last.id), ("end", r#"{"state":"answered"}"#, None));
    assert_eq!(events[0].kind, "run.started");
    // The command line and the server return the same.
    let shown = scene.spelunk(["show", &run, "--json"]).run();
    assert_eq!(server.get(&format!("/v1/runs/{run}")).body.trim(), shown.stdout.trim());
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    expect![[r#"{"active_ms":0,"answer":"The magic number is 42.","bytes_read":35,"calls":1,"calls_cached":0,"citations":[{"document":"a.md","line":3,"quote":"The magic number is 42."}],"confidence":1.0,"corpus_bytes":35,"degraded":false,"documents":1,"documents_read":1,"error":null,"errors":[],"evidence":[{"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}],"grounding":"cited","metrics":{"active_ms":0,"calls":1,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":120,"tools":{}},"model":"openai/scripted","outcome":{"is":"answered"},"redacted":{},"run":"RUN","skipped":{},"success":true,"usage":{"input_tokens":100,"output_tokens":20},"warnings":[]}"#]]
    .assert_eq(&scene.normalise_json(&result.to_string()).to_string());
    let evidence = server.get(&format!("/v1/runs/{run}/evidence")).json();
    assert_eq!(
        evidence["citations"],
        json!([{ "document": "a.md", "line": 3, "quote": "The magic number is 42.", "found": "exact" }])
    );
}

#[test]
fn text_and_uploads_are_answered_from() {
    let model = answering("42.\n\n```evidence\nnumbers.txt:1: The number is 42.\n```");
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask_with(&json!({ "question": QUESTION, "text": "The number is 41.\n" }));
    server.finish(&run);
    assert!(model.requests().iter().any(|request| request.body.contains("The number is 41.")));
    let form = "--B\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{\"question\":\"What number?\"}\r\n\
        --B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"numbers.txt\"\r\n\r\nThe number is 42.\r\n--B--\r\n";
    let headers = [("Content-Type", "multipart/form-data; boundary=B")];
    let answer = server.send("POST", "/v1/runs", &headers, form.as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.body);
    let run = answer.json()["id"].as_str().unwrap().to_owned();
    server.finish(&run);
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    assert_eq!(
        result["citations"],
        json!([{ "document": "numbers.txt", "line": 1, "quote": "The number is 42." }])
    );
    assert!(!scene.exists(&format!(".spelunk/server/uploads/{run}")));
    assert!(!scene.exists(&format!(".spelunk/server/tickets/{run}.json")));
}

#[test]
fn a_long_upload_arrives_whole() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let text = "The magic number is 42.\n--B is no boundary here\r\n".repeat(30_000);
    let form = format!(
        "--B9\r\nContent-Disposition: form-data; name=\"file\"; filename=\"long.txt\"\r\n\r\n{text}\r\n--B9\r\n\
        Content-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n--B9--\r\n",
        json!({ "question": QUESTION, "strategy": "search" }),
    );
    let headers = [("Content-Type", "multipart/form-data; boundary=B9")];
    let answer = server.send("POST", "/v1/runs", &headers, form.as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.body);
    let run = answer.json()["id"].as_str().unwrap().to_owned();
    server.finish(&run);
    let blob = scene.journal(&run)[0]["sources"][0]["content"]["blob"].as_str().unwrap().to_owned();
    assert!(server.get(&format!("/v1/runs/{run}/blobs/{blob}")).body == text);
}

#[test]
fn a_registered_context_is_answered_from() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    assert_eq!(scene.spelunk(["context", "add", "notes/a.md", "--id", "numbers"]).run().code, 0);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask_with(&json!({ "question": QUESTION, "contexts": ["numbers"] }));
    server.finish(&run);
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["documents"], 1);
    let unknown = server.post("/v1/runs", &json!({ "question": QUESTION, "contexts": ["nope"] }));
    assert_eq!(unknown.problem(), (404, "context-not-found".into()));
}

#[test]
fn the_list_has_pages_filters_and_what_waits() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=1"], Some(&model));
    let first = server.ask();
    let second = server.ask_with(&json!({ "question": "Why Then?", "paths": ["notes"] }));
    wait_at(&gate, &model);
    let states = |query: &str| {
        let page = server.get(&format!("/v1/runs{query}")).json();
        let rows = page["runs"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| (row["run"].as_str().unwrap().to_owned(), row["state"].clone(), row["queued"].clone()))
            .collect::<Vec<_>>()
    };
    let (running, queued) =
        ((first.clone(), json!("running"), json!(false)), (second.clone(), json!("queued"), json!(true)));
    assert_eq!(states(""), [queued.clone(), running.clone()]);
    assert_eq!(states("?state=queued"), std::slice::from_ref(&queued));
    assert_eq!(states("?state=running&limit=1"), std::slice::from_ref(&running));
    assert_eq!(states("?q=why%20then"), [queued]);
    let page = server.get("/v1/runs?limit=1").json();
    assert_eq!(page["next"], json!(second));
    assert_eq!(states(&format!("?limit=1&cursor={second}")), [running]);
    let shown = server.get(&format!("/v1/runs/{second}")).json();
    assert_eq!((&shown["question"], &shown["events"]), (&json!("Why Then?"), &json!(0)));
    assert_eq!(server.get(&format!("/v1/runs/{second}/result")).problem(), (409, "run-not-begun".into()));
    assert_eq!(server.get(&format!("/v1/runs/{first}/result")).problem(), (409, "run-not-ended".into()));
    gate.open();
    server.finish(&first);
    server.finish(&second);
    assert_eq!(states("?state=answered").len(), 2);
    let row = server.get("/v1/runs?limit=1").json()["runs"][0].clone();
    let facts = ["status", "strategy", "model"].map(|name| row[name].clone());
    assert_eq!(facts, ["answered", "direct", "openai/scripted"]);
}

#[test]
fn a_run_is_cancelled_resumed_and_removed() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=1"], Some(&model));
    let (run, waiting) = (server.ask(), server.ask());
    wait_at(&gate, &model);
    assert_eq!(server.delete(&format!("/v1/runs/{run}")).problem(), (409, "run-at-work".into()));
    // A queued run never starts.
    let cancelled = server.post(&format!("/v1/runs/{waiting}/cancel"), &json!({}));
    assert_eq!((cancelled.status, cancelled.json()["state"].clone()), (202, json!("cancelled")));
    assert_eq!(server.get(&format!("/v1/runs/{waiting}")).json()["outcome"], json!({ "is": "cancelled" }));
    assert_eq!(server.finish(&waiting).last().unwrap().data, r#"{"state":"cancelled"}"#);
    assert_eq!(server.delete(&format!("/v1/runs/{waiting}")).status, 204);
    assert_eq!(server.get(&format!("/v1/runs/{waiting}")).problem(), (404, "run-not-found".into()));
    // A run in progress stops.
    assert_eq!(server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).status, 202);
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"cancelled"}"#);
    assert_eq!(
        server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).problem(),
        (409, "run-not-at-work".into())
    );
    gate.open();
    assert_eq!(server.send("POST", &format!("/v1/runs/{run}/resume"), &[], b"").status, 202);
    let events = server.finish(&run);
    assert_eq!(events.last().unwrap().data, r#"{"state":"answered"}"#);
    assert_eq!(
        server.post(&format!("/v1/runs/{run}/resume"), &json!({})).problem(),
        (409, "run-finished".into())
    );
    assert_eq!(server.delete(&format!("/v1/runs/{run}")).status, 204);
    assert!(scene.runs().is_empty());
    assert_eq!(server.get("/v1/runs").json(), json!({ "runs": [] }));
}

#[test]
fn the_same_key_is_the_same_run_also_after_a_restart() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let ask = |server: &Server, key: &str, question: &str| {
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key)];
        let body = json!({ "question": question, "paths": ["notes"] }).to_string();
        server.send("POST", "/v1/runs", &headers, body.as_bytes())
    };
    let id = |answer: super::client::Answer| answer.json()["id"].as_str().unwrap().to_owned();
    let run = id(ask(&server, "k1", QUESTION));
    assert_eq!(id(ask(&server, "k1", QUESTION)), run);
    assert_eq!(ask(&server, "k1", "Another?").problem(), (409, "key-reused".into()));
    assert_ne!(id(ask(&server, "k2", QUESTION)), run);
    server.finish(&run);
    assert_eq!(id(ask(&server, "k1", QUESTION)), run);
    server.kill();
    let server = Server::start(&scene, &[], Some(&model));
    assert_eq!(id(ask(&server, "k1", QUESTION)), run);
    assert_eq!(ask(&server, "k1", "Another?").problem(), (409, "key-reused".into()));
    assert_eq!(ask(&server, &"k".repeat(300), QUESTION).problem(), (400, "parameter-wrong".into()));
    assert_eq!(scene.runs().len(), 2);
}

#[test]
fn what_cannot_begin_says_why_and_is_not_lost() {
    let scene = Scene::new(&[("notes/empty/.gitkeep", "")]);
    let model = answering(REPLY);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask_with(&json!({ "question": QUESTION, "paths": ["notes/empty"] }));
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"failed: source-empty"}"#);
    let row = server.get("/v1/runs").json()["runs"][0].clone();
    assert_eq!(
        (&row["state"], &row["problem"]["code"]),
        (&json!("failed: source-empty"), &json!("source-empty"))
    );
    scene.write("notes/empty/a.md", b"The magic number is 42.\n");
    assert_eq!(server.post(&format!("/v1/runs/{run}/resume"), &json!({})).status, 202);
    server.finish(&run);
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["documents"], 1);
    assert_eq!(n_calls(&model), 1);
}

#[test]
fn without_a_model_nothing_is_promised() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    let answer = server.post("/v1/runs", &json!({ "question": QUESTION, "paths": ["notes"] }));
    assert_eq!(answer.problem(), (503, "model-not-configured".into()));
    assert_eq!(server.get("/v1/server").json()["has_model"], false);
    assert!(scene.runs().is_empty());
}
