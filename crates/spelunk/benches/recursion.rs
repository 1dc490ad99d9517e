//! The cost of the recursive loop, with cells in real worker processes, each figure next to a floor measured in the
//! same run: `cargo bench -p spelunk --bench recursion --ignore-rust-version`. A figure that misses its target is
//! marked, not hidden.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, ResumeRequest, RunHandle, RunRequest, RunSettings, SystemClock};
use spelunk_journal::Workspace;
use spelunk_model::{Model, Prompt, collect};
use spelunk_sandbox::{Sandbox, WorkerCommand};
use spelunk_testkit::{Gate, ModelServer, Rule, on, when};
use spelunk_types::{CallId, FrameId, Limits, SourceSpec, Strategy};

mod table;

use table::{bare_batch, head, http_model, median, ms, row};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    head();
    runtime.block_on(async {
        let floor = http_floor().await;
        one_turn(floor).await;
        sequential(floor).await;
        batched().await;
        child(floor).await;
        replay().await;
        agent_replay().await;
    });
    gigabyte();
}

fn cell(code: &str) -> String {
    format!("```repl\n{code}\n```")
}

struct Stage {
    _directory: tempfile::TempDir,
    engine: Engine,
    sources: Vec<SourceSpec>,
    limits: Limits,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir_in(".").unwrap();
        let document = directory.path().join("a.md");
        std::fs::write(&document, "The magic number is 42.\n".repeat(40)).unwrap();
        let workspace = Workspace::open(&directory.path().join("workspace")).unwrap();
        let worker = WorkerCommand {
            program: PathBuf::from(env!("CARGO_BIN_EXE_spelunk")),
            arguments: vec!["worker".into()],
        };
        let engine = Engine::new(workspace, Arc::new(SystemClock), ScanOptions::default())
            .with_sandbox(Sandbox::monty(worker));
        let sources = vec![SourceSpec::Path { path: document.to_str().unwrap().to_owned(), name: None }];
        let limits = Limits {
            calls_max: u64::MAX,
            tokens_max: u64::MAX,
            cell_calls_max: u64::MAX,
            batch_queries_max: u64::MAX,
            calls_parallel_max: 100,
            agent_turns_max: u64::MAX,
            ..Limits::default()
        };
        Self { _directory: directory, engine, sources, limits }
    }

    fn start(&self, server: &ModelServer) -> RunHandle {
        self.start_with(server, Strategy::Repl)
    }

    fn start_with(&self, server: &ModelServer, strategy: Strategy) -> RunHandle {
        self.start_asking(http_model(server), strategy)
    }

    fn start_asking(&self, model: Arc<dyn Model>, strategy: Strategy) -> RunHandle {
        let corpus = self.engine.open_corpus(&self.sources, &mut |_| {}).unwrap();
        let request = RunRequest {
            question: "What is the magic number?".into(),
            corpus,
            sources: self.sources.clone(),
            strategy,
            model,
            sub_model: None,
            synthesis_model: None,
            schema: None,
            turn: None,
            focus: spelunk_types::Focus::General,
            settings: RunSettings {
                limits: self.limits.clone(),
                cache_replies: false,
                cost_is_bounded: false,
            },
            program: None,
        };
        self.engine.start(request).unwrap()
    }

    /// A whole run, and its duration.
    async fn run(&self, server: &ModelServer) -> Duration {
        self.run_asking(http_model(server)).await
    }

    /// The same with a model whose connections are already open.
    async fn run_asking(&self, model: Arc<dyn Model>) -> Duration {
        let began = Instant::now();
        let result = self.start_asking(model, Strategy::Repl).join().await;
        let took = began.elapsed();
        assert!(result.answer.is_some(), "{:?}", result.error);
        took
    }
}

/// One bare request over a kept-alive connection.
async fn http_floor() -> Duration {
    let server = ModelServer::start([when(|_| true).reply("yes").at_once()]).await;
    let model = http_model(&server);
    let call = CallId { frame: FrameId::root(), ordinal: 0 };
    let prompt = Prompt::single("", "What is the magic number?", 100);
    let mut times = Vec::new();
    for _ in 0..300 {
        let began = Instant::now();
        collect(model.stream(&prompt, &call), 10_000, |_| {}).await.unwrap();
        times.push(began.elapsed());
    }
    median(times)
}

