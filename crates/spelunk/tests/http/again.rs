//! Commitments over HTTP: a run stopped by a limit continues under a higher one, an accepted run starts even though its
//! journal is torn and the next request finds it, and an unread log does not block the server.

use std::io::{BufRead as _, BufReader, Read as _};

use serde_json::json;
use spelunk_testkit::{Gate, ModelServer};

use super::client::Server;
use crate::kill::raised::explorer;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, to_all, wait_at, wait_for};

fn stopped_at_a_limit(server: &Server) -> String {
    let request =
        json!({ "question": QUESTION, "paths": ["notes"], "strategy": "repl", "limits": { "calls_max": 2 } });
    let run = server.ask_with(&request);
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"stopped: calls-exhausted"}"#);
    run
}

#[test]
fn a_run_that_a_limit_stopped_is_resumed_under_a_higher_one_and_an_unchanged_one_is_refused() {
    let gate = Gate::new();
    gate.open();
    let (scene, model) = (Scene::new(&NOTE), explorer(&gate));
    let server = Server::start(&scene, &["--set", "limits.calls_max=10"], Some(&model));
    let run = stopped_at_a_limit(&server);
    let resume = format!("/v1/runs/{run}/resume");
    let refused = server.post(&resume, &json!({ "limits": { "calls_max": 2 } }));
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (409, &json!("calls-exhausted")),
        "{}",
        refused.body
    );
    assert_eq!(refused.json()["hint"], r#"send `{"limits":{"calls_max":4}}`"#);
    assert_eq!(server.post(&resume, &json!({ "limits": { "calls_max": 5 } })).status, 202);
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"answered"}"#);
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    assert_eq!((&result["answer"], &result["calls"]), (&json!("42"), &json!(3)));
    assert_eq!(n_calls(&model), 3);
    let over = server.post(&resume, &json!({}));
    assert_eq!((over.status, &over.json()["code"]), (409, &json!("run-finished")));
}

#[test]
fn a_server_whose_own_limit_was_reached_says_where_to_raise_it() {
    let gate = Gate::new();
    gate.open();
    let (scene, model) = (Scene::new(&NOTE), explorer(&gate));
    let server = Server::start(&scene, &["--set", "limits.calls_max=2"], Some(&model));
    let run = stopped_at_a_limit(&server);
    let refused = server.post(&format!("/v1/runs/{run}/resume"), &json!({})).json();
    let hint = "raise `limits.calls_max` in the settings of the server: a request can only lower it";
    assert_eq!(refused["hint"], hint);
    server.kill();
    let server = Server::start(&scene, &["--set", "limits.calls_max=9"], Some(&model));
    assert_eq!(server.post(&format!("/v1/runs/{run}/resume"), &json!({})).status, 202);
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"answered"}"#);
}

#[test]
fn a_resume_that_was_promised_survives_a_crash_with_its_limits() {
    let gate = Gate::new();
    let (scene, model) = (Scene::new(&NOTE), explorer(&gate));
    let server = Server::start(&scene, &[], Some(&model));
    let run = stopped_at_a_limit(&server);
    let resumed = server.post(&format!("/v1/runs/{run}/resume"), &json!({ "limits": { "calls_max": 4 } }));
    assert_eq!(resumed.status, 202);
    wait_for("the answer", || (n_calls(&model) == 3).then_some(()));
    gate.reached_blocking(1);
    server.kill();
    gate.open();
    let server = Server::start(&scene, &[], Some(&model));
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"answered"}"#);
    // With the original limits, the run would have stopped again.
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "42");
    let left = std::fs::read_dir(scene.path(".spelunk/server/tickets")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_run_whose_first_line_is_torn_begins_again_from_its_ticket() {
    // What a power cut may leave of a line: nothing, a piece, all but the end, zeros.
    for torn in [&b""[..], b"{\"seq\":1,\"at_ms\":17", &[0; 4096]] {
        let gate = Gate::new();
        let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
        let scene = Scene::new(&NOTE);
        let args = ["--set", "server.runs_parallel_max=1"];
        let server = Server::start(&scene, &args, Some(&model));
        let first = server.ask();
        wait_at(&gate, &model);
        let waiting = server.ask();
        server.kill();
        scene.write(&format!(".spelunk/runs/{waiting}/journal.jsonl"), torn);
        gate.open();
        let server = Server::start(&scene, &args, Some(&model));
        for run in [&first, &waiting] {
            assert_eq!(server.finish(run).last().unwrap().data, r#"{"state":"answered"}"#);
        }
        assert_eq!(scene.journal(&waiting)[0]["type"], "run.started");
    }
}

#[test]
fn a_run_that_was_promised_is_found_by_the_next_request() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=4"], Some(&model));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let run = server.ask();
                    for path in ["", "/events", ""] {
                        let path = format!("/v1/runs/{run}{path}");
                        let found = server.send("GET", &path, &[("Accept", "application/x-ndjson")], b"");
                        assert_eq!(found.status, 200, "{path}: {}", found.body);
                    }
                }
            });
        }
    });
}

#[test]
fn nobody_who_does_not_read_the_log_holds_up_the_server() {
    let scene = Scene::new(&NOTE);
    let mut child = scene.spelunk(["serve", "--listen", "127.0.0.1:0"]).start();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
    let server = Server::of(child, address);
    // More than a pipe (64 KiB) and the server's queue (a thousand lines) can hold.
    for _ in 0..2_500 {
        assert_eq!(server.get("/v1/runs").status, 200);
    }
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text
    });
    // The next lines have a reader again.
    wait_for("the report", || {
        assert_eq!(server.get("/v1/runs").status, 200);
        (server.get("/metrics").status == 200).then_some(())
    });
    assert_eq!(server.terminate(), Some(0));
    let text = reading.join().unwrap();
    let report = text.lines().find(|line| line.contains("log lines were dropped"));
    assert!(report.is_some(), "{} lines", text.lines().count());
}
