//! A fleet of real processes on a real NATS server: any of them can be killed, paused or cut off, and every run is
//! answered once.

mod calls;
mod chaos;
mod faults;
mod rates;
mod s3;
mod turns;

use std::path::PathBuf;
use std::process::Child;

use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer, NatsServer, pdf};

use crate::http::client::{Answer, Server};
use crate::scene::{NOTE, QUESTION, REPLY, Ran, Scene, answering, n_calls, to_all, wait_at, wait_for};

const ANSWER: &str = "The magic number is 42.\n  a.md:3  The magic number is 42.\n";

/// A scene with a NATS server. Each program of the fleet has a workspace of its own.
pub(super) struct FleetScene {
    pub(super) scene: Scene,
    pub(super) nats: NatsServer,
    lease_ms: u64,
}

impl FleetScene {
    /// `None` where there is no NATS server, which is said aloud.
    pub(super) fn new() -> Option<Self> {
        let scene = Scene::new(&NOTE);
        let nats = NatsServer::start(scene.root())?;
        Some(Self { scene, nats, lease_ms: 1_000 })
    }

    fn flags(&self, name: &str) -> Vec<String> {
        self.flags_at(&self.nats.url(), name)
    }

    fn flags_at(&self, url: &str, name: &str) -> Vec<String> {
        let workspace = self.scene.root().join("nodes").join(name);
        let mut flags = vec!["--fleet".to_owned(), url.to_owned(), "--workspace".to_owned()];
        flags.push(workspace.display().to_string());
        flags.extend([
            format!("--set=fleet.lease_ms={}", self.lease_ms),
            "--set=cache.replies=false".to_owned(),
        ]);
        flags.push(format!("--set=fleet.node={name}"));
        flags
    }

    /// A node that works.
    pub(super) fn worker(&self, name: &str, model: &ModelServer) -> Node {
        self.worker_at(&self.nats.url(), name, model)
    }

    /// A node that works and reaches the server at this address.
    pub(super) fn worker_at(&self, url: &str, name: &str, model: &ModelServer) -> Node {
        let mut call = self.scene.spelunk(["worker"]).server(model);
        for flag in &self.flags_at(url, name) {
            call = call.arg(flag);
        }
        Node { child: call.start() }
    }

    /// A node that serves.
    fn server(&self, name: &str, model: &ModelServer) -> Server {
        let flags = self.flags(name);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Server::start(&self.scene, &flags, Some(model))
    }

    /// A command of somebody with a workspace of this name.
    pub(super) fn run(&self, name: &str, args: &[&str]) -> Ran {
        self.call(name, args).run()
    }

