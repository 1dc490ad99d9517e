//! Runs with a configured provider: answers, limits, progress, cancelling, disconnecting and reconnecting.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer};

use super::client::{Client, text_of};
use crate::scene::{
    NOTE, QUESTION, REPLY, Scene, answering, json_without_times, n_calls, to_all, wait_at, wait_for,
};

fn query() -> Value {
    json!({ "question": QUESTION, "paths": ["notes"] })
}

#[test]
fn a_question_is_answered_with_its_evidence() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let result = client.call("rlm_query", &query());
    expect![[r"
        The magic number is 42.
          a.md:3  The magic number is 42.
        [1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT]"]]
    .assert_eq(&scene.normalise(&text_of(&result)));
    let data = json_without_times(
        serde_json::from_str(&scene.normalise(&result["structuredContent"].to_string())).unwrap(),
    );
    expect![[r#"{"active_ms":0,"answer":"The magic number is 42.","bytes_read":35,"calls":1,"calls_cached":0,"citations":[{"document":"a.md","line":3,"quote":"The magic number is 42."}],"confidence":1.0,"corpus_bytes":35,"degraded":false,"documents":1,"documents_read":1,"error":null,"errors":[],"evidence":[{"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}],"grounding":"cited","metrics":{"active_ms":0,"calls":1,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":120,"tools":{}},"model":"openai/scripted","outcome":{"is":"answered"},"redacted":{},"run":"RUN","skipped":{},"state":"answered","success":true,"usage":{"input_tokens":100,"output_tokens":20},"warnings":[]}"#]]
    .assert_eq(&data.to_string());
    // The same run, from its journal.
    let run = scene.only_run();
    let again = client.data("rlm_result", &json!({ "run": run }));
    assert_eq!(again["answer"], "The magic number is 42.");
    assert_eq!(client.data("rlm_result", &json!({ "run": run, "offset": 10 }))["answer"], "number is 42.");
    assert_eq!(client.data("rlm_status", &json!({ "run": run }))["state"], "answered");
    assert_eq!(client.data("rlm_status", &json!({}))["total"], 1);
    let uri = format!("spelunk://run/{run}");
    let resource =
        client.request("resources/read", json!({ "uri": uri }))["result"]["contents"][0]["text"].clone();
    assert_eq!(
        serde_json::from_str::<Value>(resource.as_str().unwrap()).unwrap()["answer"],
        "The magic number is 42."
    );
}

#[test]
fn contexts_can_be_asked_about() {
    let (scene, server) =
        (Scene::new(&NOTE), answering("42.\n\n```evidence\nnumbers:3: The magic number is 42.\n```"));
    let mut client = Client::modern(&scene, &[], Some(&server), &json!({}));
    client.call("context_register", &json!({ "path": "notes/a.md", "context_id": "numbers" }));
    client.call("context_register", &json!({ "text": "A note that was given.\n", "context_id": "given" }));
    let data = client.data("rlm_query", &json!({ "question": QUESTION, "contexts": ["numbers", "given"] }));
    assert_eq!(
        data["citations"],
        json!([{ "document": "numbers", "line": 3, "quote": "The magic number is 42." }])
    );
    assert_eq!(data["documents"], 2);
}

#[test]
fn without_a_model_the_best_passages_are_shown_and_the_ways_to_one() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    let result = client.call("rlm_query", &query());
    expect![[r#"
        Best-matching passages (no model was used):

        a.md:3
            # Numbers
            The magic number is 42.

        [no model answered: set ANTHROPIC_API_KEY or OPENAI_API_KEY for the server or start a local one such as Ollama, use a client that can sample, or explore with rlm_repl and the context tools yourself]"#]]
    .assert_eq(&text_of(&result));
    assert_eq!(
        (result["isError"].as_bool(), result["structuredContent"]["degraded"].as_bool()),
        (Some(false), Some(true))
    );
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn the_caller_can_lower_limits_and_not_raise_them() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &["--set", "limits.calls_max=0"], Some(&server), &json!({}));
    let said = client.call(
        "rlm_query",
        &json!({ "question": QUESTION, "paths": ["notes"], "limits": { "calls_max": 100 } }),
    );
    assert_eq!(
        (said["isError"].as_bool(), said["structuredContent"]["error"]["code"].as_str()),
        (Some(true), Some("calls-exhausted"))
    );
    let said = client.text(
        "rlm_query",
        &json!({ "question": QUESTION, "paths": ["notes"], "limits": { "files_max": 1 } }),
    );
    assert!(said.contains("may contain calls_max"), "{said}");
    assert_eq!(n_calls(&server), 0);
}

#[test]
fn a_wrong_question_is_refused_before_anything_is_spent() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    for (arguments, says) in [
        (json!({ "paths": ["notes"] }), "the argument `question` is missing"),
        (json!({ "question": " ", "paths": ["notes"] }), "is empty"),
        (json!({ "question": "q", "paths": ["notes"], "strategy": "guess" }), "must be one of auto"),
        (json!({ "question": "q", "paths": ["notes"], "focus": "x" }), "must be one of general"),
        (json!({ "question": "q", "paths": ["notes"], "schema": { "type": 7 } }), "schema"),
        (json!({ "question": "q", "contexts": ["nope"] }), "there is no context `nope`"),
        (json!({ "question": "q", "paths": ["gone.txt"] }), "does not exist"),
    ] {
        let said = client.text("rlm_query", &arguments);
        assert!(said.starts_with("FAILED") && said.contains(says), "{said}");
    }
    assert_eq!(n_calls(&server), 0);
}

#[test]
fn a_run_can_be_left_and_asked_for_later() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let begun = client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"], "wait_ms": 0 }));
    assert_eq!(begun["state"], "running");
    let run = begun["run"].as_str().unwrap().to_owned();
    wait_at(&gate, &server);
    assert_eq!(client.data("rlm_status", &json!({ "run": run }))["state"], "running");
    let waiting = client.begin("tools/call", json!({ "name": "rlm_result", "arguments": { "run": run } }));
    gate.open();
    assert_eq!(client.answer(waiting)["result"]["structuredContent"]["answer"], "The magic number is 42.");
}

#[test]
fn progress_is_told_to_whoever_wants_it_and_grows() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let params = json!({ "name": "rlm_query", "arguments": query(), "_meta": { "progressToken": "p1" } });
    client.request("tools/call", params);
    let told: Vec<f64> = client
        .notices
        .iter()
        .filter(|notice| {
            notice["method"] == "notifications/progress" && notice["params"]["progressToken"] == "p1"
        })
        .map(|notice| notice["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(!told.is_empty());
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
    client.notices.clear();
    client.call("rlm_query", &json!({ "question": "Another one?", "paths": ["notes"] }));
    assert_eq!(client.notices, Vec::<Value>::new());
}

#[test]
fn a_cancelled_request_cancels_its_run_and_a_cancelled_run_goes_on() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let id = client.begin("tools/call", json!({ "name": "rlm_query", "arguments": query() }));
    wait_at(&gate, &server);
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
    let run = scene.only_run();
    wait_for("the end of the run", || {
        (client.data("rlm_status", &json!({ "run": run }))["state"] == "cancelled").then_some(())
    });
    assert!(client.text("rlm_cancel", &json!({ "run": run })).contains("is not in progress on this server"));
    gate.open();
    assert_eq!(client.data("rlm_resume", &json!({ "run": run }))["answer"], "The magic number is 42.");
    // A cancelled request gets no response.
    assert!(client.notices.iter().all(|notice| notice["id"] != id), "{:?}", client.notices);
}

#[test]
fn a_run_is_cancelled_by_name() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let run =
        client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"], "wait_ms": 0 }))["run"]
            .clone();
    wait_at(&gate, &server);
    assert_eq!(client.data("rlm_cancel", &json!({ "run": run }))["state"], "cancelled");
    assert_eq!(client.data("rlm_status", &json!({ "run": run }))["state"], "cancelled");
}

