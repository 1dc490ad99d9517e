//! What a fleet costs and how it grows: an append through JetStream beside a synced file, short runs and the tasks of
//! one long run with more and more workers, and memory with a million queued jobs:
//! `cargo bench -p spelunk --bench fleet --ignore-rust-version`. Needs the NATS server of `.ci/nats`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spelunk_fleet::{Fleet, FleetOptions, FleetWorkspace, OUTAGE_MAX, SnapshotFile};
use spelunk_fs::PrivateDir;
use spelunk_journal::{Disk, FileDisk, SharedRuns as _};
use spelunk_server::http::fleet::{UploadedSource, submit_question};
use spelunk_testkit::{Gate, ModelServer, NatsServer, when};
use spelunk_types::RunId;

const APPENDS: usize = 2_000;
/// The size of an event.
const LINE_BYTES: usize = 300;
const RUNS: u32 = 200;
const WORKERS: [usize; 4] = [1, 2, 4, 8];
const TASKS: u32 = 20_000;
/// The calls of a node at once.
const CALLS: usize = 8;
const QUEUED: usize = 1_000_000;
const SENDERS: usize = 16;
const NOTE: &str = "The magic number is 42.\n";
const QUESTION: &str = "What is the magic number?";
const REPLY: &str = "The magic number is 42.\n\n```evidence\na.md:1: The magic number is 42.\n```";

fn main() {
    let dir = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    appends(dir.path());
    throughput(dir.path());
    tasks(dir.path());
    memory(dir.path());
}

fn run(tail: u32) -> RunId {
    RunId::new(1_700_000_000_000, tail)
}

fn connect(url: &str, dir: &Path) -> Arc<FleetWorkspace> {
    let options = FleetOptions {
        url: url.to_owned(),
        credentials: None,
        ca_file: None,
        prefix: "spelunk".into(),
        node: "bench".into(),
        lease: Duration::from_secs(20),
        cache: dir.join("cache"),
        cache_bytes_max: 1 << 30,
        calls_max: 128,
        outage_max: OUTAGE_MAX,
    };
    let fleet = Fleet::connect(options, Duration::from_secs(30)).unwrap();
    FleetWorkspace::new(fleet, PrivateDir::new(dir.join("files")))
}