async fn one_turn(floor: Duration) {
    let server = ModelServer::start([on("0#0").reply(cell("FINAL(len(context))")).at_once()]).await;
    let stage = Stage::new();
    stage.run(&server).await;
    let mut times = Vec::new();
    for _ in 0..40 {
        times.push(stage.run(&server).await);
    }
    let over = median(times).saturating_sub(floor);
    let is_met = over < Duration::from_millis(10);
    row("one-turn run, warm, over the HTTP floor", &ms(over), &ms(floor), "under 10 ms", is_met);
}

async fn sequential(floor: Duration) {
    const CALLS: u32 = 200;
    let code = format!(
        "said = [llm_query(f'question {{n}}') for n in range({CALLS})]\nFINAL(len(said) + len(context))"
    );
    let rules: [Rule; 2] = [on("0#0").reply(cell(&code)).at_once(), on("0#*").reply("yes").at_once()];
    let server = ModelServer::start(rules).await;
    let stage = Stage::new();
    stage.run(&server).await;
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(stage.run(&server).await);
    }
    let each = (median(times) / CALLS).saturating_sub(floor);
    let is_met = each < Duration::from_micros(300);
    row(
        "200 sub-calls one after the other, each over the floor",
        &ms(each),
        &ms(floor),
        "under 0.3 ms",
        is_met,
    );
}

async fn batched() {
    const CALLS: u32 = 200;
    const MODEL_MS: u64 = 20;
    let code = format!(
        "said = llm_query_batched([f'question {{n}}' for n in range({CALLS})])\nFINAL(len(said) + len(context))"
    );
    let server = ModelServer::start([
        on("0#0").reply(cell(&code)).at_once(),
        on("0#*").reply("yes").at_once().delay_ms(MODEL_MS),
    ])
    .await;
    let stage = Stage::new();
    let model = http_model(&server);
    stage.run_asking(Arc::clone(&model)).await;
    let alone = {
        let server = ModelServer::start([on("0#0").reply(cell("FINAL(len(context))")).at_once()]).await;
        let model = http_model(&server);
        let mut times = Vec::new();
        for _ in 0..5 {
            times.push(stage.run_asking(Arc::clone(&model)).await);
        }
        median(times)
    };
    let mut times = Vec::new();
    for _ in 0..9 {
        times.push(stage.run_asking(Arc::clone(&model)).await.saturating_sub(alone));
    }
    let took = median(times);
    // Two waves of a hundred.
    let limit = Duration::from_millis(2 * MODEL_MS);
    let ratio = took.as_secs_f64() / limit.as_secs_f64();
    let what = format!("200 batched, 100 in flight, a 20 ms model ({ratio:.2}x)");
    row(&what, &ms(took), &ms(limit), "under 1.3x", ratio < 1.3);
    // The bare requests for comparison: client and server share the cores of this machine.
    let bare = bare_batch(&server, (0..CALLS).map(|n| format!("question {n}")).collect()).await;
    let ratio = took.as_secs_f64() / bare.as_secs_f64();
    row(&format!("the same beside the bare client ({ratio:.2}x)"), &ms(took), &ms(bare), "", true);
}

async fn child(floor: Duration) {
    const CHILDREN: u32 = 10;
    let code = format!(
        "said = [rlm_query('Which number?') for _ in range({CHILDREN})]\nFINAL(len(said) + len(context))"
    );
    let rules: [Rule; 2] =
        [on("0#0").reply(cell(&code)).at_once(), on("0.*#0").reply(cell("FINAL(len(context))")).at_once()];
    let server = ModelServer::start(rules).await;
    let stage = Stage::new();
    stage.run(&server).await;
    let alone = {
        let server = ModelServer::start([on("0#0").reply(cell("FINAL(len(context))")).at_once()]).await;
        median(vec![stage.run(&server).await, stage.run(&server).await, stage.run(&server).await])
    };
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(stage.run(&server).await);
    }
    let each = (median(times).saturating_sub(alone) / CHILDREN).saturating_sub(floor);
    let is_met = each < Duration::from_millis(2);
    row("a child with its own session, over the floor", &ms(each), &ms(floor), "under 2 ms", is_met);
}

