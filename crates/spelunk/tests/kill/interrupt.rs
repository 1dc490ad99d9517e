//! Ctrl-C and termination signals: the run stops cleanly and prints how to continue.

use std::process::Command;

use expect_test::expect;
use spelunk_testkit::{Fault, Gate, ModelServer};

use crate::scene::{NOTE, REPLY, Ran, Scene, n_calls, to_all, wait_at, wait_for};

/// Asks, sends the signal before a reply starts, and expects the run to be resumable.
#[track_caller]
fn interrupted_by(signal: &str) {
    let gate = Gate::new();
    let rule = to_all().fault(Fault::StallBeforeHeaders).reply(REPLY).usage(100, 20).gate(&gate);
    let server = ModelServer::start_blocking([rule]);
    let scene = Scene::new(&NOTE);
    let asking = scene.ask(&server).start();
    wait_at(&gate, &server);
    let sent = Command::new("kill").args([signal, &asking.id().to_string()]).status().unwrap();
    assert!(sent.success());
    Ran::of(&scene, asking.wait_with_output().unwrap()).check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 35 B · 1 call · 236 tokens · $0.00 · TIME · run SHORT
        Cancelled. Continue: spelunk resume SHORT
        --- exit 130
    "#]]);
    gate.open();
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT after event 7: no completed calls to reuse
        1 file · 35 B read · 2 calls · 356 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn ctrl_c_stops_the_run_and_says_how_to_go_on() {
    interrupted_by("-INT");
}

#[test]
fn a_request_to_terminate_does_the_same() {
    interrupted_by("-TERM");
}

#[test]
fn an_interrupted_demo_can_be_resumed() {
    let scene = Scene::new(&[]);
    let mut demo = scene.spelunk(["demo"]).start();
    // Only the second half of the demo handles signals; before it, an interrupt is a crash like any other.
    let run = wait_for("a reply", || {
        let run = scene.runs().pop()?;
        scene.journal(&run).iter().any(|event| event["type"] == "call.settled").then_some(run)
    });
    let sent = Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap();
    assert!(sent.success());
    demo.wait().unwrap();
    let resumed = scene.spelunk(["resume", &run]).run();
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
}
