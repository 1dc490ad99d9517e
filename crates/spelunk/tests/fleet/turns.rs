//! Tenants take turns in the queue of the fleet: whoever queued many runs does not delay the first of another.

use std::process::Child;

use serde_json::json;
use spelunk_testkit::{Gate, ModelServer, Recorded};

use super::FleetScene;
use crate::http::client::Server;
use crate::scene::{REPLY, to_all, wait_at, wait_for};

const QUEUED: [(&str, &str); 4] = [("ann", "One?"), ("ann", "Two?"), ("ann", "Three?"), ("bob", "Four?")];
const ONE_AT_ONCE: &str = "--set=server.runs_parallel_max=1";

fn gated() -> (Gate, ModelServer) {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    (gate, model)
}

/// Queues all questions while the first of them is being answered.
fn queue<T>(
    fleet: &FleetScene,
    gate: &Gate,
    model: &ModelServer,
    mut ask: impl FnMut(&str, &str) -> T,
) -> Vec<T> {
    let mut asking = Vec::new();
    for (n_before, (who, question)) in QUEUED.into_iter().enumerate() {
        asking.push(ask(who, question));
        if n_before == 0 {
            wait_at(gate, model);
        }
        wait_for("the queue", || (fleet.status()["queued"] == n_before).then_some(()));
    }
    gate.open();
    asking
}

fn assert_took_turns(model: &ModelServer) {
    let prompts: Vec<String> = model.requests().iter().map(Recorded::prompt).collect();
    let asked = |prompt: &String| QUEUED.into_iter().find(|(_, question)| prompt.contains(question));
    let order: Vec<&str> = prompts.iter().filter_map(asked).map(|(_, question)| question).collect();
    assert_eq!(order, ["One?", "Four?", "Two?", "Three?"]);
}

/// Questions from the command line, one process each.
fn asked_by_processes(start: impl Fn(&FleetScene, &str, &str) -> Child) {
    let Some(fleet) = FleetScene::new() else { return };
    let (gate, model) = gated();
    let worker = fleet.call("w", &["worker", ONE_AT_ONCE]).server(&model).start();
    let _worker = super::Node { child: worker };
    let asking = queue(&fleet, &gate, &model, |who, question| start(&fleet, who, question));
    for child in asking {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_took_turns(&model);
}

#[test]
fn named_nodes_take_turns() {
    asked_by_processes(|fleet, who, question| fleet.call(who, &["ask", question, "notes"]).start());
}

#[test]
fn machines_take_turns_however_many_processes_ask() {
    asked_by_processes(|fleet, who, question| {
        let unnamed = fleet.call(who, &["ask", question, "notes"]).arg("--set=fleet.node=");
        unnamed.env("HOSTNAME", who).start()
    });
}

#[test]
fn tokens_of_a_server_take_turns() {
    let Some(fleet) = FleetScene::new() else { return };
    let (gate, model) = gated();
    let new = |name| fleet.scene.spelunk(["serve", "--token-file", "tokens", "--new-token", name]).run();
    let tokens = ["ann", "bob"].map(|name| (name, new(name).stdout.trim().to_owned()));
    let mut flags = fleet.flags("s");
    flags.extend(["--token-file", "tokens", ONE_AT_ONCE].map(str::to_owned));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut server = Server::start(&fleet.scene, &flags, Some(&model));
    let runs = queue(&fleet, &gate, &model, |who, question| {
        server.token = tokens.iter().find(|(name, _)| *name == who).map(|(_, token)| token.clone());
        server.ask_with(&json!({ "question": question, "paths": ["notes"] }))
    });
    for run in runs {
        server.finish(&run);
    }
    assert_took_turns(&model);
}