/// A run of 1,000 sub-calls whose last turn was lost, resumed to its answer.
async fn replay() {
    const CALLS: u32 = 1000;
    let code =
        format!("said = llm_query_batched([f'question {{n}}' for n in range({CALLS})])\nprint(len(said))");
    let gate = Gate::new();
    let last = format!("0#{}", CALLS + 1);
    let server = ModelServer::start([
        on("0#0").reply(cell(&code)).at_once(),
        on(&last).reply(cell("FINAL(len(said) + len(context))")).gate(&gate),
        on("0#*").reply("yes").at_once(),
    ])
    .await;
    let stage = Stage::new();
    let handle = stage.start(&server);
    let run = handle.run.clone();
    gate.reached(1).await;
    handle.abandon().await;
    gate.open();
    let began = Instant::now();
    let settings = RunSettings { limits: stage.limits.clone(), cache_replies: false, cost_is_bounded: false };
    let request = ResumeRequest {
        model: http_model(&server),
        sub_model: None,
        synthesis_model: None,
        settings,
        program: None,
    };
    let result = stage.engine.resume(&run, request, &mut |_| {}).unwrap().join().await;
    let took = began.elapsed();
    assert!(result.answer.is_some(), "{:?}", result.error);
    row(
        "replay of a run of 1,000 calls, to its answer",
        &ms(took),
        "-",
        "under 1 s",
        took < Duration::from_secs(1),
    );
}

/// A follow-up question to an agent: all its tool calls are replayed on its desk before the new question is sent.
async fn agent_replay() {
    const TURNS: u32 = 125;
    let read = r#"{"path": "input/contexts/a.md", "offset": 3, "limit": 4}"#;
    let grep = r#"{"pattern": "magic", "limit": 3}"#;
    let note = r#"{"path": "state/notes.md", "content": "seen\n", "append": true}"#;
    let sort = r#"{"command": "sort input/contexts/a.md | uniq -c | head -3"}"#;
    let finish = r#"{"answer": "42"}"#;
    let server = ModelServer::start([
        on(&format!("0#{TURNS}")).reply("").tool_call("Finish", finish).at_once(),
        on(&format!("0#{}", TURNS + 1)).reply("").tool_call("Finish", finish).at_once(),
        on("0#*")
            .reply("")
            .tool_call("Read", read)
            .tool_call("Grep", grep)
            .tool_call("Write", note)
            .tool_call("Shell", sort)
            .at_once(),
    ])
    .await;
    let stage = Stage::new();
    let first = stage.start_with(&server, Strategy::Agent).join().await;
    assert!(first.answer.is_some(), "{:?}", first.error);
    let request = ResumeRequest {
        model: http_model(&server),
        sub_model: None,
        synthesis_model: None,
        settings: RunSettings { limits: stage.limits.clone(), cache_replies: false, cost_is_bounded: false },
        program: None,
    };
    let began = Instant::now();
    let result = stage.engine.ask_more(&first.run, "Again?", request, &mut |_| {}).unwrap().join().await;
    let took = began.elapsed();
    assert!(result.answer.is_some(), "{:?}", result.error);
    let is_met = took < Duration::from_secs(2);
    row("replay of an agent's 500 tool calls, to its next answer", &ms(took), "-", "under 2 s", is_met);
}

