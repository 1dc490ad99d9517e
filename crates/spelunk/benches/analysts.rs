//! The cost of a fan-out over a whole directory, each figure next to its lower bound: `cargo bench -p spelunk --bench
//! analysts --ignore-rust-version`. A figure that misses its target is marked, not hidden.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, RunRequest, RunSettings, RunView, SystemClock};
use spelunk_journal::{Record, Workspace};
use spelunk_testkit::{ModelServer, when};
use spelunk_types::{Focus, Limits, SourceSpec, Strategy};

mod table;

use table::{bare_batch, head, http_model, ms, peak_mb, row};

const FINDING: &str = r#"[{"type": "pattern", "summary": "A function", "line": 1, "evidence": "def f"}]"#;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    head();
    // Removed together at the end: a file system that has just removed thousands of files is slow to create new ones.
    let _stages = runtime.block_on(async { (slow_model().await, zero_latency().await, unchanged().await) });
}

struct Stage {
    directory: tempfile::TempDir,
    engine: Engine,
    limits: Limits,
    caches: bool,
}

impl Stage {
    /// `n_files` files with `n_lines` lines of code each.
    fn new(n_files: usize, n_lines: usize) -> Self {
        let directory = tempfile::tempdir_in(".").unwrap();
        let sources = directory.path().join("src");
        std::fs::create_dir(&sources).unwrap();
        for idx in 0..n_files {
            write_code(&sources.join(file_name(idx)), idx, n_lines);
        }
        let workspace = Workspace::open(&directory.path().join("workspace")).unwrap();
        let engine = Engine::new(workspace, Arc::new(SystemClock), ScanOptions::default());
        // Every file is a task of its own.
        let limits = Limits {
            calls_max: u64::MAX,
            tokens_max: u64::MAX,
            small_lines_max: 1,
            calls_parallel_max: 100,
            ..Limits::default()
        };
        Self { directory, engine, limits, caches: false }
    }

    fn file(&self, idx: usize) -> PathBuf {
        self.directory.path().join("src").join(file_name(idx))
    }

    /// A whole run, starting with the scan: its duration and its state.
    async fn run(&self, server: &ModelServer) -> (Duration, RunView) {
        let began = Instant::now();
        let path = self.directory.path().join("src").to_str().unwrap().to_owned();
        let sources = vec![SourceSpec::Path { path, name: None }];
        let corpus = self.engine.open_corpus(&sources, &mut |_| {}).unwrap();
        let request = RunRequest {
            question: "Review it".into(),
            corpus,
            sources,
            strategy: Strategy::Map,
            model: http_model(server),
            sub_model: None,
            synthesis_model: None,
            schema: None,
            turn: None,
            focus: Focus::General,
            settings: RunSettings {
                limits: self.limits.clone(),
                cache_replies: self.caches,
                cost_is_bounded: false,
            },
            program: None,
        };
        let result = self.engine.start(request).unwrap().join().await;
        let took = began.elapsed();
        assert!(result.answer.is_some(), "{:?}", result.error);
        let records = self.engine.workspace().read_journal(&result.run).unwrap();
        let events = records.into_iter().filter_map(|record| match record {
            Record::Known(event) => Some(*event),
            Record::Unknown { .. } => None,
        });
        (took, RunView::of(&events.collect::<Vec<_>>()))
    }
}

fn file_name(idx: usize) -> String {
    format!("file_{idx:05}.py")
}

fn write_code(path: &Path, idx: usize, n_lines: usize) {
    let mut text = format!("def f_{idx}(x):\n");
    for line in 1..n_lines {
        text += &format!("    x = x * {line} + {idx}\n");
    }
    std::fs::write(path, text).unwrap();
}

fn server(delay_ms: u64) -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("[F3]")).reply("## Summary\n\nFunctions [F1]."),
        when(|_| true).reply(FINDING).at_once().delay_ms(delay_ms),
    ])
}

async fn zero_latency() -> Stage {
    let stage = Stage::new(5_000, 100);
    let server = server(0);
    let (took, view) = stage.run(&server).await;
    assert_eq!(view.tasks.unwrap().done, 5_000);
    let is_met = took < Duration::from_secs(5);
    row("5,000 tasks, scanned, planned, asked and put together", &ms(took), "-", "under 5 s", is_met);
    row("the same, peak memory, server included", &format!("{} MB", peak_mb()), "-", "", true);
    stage
}

async fn slow_model() -> Stage {
    const TASKS: usize = 2_000;
    let stage = Stage::new(TASKS, 100);
    let server = server(50);
    let (took, view) = stage.run(&server).await;
    let limit = Duration::from_millis(TASKS as u64 / 100 * 50);
    let ratio = took.as_secs_f64() / limit.as_secs_f64();
    assert_eq!(view.tasks.unwrap().done, TASKS as u64);
    let what = format!("2,000 tasks, 100 in flight, a 50 ms model ({ratio:.2}x)");
    row(&what, &ms(took), &ms(limit), "under 1.2x", ratio < 1.2);
    // The bare requests for comparison: client and server share the cores of this machine.
    let texts: Vec<String> =
        (0..TASKS).map(|idx| std::fs::read_to_string(stage.file(idx)).unwrap()).collect();
    let bare = bare_batch(&server, texts).await;
    let ratio = took.as_secs_f64() / bare.as_secs_f64();
    row(&format!("the same beside the bare client ({ratio:.2}x)"), &ms(took), &ms(bare), "", true);
    stage
}

async fn unchanged() -> Stage {
    let mut stage = Stage::new(10_000, 20);
    stage.caches = true;
    let server = server(0);
    stage.run(&server).await;
    let n_asked = server.requests().len();
    let (took, view) = stage.run(&server).await;
    assert_eq!(server.requests().len(), n_asked, "nothing is asked again");
    assert_eq!(view.tasks.unwrap().recalled, 10_000);
    let is_met = took < Duration::from_secs(1);
    row("10,000 files, nothing changed, asked again", &ms(took), "-", "under 1 s", is_met);
    stage
}
