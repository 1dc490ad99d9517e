//! Event streams: live, resumed in the middle, and many at once.

use std::collections::BTreeMap;

use serde_json::json;
use spelunk_testkit::{Gate, ModelServer};

use super::client::{Event, Server, ids};
use crate::scene::{NOTE, REPLY, Scene, answering, to_all, wait_at};

#[test]
fn a_run_is_watched_while_it_goes_on_and_taken_up_again_in_the_middle() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).chunks(5).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask();
    wait_at(&gate, &model);
    // Everything up to the call arrives before the call is answered.
    let mut live = server.watch(&run, 0);
    let mut seen: Vec<Event> = Vec::new();
    while seen.last().is_none_or(|event| event.kind != "call.started") {
        seen.push(live.next().unwrap());
    }
    let last = *ids(&seen).last().unwrap();
    gate.open();
    // Another watcher starts where this one is, and this one continues.
    let again: Vec<Event> = server.watch(&run, last).collect();
    seen.extend(live);
    let n_events = scene.journal(&run).len() as u64;
    assert_eq!(ids(&seen), (1..=n_events).collect::<Vec<_>>());
    assert_eq!(ids(&again), (last + 1..=n_events).collect::<Vec<_>>());
    // The live watcher received the pieces of the reply before the recorded event.
    let kinds: Vec<&str> = seen.iter().map(|event| event.kind.as_str()).collect();
    let (piece, settled) = (
        kinds.iter().position(|kind| *kind == "call.streamed").unwrap(),
        kinds.iter().position(|kind| *kind == "call.settled").unwrap(),
    );
    assert!(piece < settled && seen[piece].id.is_none(), "{kinds:?}");
    // After the end, every start position returns the rest.
    for after in 0..=n_events + 1 {
        let rest: Vec<Event> = server.watch(&run, after).collect();
        assert_eq!(ids(&rest), (after + 1..=n_events).collect::<Vec<_>>(), "{after}");
        assert_eq!(rest.last().unwrap().kind, "end");
    }
    let lines = server.send(
        "GET",
        &format!("/v1/runs/{run}/events?after=2"),
        &[("Accept", "application/x-ndjson")],
        b"",
    );
    let journal = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    assert_eq!(lines.body.lines().collect::<Vec<_>>(), journal.lines().skip(2).collect::<Vec<_>>());
}

#[test]
fn a_run_of_another_process_is_watched_too() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    let asking = scene.ask(&model).start();
    wait_at(&gate, &model);
    let run = scene.only_run();
    let mut live = server.watch(&run, 0);
    assert_eq!(live.next().unwrap().kind, "run.started");
    gate.open();
    let rest: Vec<Event> = live.collect();
    assert_eq!(rest.last().unwrap().data, r#"{"state":"answered"}"#);
    assert_eq!(*ids(&rest).last().unwrap(), scene.journal(&run).len() as u64);
    assert!(asking.wait_with_output().unwrap().status.success());
}

#[test]
fn fifty_runs_and_two_hundred_watchers_lose_no_event_and_see_none_twice() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).chunks(4).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--set", "server.runs_parallel_max=50"], Some(&model));
    let runs: Vec<String> = (0..50)
        .map(|idx| server.ask_with(&json!({ "question": format!("Question {idx}?"), "paths": ["notes"] })))
        .collect();
    let seen: Vec<(String, Vec<u64>, Option<Event>)> = std::thread::scope(|scope| {
        let watchers: Vec<_> = (0..200)
            .map(|idx| {
                // A hundred on one run, two on each of the others.
                let run = if idx < 100 { &runs[0] } else { &runs[idx % 50] };
                let server = &server;
                scope.spawn(move || {
                    // Some arrive late, some disconnect in the middle and reconnect.
                    let mut first: Vec<Event> = server.watch(run, 0).take(idx % 4).collect();
                    let after = ids(&first).last().copied().unwrap_or(0);
                    first.extend(server.watch(run, after));
                    (run.clone(), ids(&first), first.pop())
                })
            })
            .collect();
        gate.open();
        watchers.into_iter().map(|watcher| watcher.join().unwrap()).collect()
    });
    let expected: BTreeMap<&String, Vec<u64>> =
        runs.iter().map(|run| (run, (1..=scene.journal(run).len() as u64).collect())).collect();
    assert_eq!(seen.len(), 200);
    for (run, ids, last) in &seen {
        assert_eq!(ids, &expected[run]);
        assert_eq!(last.as_ref().map(|last| last.data.as_str()), Some(r#"{"state":"answered"}"#));
    }
}

#[test]
fn a_name_may_be_short_where_it_is_clear() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let (one, other) = (server.ask(), server.ask());
    server.finish(&one);
    server.finish(&other);
    let short = crate::scene::short(&one);
    assert_eq!(server.get(&format!("/v1/runs/{short}")).json()["run"], json!(one));
    for unclear in ["rlm-", "rlm", short.get(..3).unwrap()] {
        assert_eq!(server.get(&format!("/v1/runs/{unclear}")).problem(), (404, "run-not-found".into()));
    }
    let half = short.get(..6).unwrap();
    assert_eq!(server.delete(&format!("/v1/runs/{half}")).problem(), (404, "run-not-found".into()));
}
