//! The calls of one run on several nodes. Each node has a key of its own, so that the books of the model server tell who
//! made which call.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer, Rule, when};

use super::{FleetScene, Node, assert_contiguous, n_of};
use crate::scene::{Call, n_calls, wait_for};

pub(super) const PARTS: usize = 60;
const QUESTION: &str = "Which step failed?";
pub(super) const ASK: [&str; 5] = ["ask", QUESTION, "logs", "--strategy", "map"];
/// Each line is a task of its own, and many may be in progress.
const SETTINGS: [&str; 5] = [
    "--set=limits.chunk_log_lines=1",
    "--set=limits.overlap_log_lines=0",
    "--set=limits.small_lines_max=1",
    "--set=limits.calls_parallel_max=100",
    "--set=cache.replies=false",
];

pub(super) fn logs() -> Option<FleetScene> {
    // No run is lost to a machine that is busy with all of these processes.
    let fleet = FleetScene { lease_ms: 6_000, ..FleetScene::new()? };
    let lines: Vec<String> = (1..=PARTS).map(|n| format!("09:00 INFO step {n} of the plan\n")).collect();
    fleet.scene.write("logs/a.log", lines.concat().as_bytes());
    Some(fleet)
}

/// Analysts, one of which finds something, and the synthesis.
pub(super) fn rules(analysts: impl Fn(Rule) -> Rule) -> Vec<Rule> {
    let finding =
        r#"[{"type": "error", "summary": "It failed", "line": 7, "evidence": "step 7 of the plan"}]"#;
    vec![
        when(|prompt| prompt.contains("[F1]")).reply("## Summary\n\nThe seventh [F1].").usage(50, 5),
        analysts(when(|prompt| prompt.contains("INFO step 7 of")).reply(finding).usage(100, 20)),
        analysts(when(|prompt| prompt.contains("INFO step")).reply("[]").usage(100, 10)),
    ]
}

fn set<'a>(mut call: Call<'a>, settings: &[&str]) -> Call<'a> {
    for setting in settings {
        call = call.arg(setting);
    }
    call
}

/// A worker whose key is its name, and that makes two calls at once.
pub(super) fn worker(fleet: &FleetScene, name: &str, model: &ModelServer, more: &[&str]) -> Node {
    let call = fleet.call(name, &["worker"]).server(model).env("OPENAI_API_KEY", name).impatient();
    Node { child: set(set(call, &SETTINGS).arg("--set=fleet.node_calls_max=2"), more).start() }
}

/// How many calls each node has made.
fn books(model: &ModelServer) -> BTreeMap<String, usize> {
    let mut books = BTreeMap::new();
    for request in model.requests().iter().filter(|request| request.method == "POST") {
        let key = request.header("authorization").unwrap().trim_start_matches("Bearer ");
        *books.entry(key.to_owned()).or_default() += 1;
    }
    books
}

fn even(names: &[&str], n_each: usize) -> BTreeMap<String, usize> {
    names.iter().map(|name| ((*name).to_owned(), n_each)).collect()
}

/// The calls in flight that the nodes report.
fn in_flight(fleet: &FleetScene) -> BTreeMap<String, u64> {
    let status = fleet.status();
    let nodes = status["nodes"].as_object().unwrap();
    nodes.iter().map(|(name, said)| (name.clone(), said["calls"].as_u64().unwrap())).collect()
}

#[test]
fn the_calls_of_a_run_are_made_by_every_node_and_its_report_is_that_of_one_machine() {
    let Some(fleet) = logs() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking(rules(|rule| rule.gate(&gate)));
    let names = ["a", "b", "c"];
    let _nodes = names.map(|name| worker(&fleet, name, &model, &[]));
    wait_for("three nodes", || (in_flight(&fleet).len() == 3).then_some(()));
    let asking = fleet.call("laptop", &ASK).start();
    // All are at the gate at once: two of each node, and no more.
    wait_for("calls of every node", || (books(&model) == even(&names, 2)).then_some(()));
    let two = names.map(|name| (name.to_owned(), 2)).into();
    wait_for("their reports", || (in_flight(&fleet) == two).then_some(()));
    let status = fleet.run("looker", &["fleet", "status"]).stdout;
    assert!(status.contains("  RUNNING     CALLS  VERSION\n") && status.contains("       2/2  "), "{status}");
    assert_eq!(books(&model), even(&names, 2));
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    let report = String::from_utf8(ended.stdout).unwrap();
    assert!(report.contains("The seventh (a.log:7)."), "{report} {}", String::from_utf8_lossy(&ended.stderr));
    let events = fleet.events();
    assert_contiguous(&events);
    assert_eq!((n_of(&events, "call.settled"), n_of(&events, "call.wasted")), (PARTS + 1, 0));
    let made: usize = books(&model).values().sum();
    assert_eq!(made, PARTS + 1);
    // The same on one machine.
    let alone = set(fleet.scene.spelunk(ASK).server(&model), &SETTINGS).run();
    assert_eq!(alone.stdout, report, "{}", alone.stderr);
}

