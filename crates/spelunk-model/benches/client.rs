//! The overhead of a client beyond moving bytes: `cargo bench -p spelunk-model --bench client --ignore-rust-version`.
//! Each figure is compared with a baseline measured in the same run: the same request, replayed over a bare socket. A
//! figure that misses its target is marked BROKEN, and the run fails.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use spelunk_model::{
    AnthropicModel, AwsAuth, AwsKeys, AwsSource, BedrockModel, GeminiModel, HostedCatalogue, Model,
    ModelOptions, OpenAiModel, Prompt, ResponsesModel, Secret, collect,
};
use spelunk_testkit::{Gate, ModelServer, Recorded, on};
use spelunk_types::CallId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const N_IN_FLIGHT: usize = 100;
const N_CALLS: u32 = 2_000;
const N_ROUNDS: usize = 5;
const OVERHEAD_MS_MAX: f64 = 0.3;
const CATALOGUE_MS_MAX: f64 = 1.0;
const N_STREAMS: usize = 1_000;
const PEAK_MB_MAX: u64 = 300;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("{:<52} {:>12} {:>12}  target", "what", "measured", "floor");
    // Memory first: the peak of a process never decreases.
    let mut is_fine = runtime.block_on(streams());
    is_fine &= catalogue();
    for provider in ["openai", "openai-responses", "anthropic", "gemini", "bedrock"] {
        is_fine &= runtime.block_on(overhead(provider));
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a process does with the catalogue of hosted models before its first request: it checks the user's own file, if
/// there is one, and looks up its model. The floor is a pass over the same text.
fn catalogue() -> bool {
    let text = HostedCatalogue::built_in().text();
    let best = |work: &dyn Fn() -> usize| {
        let timed = (0..N_ROUNDS * 20).map(|_| {
            let began = Instant::now();
            assert!(std::hint::black_box(work()) > 0);
            began.elapsed()
        });
        timed.min().unwrap_or_default().as_secs_f64() * 1_000.0
    };
    let floor_ms = best(&|| text.lines().map(|line| line.split('\t').count()).sum());
    let find = |catalogue: &HostedCatalogue| usize::from(catalogue.find("xai", "grok-4.20").is_some()) + 1;
    let own_ms = best(&|| find(&HostedCatalogue::parse(text.to_owned()).unwrap()));
    let built_in_ms = best(&|| find(HostedCatalogue::built_in()));
    let ms = |ms: f64| format!("{ms:.3} ms");
    let target = format!("below {CATALOGUE_MS_MAX} ms");
    let is_fine = row(
        "a catalogue of the user's, checked and asked",
        &ms(own_ms),
        &ms(floor_ms),
        &target,
        own_ms < CATALOGUE_MS_MAX,
    );
    row(
        "the built-in catalogue, asked",
        &ms(built_in_ms),
        &ms(floor_ms),
        &target,
        built_in_ms < CATALOGUE_MS_MAX,
    ) && is_fine
}

fn row(what: &str, measured: &str, floor: &str, target: &str, is_met: bool) -> bool {
    let mark = if is_met { "" } else { "  BROKEN" };
    println!("{what:<52} {measured:>12} {floor:>12}  {target}{mark}");
    is_met
}

fn open(provider: &str, base_url: String) -> Arc<dyn Model> {
    let options = ModelOptions {
        base_url,
        name: "m".to_owned(),
        key: Some(Secret::new("sk-of-a-bench")),
        price: None,
        label_calls: true,
    };
    match provider {
        "openai" => Arc::new(OpenAiModel::new(options).unwrap()),
        "openai-responses" => Arc::new(ResponsesModel::new(options).unwrap()),
        "anthropic" => Arc::new(AnthropicModel::new(options).unwrap()),
        "gemini" => Arc::new(GeminiModel::new(options).unwrap()),
        _ => {
            let keys = AwsKeys {
                access_key_id: "AKID".to_owned(),
                secret_access_key: Secret::new("secret-of-a-bench"),
                session_token: None,
                expires_at: None,
            };
            let auth = AwsAuth::Signed { source: AwsSource::Keys(keys), now: Arc::new(|| UNIX_EPOCH) };
            Arc::new(BedrockModel::new(options, "us-east-1", auth).unwrap())
        }
    }
}

fn call(ordinal: usize) -> CallId {
    format!("0#{ordinal}").parse().unwrap()
}

fn prompt() -> Prompt {
    Prompt::single("You answer from passages.", "passage ".repeat(500), 1000)
}

/// The peak memory of this process with a thousand replies half read, including the server.
async fn streams() -> bool {
    let gate = Gate::new();
    let text = "x".repeat(8_000);
    let server = ModelServer::start([on("0#*").reply(text).chunks(100).gate(&gate)]).await;
    let model = open("openai", server.base_url());
    let prompt = prompt();
    let begun = join_all((0..N_STREAMS).map(|ordinal| {
        let mut reply = model.stream(&prompt, &call(ordinal));
        async move {
            reply.next().await.unwrap().unwrap();
            reply
        }
    }))
    .await;
    gate.reached(N_STREAMS as u64).await;
    gate.open();
    let ends = join_all(begun.into_iter().map(|reply| collect(reply, 100_000, |_| {}))).await;
    assert!(ends.into_iter().all(|end| end.is_ok()));
    let peak = peak_mb();
    let what = format!("{N_STREAMS} streams open at once, peak of client and server");
    row(&what, &format!("{peak} MB"), "", &format!("< {PEAK_MB_MAX} MB"), peak < PEAK_MB_MAX)
}

fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Time per call with a hundred in flight, against the same bytes over bare sockets.
async fn overhead(provider: &str) -> bool {
    let server = ModelServer::start([on("0#*").reply("a short answer").chunks(3)]).await;
    let model = open(provider, server.base_url());
    let prompt = prompt();
    let (mut clients, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        clients.push(client_round(&*model, &prompt).await);
        let request = raw_request(server.requests().first().unwrap());
        floors.push(floor_round(&server, &request).await);
    }
    // The best round of each: noise only adds.
    let best =
        |rounds: Vec<Duration>| rounds.into_iter().min().unwrap().as_secs_f64() * 1000.0 / f64::from(N_CALLS);
    let (client_ms, floor_ms) = (best(clients), best(floors));
    let overhead_ms = client_ms - floor_ms;
    row(
        &format!("{provider}: overhead per call, {N_IN_FLIGHT} in flight"),
        &format!("{overhead_ms:.3} ms"),
        &format!("{floor_ms:.3} ms"),
        &format!("< {OVERHEAD_MS_MAX} ms"),
        overhead_ms < OVERHEAD_MS_MAX,
    )
}

async fn client_round(model: &dyn Model, prompt: &Prompt) -> Duration {
    let start = Instant::now();
    let calls = stream::iter(0..N_CALLS as usize).map(|ordinal| async move {
        let reply = collect(model.stream(prompt, &call(ordinal)), 10_000, |_| {}).await.unwrap();
        assert_eq!(reply.text, "a short answer");
    });
    calls.buffer_unordered(N_IN_FLIGHT).for_each(|()| async {}).await;
    start.elapsed()
}

async fn floor_round(server: &ModelServer, request: &[u8]) -> Duration {
    let address = server.base_url().replace("http://", "").replace("/v1", "");
    let mut sockets = Vec::new();
    for _ in 0..N_IN_FLIGHT {
        let socket = TcpStream::connect(&address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        sockets.push(socket);
    }
    let start = Instant::now();
    join_all(sockets.into_iter().map(|mut socket| async move {
        let mut buffer = vec![0; 65_536];
        for _ in 0..N_CALLS as usize / N_IN_FLIGHT {
            socket.write_all(request).await.unwrap();
            let mut end = Vec::new();
            // Only the end of a chunked body has to be recognised.
            while !end.ends_with(b"\r\n0\r\n\r\n") {
                let n_bytes = socket.read(&mut buffer).await.unwrap();
                assert!(n_bytes > 0, "the server hung up");
                end.extend_from_slice(&buffer[..n_bytes]);
            }
        }
    }))
    .await;
    start.elapsed()
}

/// The bytes of a request that a client sent.
fn raw_request(recorded: &Recorded) -> Vec<u8> {
    let mut text = format!("{} {} HTTP/1.1\r\n", recorded.method, recorded.path);
    for (name, value) in &recorded.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(&recorded.body);
    text.into_bytes()
}