    pub(super) fn call<'a>(&'a self, name: &str, args: &[&'a str]) -> crate::scene::Call<'a> {
        let mut call = self.scene.spelunk(args.iter().copied());
        for flag in &self.flags(name) {
            call = call.arg(flag);
        }
        call
    }

    fn status(&self) -> Value {
        let ran = self.run("looker", &["fleet", "status", "--json"]);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{} {}", ran.stdout, ran.stderr))
    }

    /// The node that works on the only run.
    fn holder(&self) -> String {
        wait_for("a lease", || {
            let leases = self.status()["leases"].as_object().cloned().unwrap_or_default();
            leases.values().next().and_then(Value::as_str).map(str::to_owned)
        })
    }

    /// The events of the only run, as the fleet has them.
    pub(super) fn events(&self) -> Vec<Value> {
        let ran = self.run("looker", &["tail", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn journal_of(&self, name: &str) -> PathBuf {
        let runs = self.scene.root().join("nodes").join(name).join("runs");
        let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap();
        run.path().join("journal.jsonl")
    }
}

/// A process of the fleet, killed when it is dropped.
pub(super) struct Node {
    child: Child,
}

impl Node {
    pub(super) fn signal(&self, signal: &str) {
        let sent = std::process::Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    pub(super) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    fn ends(&mut self) -> Option<i32> {
        wait_for("the end of a node", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

fn n_of(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

fn assert_contiguous(events: &[Value]) {
    let sequence: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(sequence, (1..=events.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_question_is_answered_by_a_worker_and_seen_by_everybody() {
    let Some(fleet) = FleetScene::new() else { return };
    let model = answering(REPLY);
    let _worker = fleet.worker("w", &model);
    let ran = fleet.run("laptop", &["ask", QUESTION, "notes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("1 file · 35 B (35 B sent)\nqueued as run "), "{}", ran.stderr);
    // Whoever has the address sees it, without having seen it before.
    for name in ["laptop", "elsewhere"] {
        let shown = fleet.run(name, &["show"]);
        assert!(shown.stdout.contains("The magic number is 42."), "{}{}", shown.stdout, shown.stderr);
        let listed = fleet.run(name, &["run", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        assert_eq!((listed[0]["state"].as_str(), listed[0]["calls"].as_u64()), (Some("answered"), Some(1)));
    }
    assert_contiguous(&fleet.events());
    assert_eq!(n_calls(&model), 1);
    // The files are sent once.
    let again = fleet.run("laptop", &["ask", QUESTION, "notes"]);
    assert!(again.stderr.starts_with("1 file · 35 B (0 B sent)\n"), "{}", again.stderr);
    let status = fleet.status();
    assert_eq!(
        (&status["queued"], &status["in_progress"], &status["runs"]),
        (&json!(0), &json!(0), &json!(2))
    );
    assert_eq!(status["nodes"]["w"]["role"], "worker");
}

#[test]
fn a_killed_worker_s_run_is_continued_by_another() {
    let Some(fleet) = FleetScene::new() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let mut nodes = [("a", fleet.worker("a", &model)), ("b", fleet.worker("b", &model))];
    let asking = fleet.call("laptop", &["ask", QUESTION, "notes"]).start();
    wait_at(&gate, &model);
    let holder = fleet.holder();
    let (_, node) = nodes.iter_mut().find(|(name, _)| *name == holder).unwrap();
    node.kill();
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), ANSWER);
    let events = fleet.events();
    assert_contiguous(&events);
    assert_eq!((n_of(&events, "run.resumed"), n_of(&events, "call.settled")), (1, 1));
    // The request that was in flight is counted, and made once more.
    assert_eq!((n_of(&events, "call.wasted"), n_calls(&model)), (1, 2));
}

#[test]
fn a_paused_worker_that_wakes_up_writes_nothing() {
    let Some(fleet) = FleetScene::new() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let nodes = [("a", fleet.worker("a", &model)), ("b", fleet.worker("b", &model))];
    let asking = fleet.call("laptop", &["ask", QUESTION, "notes"]).start();
    wait_at(&gate, &model);
    let holder = fleet.holder();
    let (_, node) = nodes.iter().find(|(name, _)| *name == holder).unwrap();
    node.signal("-STOP");
    // The other one has to take it before the reply comes.
    wait_for("another holder", || (fleet.holder() != holder).then_some(()));
    wait_for("its request", || (n_calls(&model) == 2).then_some(()));
    node.signal("-CONT");
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), ANSWER);
    std::thread::sleep(std::time::Duration::from_secs(2));
    let events = fleet.events();
    assert_contiguous(&events);
    assert_eq!((n_of(&events, "call.settled"), n_of(&events, "run.finished")), (1, 1));
    assert_eq!(n_calls(&model), 2);
    assert_eq!(fleet.status()["in_progress"], 0);
}

#[test]
fn a_worker_that_is_told_to_stop_hands_its_run_over_at_once() {
    let Some(fleet) = FleetScene::new() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let mut first = fleet.worker("a", &model);
    let asking = fleet.call("laptop", &["ask", QUESTION, "notes"]).start();
    wait_at(&gate, &model);
    let _second = fleet.worker("b", &model);
    first.signal("-TERM");
    assert_eq!(first.ends(), Some(0));
    gate.open();
    let ended = asking.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), ANSWER);
    assert_eq!(n_of(&fleet.events(), "run.resumed"), 1);
}

#[test]
fn a_run_of_one_server_is_watched_cancelled_and_resumed_at_another() {
    let Some(fleet) = FleetScene::new() else { return };
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let (a, b) = (fleet.server("a", &model), fleet.server("b", &model));
    let started = a.post("/v1/runs", &json!({ "question": QUESTION, "paths": ["notes"] }));
    assert_eq!(started.status, 202, "{}", started.body);
    let run = started.json()["run"].as_str().unwrap().to_owned();
    wait_at(&gate, &model);
    for server in [&a, &b] {
        wait_for("the run to be seen", || {
            let shown = server.get(&format!("/v1/runs/{run}"));
            assert_eq!(shown.status, 200, "{}", shown.body);
            (shown.json()["status"] == "running").then_some(())
        });
    }
    let status = b.get("/v1/fleet").json();
    assert_eq!(
        (&status["in_progress"], status["leases"].as_object().map(serde_json::Map::len)),
        (&json!(1), Some(1))
    );
    let metrics = b.get("/metrics").body;
    assert!(
        metrics.contains("spelunk_fleet_nodes 2\n") && metrics.contains("spelunk_fleet_in_progress 1\n"),
        "{metrics}"
    );
    assert_eq!(b.get("/readyz").status, 200);
    // Neither knows which of them works on it.
    let cancelled = b.post(&format!("/v1/runs/{run}/cancel"), &json!({}));
    assert_eq!(cancelled.status, 202, "{}", cancelled.body);
    for server in [&b, &a] {
        wait_for("the end", || {
            let shown = server.get(&format!("/v1/runs/{run}"));
            (shown.json()["status"] == "cancelled").then_some(())
        });
    }
    gate.open();
    let resumed = b.post(&format!("/v1/runs/{run}/resume"), &json!({}));
    assert_eq!(resumed.status, 202, "{}", resumed.body);
    for server in [&a, &b] {
        let result = wait_for("the answer", || {
            let result = server.get(&format!("/v1/runs/{run}/result"));
            (result.status == 200 && result.json()["answer"].is_string()).then(|| result.json())
        });
        assert!(result["answer"].as_str().unwrap().starts_with("The magic number is 42."));
        let events =
            server.send("GET", &format!("/v1/runs/{run}/events"), &[("accept", "application/x-ndjson")], b"");
        let events: Vec<Value> =
            events.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_contiguous(&events);
        assert_eq!(n_of(&events, "run.finished"), 2);
    }
}

fn keyed(server: &Server, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
    server.send("POST", "/v1/runs", &headers, body.to_string().as_bytes())
}

#[test]
fn a_key_means_one_run_in_the_whole_fleet() {
    let Some(fleet) = FleetScene::new() else { return };
    let model = answering(REPLY);
    let (a, b) = (fleet.server("a", &model), fleet.server("b", &model));
    let body = json!({ "question": QUESTION, "paths": ["notes"] });
    let first = keyed(&a, &body);
    let second = keyed(&b, &body);
    assert_eq!((first.status, second.status), (202, 202), "{}", second.body);
    assert_eq!(first.json()["run"], second.json()["run"]);
    let other = keyed(&b, &json!({ "question": "Another?" }));
    assert_eq!((other.status, other.json()["code"].as_str()), (409, Some("key-reused")), "{}", other.body);
}

#[test]
fn a_question_that_no_node_can_start_is_refused_where_it_was_asked() {
    let Some(fleet) = FleetScene::new() else { return };
    // A node without a model.
    let _worker = Node { child: fleet.call("w", &["worker"]).start() };
    let ran = fleet.run("laptop", &["ask", QUESTION, "notes"]);
    assert_eq!(ran.code, 2, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("error: no model is configured on the server\n"), "{}", ran.stderr);
    let flag = fleet.run("laptop", &["ask", QUESTION, "notes", "--model", "openai/x"]);
    assert_eq!(flag.code, 2);
    assert!(
        flag.stderr.contains("--model cannot be used with a fleet, whose nodes have their own settings"),
        "{}",
        flag.stderr
    );
}

#[test]
fn a_fleet_that_is_away_is_named_without_its_password() {
    let scene = Scene::new(&NOTE);
    let url = "nats://me:hush-4711@127.0.0.1:1";
    for args in [&["ask", QUESTION, "notes"][..], &["show"], &["fleet", "status"]] {
        let ran = scene.spelunk(args.iter().copied()).arg("--fleet").arg(url).run();
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("could not connect to the fleet at `nats://127.0.0.1:1`"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("hush-4711"), "{}", ran.stderr);
    }
    let none = scene.spelunk(["fleet", "status"]).run();
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("no fleet is named"), "{}", none.stderr);
    // A repository cannot send a question elsewhere.
    scene.write("spelunk.toml", b"[fleet]\nurl = \"nats://127.0.0.1:1\"\n");
    let ran = scene.spelunk(["outline", "notes"]).run();
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("a project file may not set `fleet.url`"), "{}", ran.stderr);
}

#[test]
fn an_uploaded_file_is_only_what_the_scan_reads() {
    let Some(fleet) = FleetScene::new() else { return };
    fleet.scene.write("notes/.env", b"TOKEN=hush-4711\n");
    fleet.scene.write("notes/.gitignore", b"ignored.md\n");
    fleet.scene.write("notes/ignored.md", b"hush-4712\n");
    fleet
        .scene
        .write("notes/chart.png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0");
    fleet.scene.write("notes/large.pdf", &pdf(&["BT (unread) Tj ET"]));
    let model = answering(REPLY);
    let _worker = fleet.worker("w", &model);
    let ran = fleet.run("laptop", &["ask", QUESTION, "notes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "{}", ran.stderr);
    let unpacked = fleet.scene.home().join(".local/state/spelunk/fleet");
    let mut names = Vec::new();
    let mut left = vec![unpacked];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                left.push(entry.path());
            } else {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    names.sort();
    assert_eq!(names, [".complete", "a.md", "chart.png"]);
    assert!(fleet.journal_of("w").is_file());
}