#[test]
fn a_killed_node_s_calls_are_made_again_and_counted() {
    let Some(fleet) = logs() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking(rules(|rule| rule.gate(&gate)));
    let names = ["a", "b"];
    let mut nodes = names.map(|name| worker(&fleet, name, &model, &[]));
    wait_for("two nodes", || (in_flight(&fleet).len() == 2).then_some(()));
    let asking = fleet.call("laptop", &ASK).start();
    wait_for("calls of both", || (books(&model) == even(&names, 2)).then_some(()));
    let owner = fleet.holder();
    let idx = names.iter().position(|name| **name != owner).unwrap();
    nodes[idx].kill();
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    let report = String::from_utf8(ended.stdout).unwrap();
    assert!(report.contains("The seventh (a.log:7)."), "{report} {}", String::from_utf8_lossy(&ended.stderr));
    let events = fleet.events();
    assert_contiguous(&events);
    // The run stayed where it was; the two that were in flight on the other node are counted and made again.
    assert_eq!((n_of(&events, "run.resumed"), n_of(&events, "call.settled")), (0, PARTS + 1));
    assert_eq!((n_of(&events, "call.wasted"), n_calls(&model)), (2, PARTS + 3));
    assert_eq!(books(&model).get(names[idx]), Some(&2));
}

#[test]
fn a_killed_owner_s_run_goes_on_with_the_replies_that_others_had_paid_for() {
    let Some(fleet) = logs() else { return };
    let gate = Gate::new();
    let held = gate.clone();
    let mut rules = rules(|rule| rule);
    // The first replies are recorded; the later ones wait.
    rules.insert(1, when(|prompt| prompt.contains("INFO step 5")).reply("[]").usage(100, 10).gate(&held));
    let model = ModelServer::start_blocking(rules);
    let names = ["a", "b"];
    let mut nodes = names.map(|name| worker(&fleet, name, &model, &[]));
    wait_for("two nodes", || (in_flight(&fleet).len() == 2).then_some(()));
    let asking = fleet.call("laptop", &ASK).start();
    // Both nodes are full of calls that wait: those of 5, 50 to 59.
    gate.reached_blocking(4);
    let owner = fleet.holder();
    wait_for("all other replies to be recorded", || {
        // What is in the owner's copy is in the fleet.
        let journal = std::fs::read_to_string(fleet.journal_of(&owner)).unwrap();
        let n_of = |kind: &str| journal.matches(&format!("\"type\":\"{kind}\"")).count();
        (n_of("call.started") == n_of("call.settled") + 4).then_some(())
    });
    let idx = names.iter().position(|name| **name == owner).unwrap();
    nodes[idx].kill();
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    let report = String::from_utf8(ended.stdout).unwrap();
    assert!(report.contains("The seventh (a.log:7)."), "{report} {}", String::from_utf8_lossy(&ended.stderr));
    let events = fleet.events();
    assert_contiguous(&events);
    assert_eq!((n_of(&events, "run.resumed"), n_of(&events, "call.settled")), (1, PARTS + 1));
    // What was in flight is counted. The lost node's own two calls are made again; the other node kept its replies.
    assert_eq!((n_of(&events, "call.wasted"), n_calls(&model)), (4, PARTS + 3));
}

#[test]
fn a_limit_holds_wherever_the_calls_are_made() {
    let Some(fleet) = logs() else { return };
    let analyst = when(|prompt| prompt.contains("INFO step")).reply("[]").usage(100, 10).delay_ms(20);
    let model = ModelServer::start_blocking([analyst]);
    let _nodes = ["a", "b", "c"].map(|name| worker(&fleet, name, &model, &[]));
    wait_for("three nodes", || (in_flight(&fleet).len() == 3).then_some(()));
    let ran = set(fleet.call("laptop", &ASK), &["--max-calls=12"]).run();
    let events = fleet.events();
    let reached: Vec<&Value> =
        events.iter().filter(|event| event["type"] == "limit.reached").map(|event| &event["limit"]).collect();
    assert_eq!(reached, [&json!("calls_max")], "{} {}", ran.stdout, ran.stderr);
    // Two are kept for the synthesis, which has nothing to say. It is the same on one machine.
    assert_eq!((n_calls(&model), n_of(&events, "call.wasted")), (10, 0));
    let alone = set(fleet.scene.spelunk(ASK).server(&model), &SETTINGS).arg("--max-calls=12").run();
    assert_eq!((n_calls(&model), alone.code), (20, ran.code), "{}", alone.stderr);
}

#[test]
fn a_node_without_the_model_makes_no_call_and_errors_arrive_as_they_are() {
    let Some(fleet) = logs() else { return };
    let gate = Gate::new();
    let mut rules = rules(|rule| rule.gate(&gate));
    let refused = spelunk_testkit::status(429).retry_after_s(0);
    rules.insert(1, when(|prompt| prompt.contains("INFO step 60 of")).fault(refused).reply("[]").usage(9, 9));
    let model = ModelServer::start_blocking(rules);
    let _owner = worker(&fleet, "a", &model, &[]);
    wait_for("a node", || (in_flight(&fleet).len() == 1).then_some(()));
    let asking = fleet.call("laptop", &ASK).start();
    wait_for("its calls", || (books(&model) == even(&["a"], 2)).then_some(()));
    let _same = worker(&fleet, "b", &model, &[]);
    let _other = worker(&fleet, "c", &model, &["--model", "openai/another"]);
    wait_for("calls of both", || (books(&model) == even(&["a", "b"], 2)).then_some(()));
    wait_for("three nodes", || (in_flight(&fleet).len() == 3).then_some(()));
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    let report = String::from_utf8(ended.stdout).unwrap();
    assert!(report.contains("The seventh (a.log:7)."), "{report} {}", String::from_utf8_lossy(&ended.stderr));
    let books = books(&model);
    assert_eq!((books.len(), books.values().sum::<usize>()), (2, PARTS + 2), "{books:?}");
    let events = fleet.events();
    let retried: Vec<&Value> =
        events.iter().filter(|event| event["type"] == "call.retried").map(|event| &event["code"]).collect();
    assert_eq!(retried, [&json!("model-rate-limited")]);
}
