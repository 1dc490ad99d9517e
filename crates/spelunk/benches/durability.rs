//! What recording costs on a disk, in both modes of `journal.durability`, compared with the bare client in the same
//! run: `cargo bench -p spelunk --bench durability --ignore-rust-version`. The disk is that of the current directory.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use spelunk_context::ScanOptions;
use spelunk_engine::{Answer, Engine, Program, RunRequest, RunSettings, SystemClock};
use spelunk_journal::{SyncMode, Workspace};
use spelunk_model::{Model, Prompt, collect};
use spelunk_testkit::{Gate, ModelServer, when};
use spelunk_types::{CallId, Focus, FrameId, Grounding, Limits, SourceSpec, Strategy};

mod table;

use table::{bare_batch, head, http_model, median, ms, row};

const CALLS: u32 = 200;
const ROUNDS: usize = 7;
const MODES: [(SyncMode, &str); 2] = [(SyncMode::Process, "process"), (SyncMode::Power, "power")];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    head();
    runtime.block_on(sequential());
    runtime.block_on(batch());
    runtime.block_on(first_request());
}

/// A workspace of its own, with one document beside it.
struct Place {
    directory: tempfile::TempDir,
    sources: Vec<SourceSpec>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir_in(".").unwrap();
        let document = directory.path().join("a.md");
        std::fs::write(&document, "The magic number is 42.\n").unwrap();
        let sources = vec![SourceSpec::Path { path: document.to_str().unwrap().to_owned(), name: None }];
        Self { directory, sources }
    }

    fn engine(&self, mode: SyncMode) -> Engine {
        let workspace = Workspace::open(&self.directory.path().join("workspace")).unwrap();
        Engine::new(workspace.with_sync_mode(mode), Arc::new(SystemClock), ScanOptions::default())
    }

    fn request(&self, engine: &Engine, model: &Arc<dyn Model>, program: Program) -> RunRequest {
        let limits = Limits { calls_max: u64::MAX, calls_parallel_max: 100, ..Limits::default() };
        RunRequest {
            question: "What is the magic number?".to_owned(),
            corpus: engine.open_corpus(&self.sources, &mut |_| {}).unwrap(),
            sources: self.sources.clone(),
            strategy: Strategy::Program,
            model: Arc::clone(model),
            sub_model: None,
            synthesis_model: None,
            schema: None,
            turn: None,
            focus: Focus::General,
            settings: RunSettings { limits, cache_replies: false, cost_is_bounded: false },
            program: Some(program),
        }
    }
}

fn question(idx: u32) -> String {
    format!("question {idx}: {}", "words about it ".repeat(20))
}

fn done() -> Answer {
    Answer { text: "done".into(), citations: Vec::new(), grounding: Grounding::Uncited }
}

/// Calls one after the other, each of which has to wait for the record of the one before.
async fn sequential() {
    let server = ModelServer::start([when(|_| true).reply("yes")]).await;
    let model = http_model(&server);
    let in_turn: Program = Arc::new(|frame, _| {
        Box::pin(async move {
            for idx in 0..CALLS {
                frame.ask(Prompt::single("Answer.", question(idx), 100)).await?;
            }
            Ok(done())
        })
    });
    let mut bare = Vec::new();
    let mut ours = MODES.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for ordinal in 0..CALLS {
            let call = CallId { frame: FrameId::root(), ordinal };
            let prompt = Prompt::single("Answer.", question(ordinal), 100);
            collect(model.stream(&prompt, &call), 10_000, |_| {}).await.unwrap();
        }
        bare.push(began.elapsed() / CALLS);
        for ((mode, _), times) in MODES.iter().zip(&mut ours) {
            let place = Place::new();
            let engine = place.engine(*mode);
            let request = place.request(&engine, &model, Arc::clone(&in_turn));
            let began = Instant::now();
            assert!(engine.start(request).unwrap().join().await.answer.is_some());
            times.push(began.elapsed() / CALLS);
        }
    }
    let floor = median(bare);
    for ((mode, name), times) in MODES.iter().zip(ours) {
        let time = median(times);
        let over = time.saturating_sub(floor);
        let ratio = time.as_secs_f64() / floor.as_secs_f64();
        let what = format!("sequential call over the request, {name} ({ratio:.2}x)");
        let is_met = *mode == SyncMode::Power || over < Duration::from_micros(350);
        row(&what, &ms(over), &ms(floor), "process: under 0.35 ms", is_met);
    }
}

/// 200 calls, a hundred in flight.
async fn batch() {
    let server = ModelServer::start([when(|_| true).reply("yes")]).await;
    let model = http_model(&server);
    let together: Program = Arc::new(|frame, _| {
        Box::pin(async move {
            let prompts = (0..CALLS).map(|idx| Prompt::single("", question(idx), 100)).collect();
            assert!(frame.ask_all(prompts).await.into_iter().all(|reply| reply.is_ok()));
            Ok(done())
        })
    });
    for (mode, name) in MODES {
        let mut times = Vec::new();
        for _ in 0..3 {
            let place = Place::new();
            let engine = place.engine(mode);
            let request = place.request(&engine, &model, Arc::clone(&together));
            let began = Instant::now();
            assert!(engine.start(request).unwrap().join().await.answer.is_some());
            times.push(began.elapsed());
        }
        let floor = bare_batch(&server, (0..CALLS).map(question).collect()).await;
        let time = median(times);
        let ratio = time.as_secs_f64() / floor.as_secs_f64();
        let what = format!("{CALLS} calls, 100 in flight, {name} ({ratio:.2}x)");
        let is_met = mode == SyncMode::Power || ratio < 1.3;
        row(&what, &ms(time), &ms(floor), "process: under 1.3x", is_met);
    }
}

/// From opening a new workspace to the first request at the server.
async fn first_request() {
    for (mode, name) in MODES {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let gate = Gate::new();
            let server = ModelServer::start([when(|_| true).reply("yes").gate(&gate)]).await;
            let (place, model) = (Place::new(), http_model(&server));
            let ask: Program = Arc::new(|frame, _| {
                Box::pin(async move {
                    frame.ask(Prompt::single("Answer.", question(0), 100)).await?;
                    Ok(done())
                })
            });
            let began = Instant::now();
            let engine = place.engine(mode);
            let running = engine.start(place.request(&engine, &model, ask)).unwrap();
            gate.reached(1).await;
            times.push(began.elapsed());
            gate.open();
            assert!(running.join().await.answer.is_some());
        }
        let time = median(times);
        let what = format!("new workspace to its first request, {name}");
        let is_met = mode == SyncMode::Power || time < Duration::from_millis(20);
        row(&what, &ms(time), "", "process: under 20 ms", is_met);
    }
}
