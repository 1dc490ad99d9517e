//! The cost of the tools, without the model: each file tool on a desk with 1,000 files and 1 MB of text, and shell
//! pipelines over 1 MB. Prints the minimum and median of many calls against the limit, next to the time the system's
//! bash takes for the same (including its processes) and the ratio, and the cost of Grep over contexts compared with
//! the underlying scan. `cargo bench -p spelunk-desk --bench desk --ignore-rust-version`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "it lays the same files out for the machine's own tools")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spelunk_context::{Corpus, GrepQuery, ScanOptions, SourceInput, View, grep_view};
use spelunk_desk::{Desk, DeskLimits, DeskPath, run_tool};

const FILE_TOOL_MAX: Duration = Duration::from_millis(1);
const CHUNK_MAX: Duration = Duration::from_millis(3);
const SCRIPT_MAX: Duration = Duration::from_millis(250);
const N_CALLS: usize = 200;

fn main() {
    let desk = desk();
    let host = Host::with(&desk);
    println!("{:<60} {:>9} {:>9} {:>9} {:>9} {:>6}", "call", "best", "middle", "limit", "bash", "times");
    let file_tools = [
        (
            "Read",
            json!({"path": "scratch/log.txt", "offset": 9000, "limit": 100}),
            "sed -n 9000,9099p scratch/log.txt",
        ),
        ("Write", json!({"path": "output/answer.md", "content": "x".repeat(20_000)}), ""),
        (
            "Edit",
            json!({"path": "scratch/notes.md", "old": "needle", "new": "pin"}),
            "sed s/needle/pin/ scratch/notes.md",
        ),
        (
            "Grep",
            json!({"pattern": "user=u77 ", "path": "scratch/log.txt"}),
            "grep -n 'user=u77 ' scratch/log.txt",
        ),
        ("Grep", json!({"pattern": "nothing like this"}), "grep -rn 'nothing like this' ."),
        ("Grep", json!({"pattern": "^file [0-9]*7$", "mode": "count"}), "grep -rc '^file [0-9]*7$' ."),
        ("Glob", json!({"pattern": "**/*7.txt"}), "find . -name '*7.txt'"),
        ("Evidence", json!({"tag": "t", "content": "found", "source": "scratch/log.txt:7"}), ""),
        ("Buffer", json!({"action": "append", "name": "b", "text": "a paragraph of text"}), ""),
    ];
    for (name, arguments, peer) in file_tools {
        measure(
            &desk,
            name,
            &arguments,
            FILE_TOOL_MAX,
            host.as_ref().filter(|_| !peer.is_empty()).map(|host| host.time(peer)),
        );
    }
    measure(&desk, "Chunk", &json!({"path": "scratch/log.txt"}), CHUNK_MAX, None);
    let scripts = [
        "true",
        "ls -R | wc -l",
        "grep status=200 scratch/log.txt | sort | uniq -c | head",
        "grep -o 'user=u[0-9]*' scratch/log.txt | sort | uniq -c | sort -rn | head -5",
        "cut -d' ' -f3 scratch/log.txt | sort | uniq -c | head",
        "awk '{n[$2]++} END {for (k in n) print k, n[k]}' scratch/log.txt",
        "awk -F= '{s[$3] += $4} END {for (u in s) print s[u], u}' scratch/log.txt | sort -rn | head -5",
        "awk '$4 ~ /items\\/7/ {n++; s += length($4)} END {print n, s / n}' scratch/log.txt",
        "sed -n 5000,5010p scratch/log.txt",
        "sed 's/status=[0-9]*/ok/' scratch/log.txt | tail -3",
        "tr a-z A-Z < scratch/log.txt | grep -c GET; wc scratch/log.txt",
        "grep -E 'user=u(7|77) ' scratch/log.txt | cut -d' ' -f6 | sort -u",
        "sort -t= -k4,4n scratch/log.txt | tail -3",
        "f=scratch/log.txt; grep status=200 $f | sort | uniq -c | head",
        "for u in u7 u77 u107; do grep -c \"user=$u \" scratch/log.txt; done",
    ];
    for script in scripts {
        let peer = host.as_ref().map(|host| host.time(script));
        measure(&desk, "Shell", &json!({ "command": script }), SCRIPT_MAX, peer);
    }
    contexts();
}