#[test]
fn a_run_whose_server_was_killed_goes_on_in_the_next_one() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let run =
        client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"], "wait_ms": 0 }))["run"]
            .clone();
    wait_at(&gate, &server);
    client.kill();
    gate.open();
    let mut client = Client::modern(&scene, &[], Some(&server), &json!({}));
    assert!(client.text("rlm_result", &json!({ "run": run })).contains("was interrupted"));
    assert_eq!(client.data("rlm_resume", &json!({ "run": run }))["answer"], "The magic number is 42.");
}

#[test]
fn a_client_that_leaves_stops_its_runs_where_they_are() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    client.data("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"], "wait_ms": 0 }));
    wait_at(&gate, &server);
    assert_eq!(client.close(), (0, String::new()));
    gate.open();
    // The journal is complete and unlocked: the command line continues it.
    let ran = scene.spelunk(["resume"]).server(&server).run();
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("The magic number is 42.")), "{}", ran.stderr);
}

#[test]
fn a_run_over_other_directories_is_not_resumed() {
    let (scene, server) =
        (Scene::new(&[("in/a.md", "a\n"), ("out/b.md", "The magic number is 42.\n")]), answering(REPLY));
    let ran = scene.spelunk(["ask", QUESTION, "out", "--set", "limits.calls_max=0"]).server(&server).run();
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let mut client = Client::legacy(&scene, &["--root", "in"], Some(&server), &json!({}));
    let said = client.text("rlm_resume", &json!({ "run": scene.only_run() }));
    assert!(said.contains("outside the directories"), "{said}");
}

#[test]
fn a_plan_spends_nothing() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let plan = client.data("rlm_plan", &json!({ "question": "review", "paths": ["notes"], "tasks": true }));
    assert_eq!((plan["n_tasks"].as_u64(), plan["manifest"][0]["file"].as_str()), (Some(1), Some("a.md")));
    assert_eq!((server.requests().len(), scene.exists(".spelunk")), (0, false));
}
