//! The server under load: fifty parallel runs, a thousand watchers of their events, and clients reading contexts at
//! the same time: `cargo bench -p spelunk --bench serving --ignore-rust-version`. Every watcher must see every event
//! once.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use spelunk_testkit::{ModelServer, when};

mod table;

use table::{head, ms, row};

const RUNS: usize = 50;
const WATCHERS_PER_RUN: usize = 20;
const MODEL_MS: u64 = 200;

fn main() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let notes = directory.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("a.md"), "The magic number is 42.\n").unwrap();
    let line = "2024-03-11T12:03:33Z PATCH /api/v2/items/4d2 user=barbara status=200 took 731ms\n";
    std::fs::write(directory.path().join("big.log"), line.repeat(5_000_000 / line.len())).unwrap();
    let model = ModelServer::start_blocking([when(|_| true).reply("It is 42.").delay_ms(MODEL_MS)]);
    let server = Server::start(directory.path(), &model);
    let registered = server.post("/api/context/register", r#"{"id": "big", "source_path": "big.log"}"#);
    assert!(registered.starts_with("HTTP/1.1 20"), "{registered}");
    head();
    let quiet = peeks(&server, &AtomicBool::new(false), 500);
    peek_row("a peek at 5 MB, alone", quiet);
    all_at_once(&server);
    row("the server's peak memory", &format!("{} MB", server.peak_mb()), "-", "", true);
}

/// Fifty runs, each with twenty watchers, while one client reads a context as fast as it can.
fn all_at_once(server: &Server) {
    let is_over = AtomicBool::new(false);
    let began = Instant::now();
    let (times, n_events) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| peeks(server, &is_over, usize::MAX));
        let runs: Vec<String> = (0..RUNS).map(|_| server.ask()).collect();
        let mut watching = Vec::new();
        for run in runs {
            let watcher = |_| {
                let run = run.clone();
                scope.spawn(move || server.watch(&run))
            };
            watching.push((0..WATCHERS_PER_RUN).map(watcher).collect::<Vec<_>>());
        }
        let mut n_events = 0;
        for watchers in watching {
            let seen: Vec<Vec<u64>> = watchers.into_iter().map(|watcher| watcher.join().unwrap()).collect();
            let n_last = *seen[0].last().unwrap();
            let all: Vec<u64> = (1..=n_last).collect();
            assert!(seen.iter().all(|ids| *ids == all), "a watcher lost an event or saw one twice: {seen:?}");
            n_events += seen.iter().map(Vec::len).sum::<usize>();
        }
        is_over.store(true, Ordering::Relaxed);
        (looking.join().unwrap(), n_events)
    });
    let n_watchers = RUNS * WATCHERS_PER_RUN;
    let what = format!("{RUNS} runs, {n_watchers} watchers, {n_events} events");
    row(&what, &ms(began.elapsed()), &ms(Duration::from_millis(MODEL_MS)), "none lost, none twice", true);
    peek_row("a peek at 5 MB meanwhile", times);
}

fn peek_row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let what = format!("{what}, p99 of {}", times.len());
    row(&what, &ms(p99), &format!("p50 {}", ms(median)), "under 20 ms", p99 < Duration::from_millis(20));
}

fn peeks(server: &Server, is_over: &AtomicBool, n_max: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    while times.len() < n_max && (!is_over.load(Ordering::Relaxed) || times.is_empty()) {
        let began = Instant::now();
        let answer = server.send("GET /api/context/big/peek?lines=50", "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        times.push(began.elapsed());
    }
    times
}

/// `spelunk serve` as a child process. Dropping it ends it.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(directory: &Path, model: &ModelServer) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_spelunk"))
            .args(["serve", "--listen", "127.0.0.1:0", "--model", "openai/scripted"])
            .args(["--set", &format!("server.runs_parallel_max={RUNS}")])
            .env("OPENAI_BASE_URL", model.base_url())
            .env("XDG_CONFIG_HOME", directory.join("config"))
            .current_dir(directory)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "the server ended");
            if let Some(address) = line.trim().strip_prefix("listening on http://") {
                break address.parse().unwrap();
            }
        };
        // Its output is drained from now on, so that it never blocks.
        std::thread::spawn(move || drop(std::io::copy(&mut said, &mut std::io::sink())));
        Self { child, address }
    }

    /// A request on its own connection, and the complete response.
    fn send(&self, what: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = format!(
            "{what} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(&self, path: &str, body: &str) -> String {
        self.send(&format!("POST {path}"), body)
    }

    fn ask(&self) -> String {
        let answer = self.post("/v1/runs", r#"{"question": "Which number is magic?", "paths": ["notes"]}"#);
        let id = answer.split_once(r#""id":""#).and_then(|(_, rest)| rest.split_once('"'));
        id.unwrap_or_else(|| panic!("{answer}")).0.to_owned()
    }

    /// The sequence numbers of a run's events, from first to last.
    fn watch(&self, run: &str) -> Vec<u64> {
        let stream = self.send(&format!("GET /v1/runs/{run}/events"), "");
        stream.lines().filter_map(|line| line.trim().strip_prefix("id:")?.trim().parse().ok()).collect()
    }

    fn peak_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) / 1000
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
