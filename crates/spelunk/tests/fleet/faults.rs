//! Faults of nodes and networks, and things of other versions.

use std::path::PathBuf;
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_fleet::{Fleet, FleetOptions, FleetWorkspace, OUTAGE_MAX};
use spelunk_fs::PrivateDir;
use spelunk_journal::{Disk as _, SharedRuns as _};
use spelunk_testkit::{Gate, ModelServer, Proxy, when};
use spelunk_types::RunId;

use super::{ANSWER, FleetScene, Node, assert_contiguous, n_of};
use crate::scene::{NOTE, QUESTION, REPLY, answering, n_calls, short, to_all, wait_at, wait_for};

impl FleetScene {
    /// The fleet as a node of this name sees it.
    fn connect(&self, name: &str) -> std::sync::Arc<FleetWorkspace> {
        let options = FleetOptions {
            url: self.nats.url(),
            credentials: None,
            ca_file: None,
            prefix: "spelunk".into(),
            node: name.into(),
            lease: Duration::from_secs(1),
            cache: self.scene.root().join("cache"),
            cache_bytes_max: 1 << 20,
            calls_max: 8,
            outage_max: OUTAGE_MAX,
        };
        let fleet = Fleet::connect(options, Duration::ZERO).unwrap();
        FleetWorkspace::new(fleet, PrivateDir::new(self.scene.root().join("nodes").join(name)))
    }