/// A gigabyte through the program itself: start to first request, `re.findall` compared with `rg -o`, memory.
fn gigabyte() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let path = directory.path().join("big.log");
    let bytes = write_gigabyte(&path);
    let warm = |server: &ModelServer| ask(directory.path(), server);
    let gate = Gate::new();
    let server = ModelServer::start_blocking([when(|prompt| prompt.contains("Question:"))
        .reply(cell("FINAL(len(context[:10]))"))
        .gate(&gate)]);
    let began = Instant::now();
    let mut child = warm(&server);
    gate.reached_blocking(1);
    let start = began.elapsed();
    gate.open();
    assert!(child.wait().unwrap().success());
    row(
        "1 GB: process start to first request",
        &ms(start),
        "-",
        "under 50 ms",
        start < Duration::from_millis(50),
    );

    let empty = {
        let server = ModelServer::start_blocking([
            when(|prompt| prompt.contains("Question:")).reply(cell("FINAL(len(context[:10]))"))
        ]);
        let began = Instant::now();
        assert!(warm(&server).wait().unwrap().success());
        began.elapsed()
    };
    let mut peak_mb = 0;
    let find = r"import re; FINAL(len(re.findall(r'user_9\d{4}7', context)))";
    let iterate = r"import re; FINAL(sum(1 for m in re.finditer(r'user_9\d{4}7', context)))";
    let either_case = r"import re; FINAL(len(re.findall(r'(?i)USER_9\d{4}7', context)))";
    let lines = r"FINAL(len(grep(r'user_9\d{4}7', max=100_000)))";
    for (what, code, option, pattern, target) in [
        ("re.findall", find, "-o", r"user_9\d{4}7", 1.5),
        ("re.finditer", iterate, "-o", r"user_9\d{4}7", 1.5),
        ("re.findall with (?i)", either_case, "-io", r"USER_9\d{4}7", 1.2),
        ("grep()", lines, "-n", r"user_9\d{4}7", 1.2),
    ] {
        let server = ModelServer::start_blocking([when(|prompt| prompt.contains("Question:"))
            .reply(cell(code))
            .at_once()]);
        let began = Instant::now();
        let (is_answered, mb) = wait_with_peak(warm(&server));
        assert!(is_answered, "{what}");
        let ours = began.elapsed().saturating_sub(empty);
        peak_mb = peak_mb.max(mb);
        let began = Instant::now();
        let mut rg = Command::new("rg");
        rg.args([option, "--no-config", pattern]).arg(&path);
        if rg.stdout(Stdio::null()).status().is_err() {
            row(&format!("1 GB: {what} (no rg here to compare with)"), &ms(ours), "-", "", true);
            continue;
        }
        let floor = began.elapsed();
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        let what = format!("1 GB: {what} beside rg {option} ({ratio:.2}x)");
        row(&what, &ms(ours), &ms(floor), &format!("under {target}x"), ratio < target);
    }
    row(
        "1 GB: anonymous memory of the program at its peak",
        &format!("{peak_mb} MB"),
        &format!("{bytes} bytes"),
        "under 150 MB",
        peak_mb < 150,
    );
}

fn ask(directory: &Path, server: &ModelServer) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_spelunk"))
        .args([
            "ask",
            "How many?",
            "big.log",
            "--strategy",
            "repl",
            "--no-cache",
            "--model",
            "openai/scripted",
        ])
        .args(["--base-url", &server.base_url(), "--set", "limits.cell_ms_max=60000"])
        .current_dir(directory)
        .env_clear()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The peak anonymous memory of a process and its children, sampled every few milliseconds.
fn wait_with_peak(mut child: std::process::Child) -> (bool, u64) {
    let mut peak_kb = 0;
    loop {
        peak_kb = peak_kb.max(anonymous_kb(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            return (status.success(), peak_kb / 1024);
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn anonymous_kb(process: u32) -> u64 {
    let of = |process: u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or_default()
    };
    let children =
        std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    of(process) + children.split_whitespace().filter_map(|id| id.parse().ok()).map(of).sum::<u64>()
}

fn write_gigabyte(path: &Path) -> u64 {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut bytes = 0;
    let mut n = 1_u64;
    while bytes < 1_000_000_000 {
        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let line =
            format!("2026-03-01 10:22:11 [INFO] request from user_{:06} took {} ms\n", n >> 44, n >> 54);
        bytes += line.len() as u64;
        file.write_all(line.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    bytes
}
