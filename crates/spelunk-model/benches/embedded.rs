//! The embedded model against llama.cpp's own server, on the same file and prompts, in alternation:
//! `.ci/local-model FILE.gguf` starts the server and runs this. Measures the time to the first token of a long prompt,
//! tokens per second after it, a prompt with a cached prefix, a reply constrained by a schema, and four concurrent
//! calls.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, is told by the environment what to measure, and fails by panicking"
)]

use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde_json::json;
use spelunk_model::{
    EmbeddedModel, EmbeddedOptions, GgufHeader, Model, ModelDelta, ModelOptions, OpenAiModel, Prompt,
};
use spelunk_types::{CallId, FrameId, Usage};

const N_ROUNDS: usize = 2;
const CONTEXT_TOKENS: u64 = 4_096;
const REPLY_TOKENS: u64 = 24;
const N_AT_ONCE: u64 = 4;
/// How many times as long as the server ours may take.
const RATIO_MAX: f64 = 1.1;

fn main() -> ExitCode {
    let Some(path) = std::env::var_os("SPELUNK_TEST_GGUF").map(PathBuf::from) else {
        println!("SPELUNK_TEST_GGUF names no model: nothing was measured");
        return ExitCode::SUCCESS;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let theirs = std::env::var("SPELUNK_LLAMA_URL").ok().map(|url| server(&url));
    let ours = embedded(path);
    if runtime.block_on(measure(ours.as_ref(), theirs.as_deref())) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn embedded(path: PathBuf) -> Arc<dyn Model> {
    let file = std::fs::File::open(&path).unwrap();
    let bytes = file.metadata().unwrap().len();
    let header = GgufHeader::read(BufReader::new(file), bytes).unwrap();
    let threads = std::env::var("SPELUNK_LOCAL_THREADS").ok().and_then(|threads| threads.parse().ok());
    let options = EmbeddedOptions {
        name: "measured".to_owned(),
        path,
        bytes,
        header,
        context_tokens: Some(CONTEXT_TOKENS),
        temperature: 0.0,
        seed: 0,
        threads,
    };
    Arc::new(EmbeddedModel::new(options).unwrap())
}

fn server(base_url: &str) -> Arc<dyn Model> {
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "measured".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    Arc::new(OpenAiModel::new(options).unwrap())
}

/// How long a call took.
#[derive(Debug, Clone, Copy)]
struct Took {
    first_ms: f64,
    total_ms: f64,
    usage: Usage,
}

async fn timed(model: &dyn Model, prompt: Prompt) -> Took {
    let call = CallId { frame: FrameId::root(), ordinal: 0 };
    let (began, mut first_ms, mut told) = (Instant::now(), None, None);
    let elapsed_ms = || began.elapsed().as_secs_f64() * 1000.0;
    let mut stream = model.stream(&prompt, &call);
    while let Some(delta) = stream.next().await {
        match delta.unwrap() {
            ModelDelta::Text(_) => {
                first_ms.get_or_insert_with(elapsed_ms);
            }
            ModelDelta::Done { usage, .. } => told = usage,
            ModelDelta::Reasoning(_) | ModelDelta::ToolCall(_) | ModelDelta::Certainty(_) => {}
        }
    }
    Took { first_ms: first_ms.unwrap_or_else(elapsed_ms), total_ms: elapsed_ms(), usage: told.unwrap() }
}

/// A document of about 350 tokens with a unique beginning.
fn document(number: usize) -> String {
    let line = "The quick brown fox jumps over the lazy dog near the river bank. ";
    format!("Document number {number}. {}", line.repeat(24))
}

const FIRST: &str = "first word, prompt never seen";
const NEXT: &str = "each further word";

/// The figures of one round.
type Figures = Vec<(&'static str, f64)>;

async fn round(model: &dyn Model, number: usize) -> Figures {
    let about = |what: &str| Prompt::single("", format!("{}\n\n{what}", document(number)), REPLY_TOKENS);
    let fresh = timed(model, about("Retell this as a long story.")).await;
    #[expect(clippy::cast_precision_loss, reason = "a few hundred tokens")]
    let per_token_ms = (fresh.total_ms - fresh.first_ms) / (fresh.usage.output_tokens.max(2) - 1) as f64;
    let again = timed(model, about("Retell this as a long poem.")).await;
    let mut shaped = about("Where is the fox?");
    shaped.schema = Some(Arc::new(json!({
        "type": "object", "additionalProperties": false, "required": ["place", "is_known"],
        "properties": { "place": { "type": "string", "maxLength": 60 }, "is_known": { "type": "boolean" } },
    })));
    let shaped = timed(model, shaped).await;
    let began = Instant::now();
    let four = (0..N_AT_ONCE).map(|idx| timed(model, about(&format!("Story number {idx}, please:"))));
    join_all(four).await;
    let four_ms = began.elapsed().as_secs_f64() * 1000.0;
    vec![
        (FIRST, fresh.first_ms),
        (NEXT, per_token_ms),
        ("first word, beginning seen before", again.first_ms),
        ("a reply held to a schema", shaped.total_ms),
        ("four replies at once", four_ms),
    ]
}

async fn measure(ours: &dyn Model, theirs: Option<&dyn Model>) -> bool {
    let warm = || Prompt::single("", "hi", 1);
    signal_server("-STOP");
    let loaded = timed(ours, warm()).await;
    println!("load and first word: {:.0} ms", loaded.total_ms);
    let probe = timed(ours, Prompt::single("", document(99), 1)).await;
    let n_prompt = probe.usage.input_tokens;
    println!("the long prompt has {n_prompt} tokens");
    signal_server("-CONT");
    if let Some(theirs) = theirs {
        timed(theirs, warm()).await;
    }
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for number in 0..N_ROUNDS {
        signal_server("-STOP");
        of_ours.push(shown("local:", round(ours, number).await));
        signal_server("-CONT");
        if let Some(theirs) = theirs {
            of_theirs.push(shown("llama.cpp", round(theirs, number).await));
        }
    }
    println!("{:<36} {:>12} {:>12} {:>8}", "milliseconds, best of 2", "local:", "llama.cpp", "ratio");
    let mut is_fine = true;
    for (what, mine) in best(&of_ours) {
        let other = best(&of_theirs).into_iter().find(|(name, _)| *name == what).map(|(_, ms)| ms);
        let Some(other) = other else {
            println!("{what:<36} {mine:>12.1}");
            continue;
        };
        let ratio = mine / other;
        let is_met = ratio <= RATIO_MAX;
        is_fine &= is_met;
        let mark = if is_met { "PASS" } else { "BROKEN" };
        println!("{what:<36} {mine:>12.1} {other:>12.1} {ratio:>8.2}  < {RATIO_MAX}  {mark}");
    }
    speeds("local:", &best(&of_ours), n_prompt);
    speeds("llama.cpp", &best(&of_theirs), n_prompt);
    is_fine
}

/// Stops the server while ours computes, and resumes it afterwards: its threads use CPU time even when idle.
fn signal_server(signal: &str) {
    if let Ok(server) = std::env::var("SPELUNK_LLAMA_PID") {
        std::process::Command::new("kill").args([signal, &server]).status().unwrap();
    }
}

/// Prints the results of a round immediately: a whole measurement takes a while.
fn shown(whose: &str, figures: Figures) -> Figures {
    let each: Vec<String> = figures.iter().map(|(_, ms)| format!("{ms:.1}")).collect();
    println!("{whose:<12} {} ms", each.join(", "));
    figures
}

/// The same as tokens per second, for prompts and for replies.
fn speeds(whose: &str, figures: &Figures, n_prompt: u64) {
    let of = |name: &str| figures.iter().find(|(other, _)| *other == name).map(|(_, ms)| *ms);
    let (Some(first_ms), Some(next_ms)) = (of(FIRST), of(NEXT)) else { return };
    #[expect(clippy::cast_precision_loss, reason = "a few hundred tokens")]
    let prompt = n_prompt as f64 * 1000.0 / first_ms;
    println!(
        "{whose:<12} {prompt:>8.1} tokens/s of the prompt, {:>6.1} tokens/s of a reply",
        1000.0 / next_ms
    );
}

/// The best round of each figure: noise only adds.
fn best(rounds: &[Figures]) -> Figures {
    let names = rounds.first().map(|figures| figures.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let least = |name: &'static str| {
        let of_name = rounds.iter().flatten().filter(|(other, _)| *other == name).map(|(_, ms)| *ms);
        (name, of_name.fold(f64::INFINITY, f64::min))
    };
    names.unwrap_or_default().into_iter().map(least).collect()
}