    /// The only run.
    fn run_id(&self) -> RunId {
        let listed = self.run("looker", &["run", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        listed[0]["run"].as_str().unwrap().parse().unwrap()
    }

    /// Both numbers of jobs.
    fn jobs(&self) -> (u64, u64) {
        let status = self.status();
        (status["queued"].as_u64().unwrap(), status["in_progress"].as_u64().unwrap())
    }
}

#[test]
fn a_run_that_crashed_two_nodes_is_not_tried_until_it_is_resumed() {
    let Some(fleet) = FleetScene::new() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let mut first = fleet.worker("a", &model);
    let mut asking = fleet.call("laptop", &["ask", QUESTION, "notes"]).start();
    wait_at(&gate, &model);
    first.kill();
    gate.open();
    // Two nodes that took the run after it and were lost before its next event. Resumes are no progress.
    let (run, nodes) = (fleet.run_id(), fleet.connect("lost"));
    let recorded = || {
        nodes.catch_up(&run).unwrap();
        let journal = nodes.read(&format!("runs/{run}/journal.jsonl")).unwrap().unwrap();
        String::from_utf8(journal).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let events: Vec<Value> = recorded();
    let n_events = (events.len() - n_of(&events, "run.resumed")) as u64;
    assert_eq!(nodes.fleet().note_try(&run, n_events).unwrap(), 0);
    assert_eq!(nodes.fleet().note_try(&run, n_events).unwrap(), 1);
    let _second = fleet.worker("b", &model);
    let looked = wait_for("a refusal", || {
        let noted = nodes.fleet().noted_run(&run).unwrap()?;
        let noted: Value = serde_json::from_slice(&noted).unwrap();
        (noted["progress"] == "refused").then_some(noted)
    });
    let why = format!("the server crashed 2 times on run `{}` without progress", run.short());
    assert_eq!(
        (&looked["refusal"]["code"], &looked["refusal"]["message"]),
        (&json!("run-fatal"), &json!(why))
    );
    wait_for("an empty queue", || (fleet.jobs() == (0, 0)).then_some(()));
    // A new node does not try it either.
    let _third = fleet.worker("c", &model);
    assert_eq!((n_calls(&model), recorded()), (1, events));
    asking.kill().unwrap();
    asking.wait().unwrap();
    let resumed = fleet.run("laptop", &["resume", run.as_str()]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, ANSWER), "{}", resumed.stderr);
    assert_eq!(n_calls(&model), 2);
}

#[test]
fn a_job_of_a_newer_version_is_left_alone_and_garbage_is_removed() {
    let Some(fleet) = FleetScene::new() else { return };
    let model = answering(REPLY);
    let worker = fleet.worker("w", &model);
    let node = fleet.connect("newer");
    let job = json!({ "format": 2, "run": "rlm-20261117T120000Z-0000002a", "something": "else" }).to_string();
    node.fleet().enqueue("ann", "newer", job.clone().into_bytes()).unwrap();
    node.fleet().enqueue("ann", "garbage", b"{".to_vec()).unwrap();
    node.fleet().enqueue("ann", "old", br#"{"format":0}"#.to_vec()).unwrap();
    let ran = fleet.run("laptop", &["ask", QUESTION, "notes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "{}", ran.stderr);
    wait_for("an empty queue", || (fleet.jobs() == (0, 1)).then_some(()));
    drop(worker);
    // A node of the newer version takes it as it was sent.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let taken =
        wait_for("the job", || runtime.block_on(node.fleet().next_job(Duration::from_secs(5))).unwrap());
    assert_eq!(taken.body(), job.as_bytes());
    assert_eq!(n_calls(&model), 1);
}

#[test]
fn a_journal_of_a_newer_format_is_refused_and_stays_as_it_is() {
    let Some(fleet) = FleetScene::new() else { return };
    let model = answering(REPLY);
    let _worker = fleet.worker("w", &model);
    assert_eq!(fleet.run("laptop", &["ask", QUESTION, "notes"]).code, 0);
    let run = fleet.run_id();
    let node = fleet.connect("newer");
    node.refresh(&run).unwrap();
    let journal = node.read(&format!("runs/{run}/journal.jsonl")).unwrap().unwrap();
    let newer = crate::bad_input::journal::with_format(&String::from_utf8(journal).unwrap(), 3);
    let lease = node.lease(&run).unwrap();
    node.remove(&run).unwrap();
    drop(lease);
    let node = fleet.connect("newer2");
    let lease = node.lease(&run).unwrap();
    node.append(&format!("runs/{run}/journal.jsonl"), newer.as_bytes()).unwrap();
    drop(lease);
    let why = format!(
        "run `{}` has a journal of format 3; this version reads formats up to 2",
        short(run.as_str())
    );
    for args in [&["show", run.as_str()][..], &["resume", run.as_str()]] {
        let ran = fleet.run("other", args);
        assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(&why), "{}", ran.stderr);
    }
    node.catch_up(&run).unwrap();
    let there = node.read(&format!("runs/{run}/journal.jsonl")).unwrap().unwrap();
    assert_eq!(String::from_utf8(there).unwrap(), newer);
    assert_eq!(n_calls(&model), 1);
}

/// Two turns and three calls, one after the other; the first reply is held at the gate.
fn turns(gate: &Gate) -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("SUB: first")).reply("forty").usage(100, 20),
        when(|prompt| prompt.contains("turns left"))
            .reply("```repl\nFINAL(said + ' two')\n```")
            .usage(100, 20),
        when(|prompt| prompt.contains("Question:"))
            .reply("```repl\nsaid = llm_query('SUB: ' + 'first')\nprint(said)\n```")
            .usage(100, 20)
            .gate(gate),
    ])
}

#[test]
fn a_node_that_is_cut_off_sends_and_writes_nothing_and_goes_on_with_other_work() {
    let Some(fleet) = FleetScene::new() else { return };
    let gate = Gate::new();
    let model = turns(&gate);
    let proxy = Proxy::to(fleet.nats.port());
    let _cut_off = fleet.worker_at(&proxy.url(), "a", &model);
    let ask = ["ask", QUESTION, "notes", "--strategy", "repl"];
    let asking = fleet.call("laptop", &ask).start();
    wait_at(&gate, &model);
    let mut other = fleet.worker("b", &model);
    proxy.cut();
    wait_for("a takeover", || (n_calls(&model) == 2).then_some(()));
    assert_eq!(fleet.holder(), "b");
    // Now both get their replies; only one can record it and go on.
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&ended.stdout),
        "forty two\n",
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    proxy.heal();
    let (run, events) = (fleet.run_id(), fleet.events());
    assert_contiguous(&events);
    assert_eq!((n_of(&events, "run.resumed"), n_of(&events, "run.finished")), (1, 1));
    // Three calls, and the one that was in flight.
    assert_eq!((n_of(&events, "call.settled"), n_of(&events, "call.wasted"), n_calls(&model)), (3, 1, 4));
    wait_for("an empty queue", || (fleet.jobs() == (0, 0)).then_some(()));
    other.signal("-TERM");
    assert_eq!(other.ends(), Some(0));
    let again = fleet.run("laptop", &ask);
    assert_eq!((again.code, again.stdout.as_str()), (0, "forty two\n"), "{}", again.stderr);
    assert_eq!(n_calls(&model), 7);
    // What it was told of the first run has changed nothing in the journal.
    let tail = fleet.run("looker", &["tail", run.as_str(), "--json"]);
    assert_eq!(tail.stdout.lines().count(), events.len());
}