/// The median and the 99th percentile of an append that is durable when it returns.
fn append(what: &str, disk: &dyn Disk, tail: u32) {
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(LINE_BYTES - 12));
    let name = format!("runs/{}/journal.jsonl", run(tail));
    let mut times: Vec<Duration> = (0..APPENDS)
        .map(|_| {
            let began = Instant::now();
            disk.append(&name, line.as_bytes()).unwrap();
            disk.sync(&name).unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    let at = |share: usize| times[APPENDS * share / 100].as_micros();
    println!("append of {LINE_BYTES} bytes, {what}: {} µs, p99 {} µs", at(50), at(99));
}

fn appends(dir: &Path) {
    let dir = dir.join("appends");
    std::fs::create_dir_all(&dir).unwrap();
    append("local file, fsync", &FileDisk::new(dir.join("local")), 1);
    let one = NatsServer::start(&dir.join("one")).expect("`.ci/nats` installs the server");
    let alone = connect(&one.url(), &dir.join("alone"));
    let _lease = alone.lease(&run(2)).unwrap();
    append("JetStream, one copy", alone.as_ref(), 2);
    drop(one);
    let cluster = NatsServer::cluster(&dir.join("three"), 3).unwrap();
    let shared = connect(&cluster[0].url(), &dir.join("shared"));
    assert_eq!(shared.fleet().status().unwrap().replicas, 3);
    let _lease = shared.lease(&run(3)).unwrap();
    append("JetStream, three copies", shared.as_ref(), 3);
}

/// A worker process that does one run at a time.
struct Worker(Child);

impl Worker {
    fn start(dir: &Path, name: &str, url: &str, model: &ModelServer, settings: &[&str]) -> Self {
        let workspace = dir.join("workers").join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_spelunk"));
        command
            .args(["worker", "--fleet", url, "--set", "server.runs_parallel_max=1", "--workspace"])
            .arg(workspace)
            .args(["--set", &format!("fleet.node={name}"), "--set", "cache.replies=false"])
            .args(settings.iter().flat_map(|setting| ["--set", setting]))
            .env_clear()
            .env("HOME", dir)
            .env("SPELUNK_MODEL_PROBE_LOCAL", "false")
            .env("OPENAI_BASE_URL", model.base_url())
            .current_dir(dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1000.0
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Uploads a document; the source of a question.
fn source(fleet: &Fleet, dir: &Path, name: &str, text: &str) -> UploadedSource {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    let sent = fleet.upload_snapshot(vec![SnapshotFile { name: name.into(), path }]).unwrap();
    UploadedSource { manifest: sent.manifest, file: Some(name.into()), name: None }
}

fn submit(fleet: &Fleet, tail: u32, request: Value, source: &UploadedSource) {
    submit_question(fleet, &run(tail), request, (vec![source.clone()], Vec::new()))
        .unwrap_or_else(|failure| panic!("{}", failure.0));
}

/// The time that so many workers need for what is submitted.
fn worked_off(
    dir: &Path,
    n_workers: usize,
    settings: &[&str],
    model: &ModelServer,
    submit: impl Fn(&Fleet, &Path),
) -> f64 {
    std::fs::create_dir_all(dir).unwrap();
    let nats = NatsServer::start(dir).unwrap();
    let shared = connect(&nats.url(), dir);
    let fleet = shared.fleet();
    let start = |n| Worker::start(dir, &format!("w{n}"), &nats.url(), model, settings);
    let _workers: Vec<Worker> = (0..n_workers).map(start).collect();
    while fleet.status().unwrap().nodes.len() < n_workers {
        std::thread::sleep(Duration::from_millis(20));
    }
    let began = Instant::now();
    submit(fleet, dir);
    loop {
        let status = fleet.status().unwrap();
        if status.queued + status.taken == 0 {
            return began.elapsed().as_secs_f64();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn throughput(dir: &Path) {
    let mut alone = None;
    for n_workers in WORKERS {
        let model =
            ModelServer::start_blocking([when(|prompt| !prompt.is_empty()).reply(REPLY).delay_ms(50)]);
        let seconds =
            worked_off(&dir.join(format!("runs-{n_workers}")), n_workers, &[], &model, |fleet, dir| {
                let source = source(fleet, dir, "a.md", NOTE);
                for tail in 0..RUNS {
                    submit(fleet, tail, json!({ "question": QUESTION }), &source);
                }
            });
        assert!(model.requests().len() >= RUNS as usize);
        let rate = f64::from(RUNS) / seconds;
        let ratio = rate / *alone.get_or_insert(rate);
        println!("{RUNS} runs, 50 ms model, {n_workers} workers: {rate:.1} runs/s, {ratio:.2} times one");
    }
}

/// One run of many tasks: every line of a log is a task, and all nodes make its calls.
fn tasks(dir: &Path) {
    let at_once = format!("fleet.node_calls_max={CALLS}");
    let settings = [
        &at_once,
        "limits.chunk_log_lines=1",
        "limits.overlap_log_lines=0",
        "limits.small_lines_max=1",
        "limits.calls_parallel_max=1000",
    ];
    let lines: Vec<String> = (0..TASKS).map(|n| format!("09:00 INFO step {n} of the plan\n")).collect();
    let mut alone = None;
    for n_workers in WORKERS {
        let model = ModelServer::start_blocking([when(|prompt| !prompt.is_empty()).reply("[]").delay_ms(50)]);
        let dir = dir.join(format!("tasks-{n_workers}"));
        let seconds = worked_off(&dir, n_workers, &settings, &model, |fleet, dir| {
            let source = source(fleet, dir, "a.log", &lines.concat());
            let limits = json!({ "calls_max": 2 * TASKS, "tokens_max": 1_000_000_000 });
            let request = json!({ "question": "Which step failed?", "strategy": "map", "limits": limits });
            submit(fleet, 0, request, &source);
        });
        let n_calls = model.requests().iter().filter(|request| request.method == "POST").count();
        assert!(n_calls >= TASKS as usize, "{n_calls}");
        let rate = f64::from(TASKS) / seconds;
        let ratio = rate / *alone.get_or_insert(rate);
        println!(
            "{TASKS} tasks of one run, 50 ms model, {CALLS} calls at once each, {n_workers} workers: \
             {rate:.0} tasks/s, {ratio:.2} times one"
        );
    }
}

/// The peak memory of `spelunk fleet status`.
fn status_mb(dir: &Path, url: &str) -> f64 {
    // The standard library does not tell the peak of a child.
    let measure = "import resource, subprocess, sys\n\
                   subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n\
                   print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let timed = Command::new("python3")
        .args(["-c", measure])
        .arg(env!("CARGO_BIN_EXE_spelunk"))
        .args(["fleet", "status", "--fleet", url, "--workspace"])
        .arg(dir.join("looker"))
        .output()
        .unwrap();
    String::from_utf8(timed.stdout).unwrap().trim().parse::<f64>().unwrap() / 1000.0
}

fn memory(dir: &Path) {
    let dir = dir.join("memory");
    std::fs::create_dir_all(&dir).unwrap();
    let gate = Gate::new();
    let model = ModelServer::start_blocking([when(|prompt| !prompt.is_empty()).reply(REPLY).gate(&gate)]);
    let nats = NatsServer::start(&dir).unwrap();
    let shared = connect(&nats.url(), &dir);
    let fleet = shared.fleet();
    let source = source(fleet, &dir, "a.md", NOTE);
    let worker = Worker::start(&dir, "w", &nats.url(), &model, &[]);
    submit(fleet, 0, json!({ "question": QUESTION }), &source);
    // It has no place for another run now.
    gate.reached_blocking(1);
    let before = (worker.resident_mb(), status_mb(&dir, &nats.url()));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            scope.spawn(move || {
                for n in 0..QUEUED / SENDERS {
                    let id = format!("{sender}/{n}");
                    let job = json!({ "format": 1, "run": id, "ticket": "x".repeat(300) });
                    fleet.enqueue("ann", &id, job.to_string().into_bytes()).unwrap();
                }
            });
        }
    });
    let queued_in = began.elapsed();
    let queued = fleet.status().unwrap().queued;
    let began = Instant::now();
    let after = (worker.resident_mb(), status_mb(&dir, &nats.url()));
    println!("{queued} queued jobs, sent in {:.0} s", queued_in.as_secs_f64());
    println!("memory of a worker: {:.1} MB before, {:.1} MB after", before.0, after.0);
    println!(
        "memory of `fleet status`: {:.1} MB before, {:.1} MB after; it took {:.2} s",
        before.1,
        after.1,
        began.elapsed().as_secs_f64()
    );
}
