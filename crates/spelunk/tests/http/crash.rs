//! The server stops in every possible way: the next one completes the accepted work.

use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer};

use super::client::{Server, ids};
use crate::scene::{NOTE, REPLY, Scene, answering, n_calls, to_all, wait_at};

const ONE_AT_ONCE: [&str; 2] = ["--set", "server.runs_parallel_max=1"];

/// One run in progress, with an uploaded file and lower limits; others are queued, one of them with an upload.
fn in_the_middle(scene: &Scene, model: &ModelServer, gate: &Gate) -> (Server, Vec<String>) {
    let server = Server::start(scene, &ONE_AT_ONCE, Some(model));
    let upload = |question: &str| {
        let form = format!(
            "--B\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n--B\r\nContent-Disposition: form-data; \
            name=\"file\"; filename=\"up.txt\"\r\n\r\nThe magic number is 42.\r\n--B--\r\n",
            json!({ "question": question, "limits": { "calls_max": 7 } }),
        );
        let headers = [("Content-Type", "multipart/form-data; boundary=B")];
        let answer = server.send("POST", "/v1/runs", &headers, form.as_bytes());
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.json()["id"].as_str().unwrap().to_owned()
    };
    let mut runs = vec![upload("Under way?")];
    wait_at(gate, model);
    runs.push(upload("Waiting with a file?"));
    runs.push(server.ask());
    (server, runs)
}

fn all_are_answered(scene: &Scene, server: &Server, runs: &[String]) {
    for run in runs {
        let events = server.finish(run);
        assert_eq!(events.last().unwrap().data, r#"{"state":"answered"}"#);
        assert_eq!(ids(&events), (1..=scene.journal(run).len() as u64).collect::<Vec<_>>());
    }
    let mut names = scene.runs();
    names.sort();
    assert_eq!(names, runs);
    assert_eq!(scene.journal(&runs[0])[0]["limits"]["calls_max"], 7);
    let resumed =
        |run: &str| scene.journal(run).iter().filter(|event| event["type"] == "run.resumed").count();
    assert_eq!(runs.iter().map(|run| resumed(run)).collect::<Vec<_>>(), [1, 0, 0]);
    // Nothing remains to be done, and nothing is done twice.
    let left = std::fs::read_dir(scene.path(".spelunk/server/tickets")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn after_kill_9_every_run_is_finished_by_the_next_server() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let (server, runs) = in_the_middle(&scene, &model, &gate);
    server.kill();
    gate.open();
    let server = Server::start(&scene, &ONE_AT_ONCE, Some(&model));
    all_are_answered(&scene, &server, &runs);
    let log = server.log_with("continuing 3 runs");
    assert!(log.contains("continuing 3 runs"), "{log}");
}

#[test]
fn a_crash_after_any_event_costs_no_run_and_no_paid_reply() {
    // From right after acceptance to right before the end.
    for n_seen in 0..9 {
        let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
        let server = Server::start(&scene, &[], Some(&model));
        let run = server.ask();
        let seen = server.watch(&run, 0).filter(|event| event.id.is_some()).take(n_seen).count();
        assert_eq!(seen, n_seen);
        server.kill();
        let settled = scene
            .runs()
            .iter()
            .any(|run| scene.journal(run).iter().any(|event| event["type"] == "call.settled"));
        let n_before = n_calls(&model);
        let server = Server::start(&scene, &[], Some(&model));
        let events = server.finish(&run);
        assert_eq!(events.last().unwrap().data, r#"{"state":"answered"}"#, "after {n_seen} events");
        assert_eq!(ids(&events), (1..=scene.journal(&run).len() as u64).collect::<Vec<_>>());
        assert_eq!(scene.only_run(), run);
        if settled {
            assert_eq!(n_calls(&model), n_before, "after {n_seen} events");
        }
    }
}

#[test]
fn a_server_that_is_asked_to_stop_leaves_every_run_to_the_next_one() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let (server, runs) = in_the_middle(&scene, &model, &gate);
    let mut watching = server.watch(&runs[0], 0);
    assert_eq!(watching.next().unwrap().kind, "run.started");
    assert_eq!(server.terminate(), Some(0));
    // The stream closed without an `end` event: there is more to come.
    let rest: Vec<_> = watching.collect();
    assert!(rest.iter().all(|event| event.kind != "end"), "{rest:?}");
    assert!(scene.journal(&runs[0]).iter().all(|event| event["type"] != "run.finished"));
    gate.open();
    let server = Server::start(&scene, &ONE_AT_ONCE, Some(&model));
    all_are_answered(&scene, &server, &runs);
}

#[test]
fn a_run_that_cannot_go_on_says_why_and_is_not_tried_for_ever() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask();
    wait_at(&gate, &model);
    server.kill();
    scene.write("notes/a.md", b"Something else.\n");
    gate.open();
    let server = Server::start(&scene, &[], Some(&model));
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"open"}"#);
    let row = server.get("/v1/runs").json()["runs"][0].clone();
    assert_eq!((&row["state"], &row["problem"]["code"]), (&json!("open"), &json!("corpus-changed")));
    server.kill();
    let server = Server::start(&scene, &[], Some(&model));
    assert!(!server.log().contains("going on"), "{}", server.log());
    assert_eq!(n_calls(&model), 1);
}

/// The attempts that earlier servers recorded for a run.
fn tries(scene: &Scene, run: &str) -> Value {
    serde_json::from_str(&scene.read(&format!(".spelunk/server/tries/{run}.json"))).unwrap()
}

#[test]
fn a_run_that_took_two_servers_down_is_refused_by_the_third_and_stays_to_be_seen() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask();
    wait_at(&gate, &model);
    // The attempt is recorded before any work is done.
    assert_eq!(tries(&scene, &run), json!({ "n_tries": 1, "n_events": 0 }));
    server.kill();
    let resumed = |event: &&Value| event["type"] == "run.resumed";
    let journal = scene.journal(&run);
    let n_events = journal.len() - journal.iter().filter(resumed).count();
    let noted = json!({ "n_tries": 2, "n_events": n_events }).to_string();
    scene.write(&format!(".spelunk/server/tries/{run}.json"), noted.as_bytes());
    gate.open();
    let server = Server::start(&scene, &[], Some(&model));
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"open"}"#);
    let row = server.get("/v1/runs").json()["runs"][0].clone();
    let why = "the server crashed 2 times on run `SHORT` without progress";
    assert_eq!(row["problem"]["message"], why.replace("SHORT", run.get(run.len() - 8..).unwrap()));
    assert_eq!((&row["state"], &row["problem"]["code"]), (&json!("open"), &json!("run-fatal")));
    server.kill();
    let server = Server::start(&scene, &[], Some(&model));
    assert!(!server.log().contains("going on"), "{}", server.log());
    assert_eq!(n_calls(&model), 1);
    // A user may want to retry it.
    assert_eq!(server.post(&format!("/v1/runs/{run}/resume"), &json!({})).status, 202);
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"answered"}"#);
    assert_eq!(std::fs::read_dir(scene.path(".spelunk/server/tries")).unwrap().count(), 0);
}

#[test]
fn runs_of_others_are_left_alone() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let mut asking = scene.ask(&model).start();
    wait_at(&gate, &model);
    asking.kill().unwrap();
    asking.wait().unwrap();
    gate.open();
    let model = answering(REPLY);
    let server = Server::start(&scene, &[], Some(&model));
    let run = scene.only_run();
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"open"}"#);
}
