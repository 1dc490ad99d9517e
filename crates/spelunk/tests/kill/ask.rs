//! `kill -9` of `spelunk ask` while a slow server replies.

use std::time::{Duration, Instant};

use serde_json::Value;
use spelunk_testkit::ModelServer;

use super::moments::{at_each, kill_at, moments};
use crate::scene::{NOTE, REPLY, Scene, answering, n_calls, to_all};

const SEED: u64 = 2026;
const MOMENTS: u32 = 34;
const ANSWER: &str = "The magic number is 42.\n  a.md:3  The magic number is 42.\n";

fn slow_server() -> ModelServer {
    let rule = to_all().reply(REPLY).usage(100, 20).chunks(6).delay_ms(60).pace_ms(40);
    ModelServer::start_blocking([rule])
}

/// The events of the run that was recorded before the kill, if any: a journal may lack even its first line.
fn recorded(scene: &Scene) -> Option<(String, Vec<Value>)> {
    let run = scene.runs().pop()?;
    let events = scene.journal(&run);
    (!events.is_empty()).then_some((run, events))
}

fn n_settled(events: &[Value]) -> usize {
    events.iter().filter(|event| event["type"] == "call.settled").count()
}

fn killed_at(moment: Duration) {
    let (scene, server) = (Scene::new(&NOTE), slow_server());
    kill_at(scene.ask(&server).start(), moment);
    let before = recorded(&scene);
    let settled_before = before.as_ref().map_or(0, |(_, events)| n_settled(events));
    let ran = match &before {
        Some((run, _)) => scene.spelunk(["resume", run]).run(),
        None => scene.ask(&server).run(),
    };
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "killed at {moment:?}: {}", ran.stderr);
    let (run, events) = recorded(&scene).unwrap();
    assert_eq!(n_settled(&events), 1, "killed at {moment:?}");
    let sequence: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(sequence, (1..=events.len() as u64).collect::<Vec<_>>(), "killed at {moment:?}");
    let shown = scene.spelunk(["show", &run, "--json"]).run();
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let wasted = events.iter().filter(|event| event["type"] == "call.wasted");
    let wasted = |name: &str| wasted.clone().filter_map(|event| event["usage"][name].as_u64()).sum::<u64>();
    let spent = ["input_tokens", "output_tokens"].map(|name| shown["usage"][name].as_u64().unwrap());
    let (input_tokens, output_tokens) = (100 + wasted("input_tokens"), 20 + wasted("output_tokens"));
    assert_eq!(spent, [input_tokens, output_tokens], "killed at {moment:?}");
    let n_counted = scene.calls_reported();
    assert!(n_calls(&server) as u64 <= n_counted, "killed at {moment:?}: {n_counted} calls");
    let requests_max = if settled_before == 1 || before.is_none() { 1 } else { 2 };
    assert!(n_calls(&server) <= requests_max, "killed at {moment:?}: {} requests", n_calls(&server));
    assert_eq!(server.unexpected(), []);
}

#[test]
fn killed_at_any_moment_an_ask_goes_on_to_the_same_answer_and_spend() {
    let (scene, server) = (Scene::new(&NOTE), slow_server());
    let began = Instant::now();
    let ran = scene.ask(&server).run();
    let whole = began.elapsed();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "{}", ran.stderr);
    at_each(&moments(SEED, MOMENTS, whole), killed_at);
}

/// Kills rarely hit the moment between a reply and the end of its run, so these states are also constructed by hand:
/// the journal after each event, once complete and once followed by half a line.
#[test]
fn a_call_that_is_in_the_journal_is_never_made_again() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let uncached = "--set=cache.replies=false";
    assert_eq!(scene.ask(&server).arg(uncached).run().code, 0);
    let run = scene.only_run();
    let journal = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let settled_at = lines.iter().position(|line| line.contains("\"call.settled\"")).unwrap();
    for n_lines in 1..=lines.len() {
        let next = lines.get(n_lines).copied().unwrap_or("{\"seq\":");
        for torn in ["", next.split_at(next.len() / 2).0] {
            std::fs::write(scene.journal_path(&run), lines[..n_lines].concat() + torn).unwrap();
            let n_before = n_calls(&server);
            let ran = scene.spelunk(["resume", uncached]).run();
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "after {n_lines}: {}", ran.stderr);
            let n_made = n_calls(&server) - n_before;
            assert_eq!(n_made, usize::from(n_lines <= settled_at), "after {n_lines}");
            // A finished run is only read, so a torn line after its end stays.
            assert_eq!(n_settled(&scene.journal(&run)), 1, "after {n_lines}");
        }
    }
}