/// The library that shifts the clock of a process; `None`, said aloud, where `.ci/nats` could not install it.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub(super) fn faketime() -> Option<PathBuf> {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/nats");
    for root in [own, PathBuf::from("/")] {
        let file = root.join("usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");
        if file.is_file() {
            return Some(file.canonicalize().unwrap());
        }
    }
    println!("SKIPPED: libfaketime is not installed; `.ci/nats` installs it");
    None
}

#[test]
fn clocks_that_differ_by_minutes_change_nothing() {
    let (Some(fleet), Some(library)) = (FleetScene::new(), faketime()) else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let shifted = |name: &str, shift: &str| {
        let mut call = fleet.call(name, &["worker"]).server(&model);
        call = call.env("LD_PRELOAD", library.to_str().unwrap()).env("FAKETIME", shift);
        Node { child: call.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").start() }
    };
    let mut ahead = shifted("ahead", "+10m");
    let asking = fleet.call("laptop", &["ask", QUESTION, "notes"]).start();
    wait_at(&gate, &model);
    let _behind = shifted("behind", "-10m");
    // Several times as long as a lease: nobody takes the run from a node whose clock is wrong.
    wait_for("both nodes", || (fleet.status()["nodes"].as_object()?.len() == 2).then_some(()));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((fleet.holder().as_str(), n_calls(&model)), ("ahead", 1));
    ahead.kill();
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), ANSWER);
    let events = fleet.events();
    assert_contiguous(&events);
    assert_eq!((n_of(&events, "run.resumed"), n_of(&events, "call.settled"), n_calls(&model)), (1, 1, 2));
    // The test would show nothing if the clocks were the same.
    let at = |event: &Value| event["at_ms"].as_u64().unwrap();
    assert!(at(&events[0]) > at(events.last().unwrap()) + 10 * 60_000, "{events:?}");
}

#[test]
fn gc_removes_what_no_run_of_the_fleet_needs_after_a_day() {
    let (Some(fleet), Some(library)) = (FleetScene::new(), faketime()) else { return };
    let model = answering(REPLY);
    let _worker = fleet.worker("one", &model);
    for folder in ["notes", "more"] {
        fleet.scene.write(&format!("{folder}/a.md"), format!("{}{folder}\n", NOTE[0].1).as_bytes());
        let asked = fleet.run("laptop", &["ask", QUESTION, folder]);
        assert_eq!((asked.code, asked.stdout.as_str()), (0, ANSWER), "{}", asked.stderr);
    }
    let gc = |shift: &str| {
        let call = fleet.call("laptop", &["gc"]).env("LD_PRELOAD", library.to_str().unwrap());
        let ran = call.env("FAKETIME", shift).env("FAKETIME_DONT_FAKE_MONOTONIC", "1").run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout + &ran.stderr
    };
    // As long as its run is there, nothing goes, however old.
    expect![[r#"
        removed 0 files · 0 B · 4 blobs kept
    "#]]
    .assert_eq(&gc("+2d"));
    let shown = fleet.run("somebody", &["show", "--json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let cleaned = fleet.run("laptop", &["run", "clean", "--older-than", "0h"]);
    assert_eq!(cleaned.code, 0, "{}", cleaned.stderr);
    // Then all that was stored for it goes, but not on the same day.
    expect![[r#"
        removed 0 files · 0 B · 4 blobs kept
    "#]]
    .assert_eq(&gc("+0"));
    expect![[r#"
        removed 4 files · 327 B · 0 blobs kept
    "#]]
    .assert_eq(&gc("+2d"));
    expect![[r#"
        removed 0 files · 0 B · 0 blobs kept
    "#]]
    .assert_eq(&gc("+2d"));
}
