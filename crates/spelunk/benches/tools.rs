//! The cost of a call of an external tool, recorded and replayable: a function of the program, and a tool of an MCP server on
//! standard input and output, beside a host call that only looks at text:
//! `cargo bench -p spelunk --bench tools --ignore-rust-version`. Each figure is the difference between a run with many
//! calls and one without, so that starting costs nothing.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, and fails by panicking"
)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spelunk::{EffectClass, Question, Spelunk, Strategy};
use spelunk_testkit::{ModelServer, when};

mod table;

use table::{head, median, ms, row};

const CALLS: u32 = 500;
const TIMES: usize = 5;
const SPELUNK: &str = env!("CARGO_BIN_EXE_spelunk");

fn main() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let (home, work) = (directory.path().join("home"), directory.path().join("work"));
    std::fs::create_dir_all(home.join(".config/spelunk")).unwrap();
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(work.join("a.md"), "The magic number is 42.\n".repeat(40)).unwrap();
    let settings =
        format!("[tools.s]\ncommand = [\"{SPELUNK}\", \"mcp\"]\neffect = \"read\"\ncalls_max = 100000\n");
    std::fs::write(home.join(".config/spelunk/config.toml"), settings).unwrap();
    head();
    let looking = each(|code| of_library(&home, &work, code), "peek(0, 10)");
    for (what, call, target_us) in [
        ("a call of a function of the program", "look_up(word='a')", 500),
        ("five hundred of them in one batch, each", "BATCH", 500),
    ] {
        let took = each(|code| of_library(&home, &work, code), call);
        let is_met = took < Duration::from_micros(target_us);
        row(what, &ms(took), &ms(looking), "under 0.5 ms", is_met);
    }
    let took = each(|code| of_command(&home, &work, code), "s_context_list()");
    let is_met = took < Duration::from_millis(3);
    row(
        "a call of an MCP server on standard input and output",
        &ms(took),
        &ms(looking),
        "under 3 ms",
        is_met,
    );
}

/// The time of one call: a run with many, less a run with none.
fn each(run: impl Fn(&ModelServer) -> Duration, call: &str) -> Duration {
    let [none, many] = [0, CALLS].map(|n_calls| {
        let code = match call {
            "BATCH" => format!("said = look_up_batched([{{'word': 'a'}}] * {n_calls})"),
            call => format!("said = [{call} for n in range({n_calls})]"),
        };
        let reply = format!("```repl\n{code}\nFINAL(str(len(said)) + ' of ' + str(len(context)))\n```");
        let server = ModelServer::start_blocking([when(|_| true).reply(reply).at_once()]);
        median((0..TIMES).map(|_| run(&server)).collect())
    });
    many.saturating_sub(none) / CALLS
}

fn of_library(home: &Path, work: &Path, server: &ModelServer) -> Duration {
    let builder = Spelunk::builder().isolated().directory(work).variable("HOME", home).worker(SPELUNK);
    let builder = builder.model("openai/scripted").base_url(server.base_url()).set("cache.replies", "false");
    let schema = json!({ "type": "object", "properties": { "word": { "type": "string" } } });
    let look_up = |arguments: Value| async move { Ok(arguments["word"].clone()) };
    let spelunk = builder.tool("look_up", schema, EffectClass::Read, look_up).build().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let began = Instant::now();
    let question = Question::new("How many?").path("a.md").strategy(Strategy::Repl);
    let answer = runtime.block_on(spelunk.ask(question)).unwrap();
    assert!(answer.success, "{:?}", answer.answer);
    began.elapsed()
}

fn of_command(home: &Path, work: &Path, server: &ModelServer) -> Duration {
    let mut command = Command::new(SPELUNK);
    command.args(["ask", "How many?", "a.md", "--tool", "s", "--no-cache"]).current_dir(work).env_clear();
    command.env("HOME", home.canonicalize().unwrap()).env("OPENAI_BASE_URL", server.base_url());
    let began = Instant::now();
    let ran = command.env("SPELUNK_MODEL_PROBE_LOCAL", "false").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    began.elapsed()
}