/// The desk's files in a directory on this machine, for the system's bash.
struct Host(PathBuf);

impl Host {
    /// `None` if there is no bash.
    fn with(desk: &Desk) -> Option<Self> {
        Command::new("bash").args(["-c", "true"]).status().ok().filter(ExitStatus::success)?;
        let host = Self(std::env::temp_dir().join(format!("spelunk-desk-bench-{}", std::process::id())));
        for (path, bytes) in desk.files() {
            let file = host.0.join(path.as_str());
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        Some(host)
    }

    /// The median time of a script there, including process startup.
    fn time(&self, script: &str) -> Duration {
        middle(|| {
            let mut bash = Command::new("bash");
            let bash = bash.args(["-c", script]).current_dir(&self.0).env("LC_ALL", "C.UTF-8");
            drop(bash.stdin(Stdio::null()).output().unwrap());
        })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Grep over 16 MB of contexts, by the tool and by the bare scan.
fn contexts() {
    let line = "2026-11-15T11:00:00Z INFO GET /v1/items/17 status=200 user=u77 ms=12\n";
    let text = line.repeat(80 * 1024 / line.len());
    let inputs: Vec<SourceInput> = (0..200)
        .map(|n| SourceInput::Text { name: format!("log-{n}.txt"), bytes: text.clone().into_bytes() })
        .collect();
    let corpus = Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap();
    let view = View::of(Arc::new(corpus));
    let mut desk = Desk::new(DeskLimits::default());
    let never = AtomicBool::new(false);
    desk.mount(view.clone());
    let pattern = "status=500";
    let query =
        GrepQuery { case_sensitive: true, context_lines: 0, matches_max: 100, ..GrepQuery::new(pattern) };
    let scan = middle(|| drop(grep_view(&view, &query, &never).unwrap()));
    let tool = middle(|| drop(run_tool(&mut desk.clone(), "Grep", &json!({ "pattern": pattern })).unwrap()));
    let ratio = tool.as_secs_f64() / scan.as_secs_f64();
    println!(
        "Grep over {} MB of contexts: {tool:.1?}, the scan alone {scan:.1?}, {ratio:.2} times",
        200 * text.len() / 1_000_000
    );
}

fn middle(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn desk() -> Desk {
    let mut desk = Desk::new(DeskLimits::default());
    let mut log = String::new();
    for n in 0..14_000 {
        let (second, item, user, ms) = (n % 60, n * 7 % 1000, n % 300, n % 50);
        log.push_str(&format!(
            "2026-11-15T11:00:{second:02}Z INFO GET /v1/items/{item} status=200 user=u{user} ms={ms}\n"
        ));
    }
    println!("log of {} bytes", log.len());
    desk.put(&path("scratch/log.txt"), log).unwrap();
    desk.put(&path("scratch/notes.md"), format!("{}needle\n", "a line of notes\n".repeat(2000))).unwrap();
    for n in 0..1000 {
        desk.put(&path(&format!("scratch/d{}/file-{n}.txt", n % 20)), format!("file {n}\n")).unwrap();
    }
    desk
}

fn path(text: &str) -> DeskPath {
    DeskPath::parse(text).unwrap()
}

/// Every call is made on a freshly cloned desk, as after a recorded turn. `peer` is the time the system's bash takes
/// for the same.
fn measure(desk: &Desk, name: &str, arguments: &Value, limit: Duration, peer: Option<Duration>) {
    let mut times: Vec<Duration> = (0..N_CALLS)
        .map(|_| {
            let mut desk = desk.clone();
            let begun = Instant::now();
            run_tool(&mut desk, name, arguments).unwrap();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    let (best, middle) = (times[0], times[N_CALLS / 2]);
    let what = arguments["command"].as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    let shown: String = format!("{name} {what}").chars().take(60).collect();
    let (peer, ratio) = match peer {
        Some(peer) => (format!("{peer:.1?}"), format!("{:.2}", middle.as_secs_f64() / peer.as_secs_f64())),
        None => ("-".to_owned(), "-".to_owned()),
    };
    let verdict = if middle <= limit { "" } else { "  over the limit" };
    println!("{shown:<60} {best:>9.1?} {middle:>9.1?} {limit:>9.1?} {peer:>9} {ratio:>6}{verdict}");
}
