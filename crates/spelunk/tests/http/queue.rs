//! The queue: how many runs are in parallel, and whose turn is next.

use serde_json::json;
use spelunk_testkit::{Gate, ModelServer};

use super::client::Server;
use crate::scene::{NOTE, REPLY, Scene, n_calls, to_all, wait_at, wait_for};

fn ask(server: &Server, question: &str) -> String {
    server.ask_with(&json!({ "question": question, "paths": ["notes"] }))
}

#[test]
fn clients_take_turns_and_no_more_than_allowed_run_at_once() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let tokens: Vec<String> = ["greedy", "modest"]
        .into_iter()
        .map(|name| {
            let made = scene.spelunk(["serve", "--token-file", "tokens", "--new-token", name]).run();
            made.stdout.trim().to_owned()
        })
        .collect();
    let args = ["--token-file", "tokens", "--set", "server.runs_parallel_max=1"];
    let mut server = Server::start(&scene, &args, Some(&model));
    server.token = Some(tokens[0].clone());
    let greedy: Vec<String> = (0..4).map(|idx| ask(&server, &format!("Greedy {idx}?"))).collect();
    wait_at(&gate, &model);
    server.token = Some(tokens[1].clone());
    let modest: Vec<String> = (0..2).map(|idx| ask(&server, &format!("Modest {idx}?"))).collect();
    assert_eq!(n_calls(&model), 1);
    let counts = server.get("/metrics").body;
    assert!(
        counts.contains("spelunk_runs_running 1\n") && counts.contains("spelunk_runs_queued 5\n"),
        "{counts}"
    );
    gate.open();
    for run in greedy.iter().chain(&modest) {
        server.finish(run);
    }
    let order: Vec<&str> = scene
        .runs()
        .iter()
        .map(|run| if greedy.contains(run) { "greedy" } else { "modest" })
        .collect::<Vec<_>>();
    assert_eq!(order, ["greedy", "greedy", "modest", "greedy", "modest", "greedy"]);
}

#[test]
fn a_full_queue_refuses_and_takes_again_when_there_is_room() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let args = ["--set", "server.runs_parallel_max=1", "--set", "server.queue_max=1"];
    let server = Server::start(&scene, &args, Some(&model));
    let first = ask(&server, "One?");
    wait_at(&gate, &model);
    let second = ask(&server, "Two?");
    let refused = server.post("/v1/runs", &json!({ "question": "Three?", "paths": ["notes"] }));
    assert_eq!(refused.problem(), (503, "queue-full".into()));
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(server.get("/readyz").problem(), (503, "not-ready".into()));
    gate.open();
    server.finish(&first);
    server.finish(&second);
    wait_for("room", || (server.get("/readyz").status == 200).then_some(()));
    server.finish(&ask(&server, "Three?"));
    assert_eq!(scene.runs().len(), 3);
}
