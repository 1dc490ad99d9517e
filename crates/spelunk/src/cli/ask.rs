//! `spelunk ask`: a question, some text, an answer. Without a model it shows the passages that fit best, and says so.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_context::{Corpus, ScanOptions, ScanProgress, SourceInput, View};
use spelunk_engine::{Engine, RunRequest};
use spelunk_index::{RankOptions, rank};
use spelunk_types::{SourceSpec, Strategy};

use super::app::{App, Failure, Usage, print};
use super::{ModelFlags, watch};
use crate::config::StrategyChoice;
use crate::provider;
use crate::render::passages::{passages_closing, passages_json, passages_text};
use crate::render::progress::Progress;
use crate::render::units::{bytes, count};

/// The most that is read from standard input.
const STDIN_BYTES_MAX: u64 = 1_000_000_000;
const PASSAGES_MAX: u64 = 5;
const PASSAGE_BYTES_MAX: u64 = 20_000;

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// What you want to know
    question: String,
    /// Files or directories to answer from, `-` for standard input [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// How to answer: auto or direct
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// Ask again even where the same question was answered before
    #[arg(long)]
    no_cache: bool,
    /// Read files that look like secrets too
    #[arg(long)]
    allow_secrets: bool,
    /// Print every event as a line of JSON instead of the answer
    #[arg(long)]
    events: bool,
}

pub(crate) async fn ask(app: &App, args: AskArgs) -> Result<ExitCode, Failure> {
    if args.question.trim().is_empty() {
        let hint = "ask something, such as `spelunk ask \"what is this?\" .`".to_owned();
        return Err(Usage { message: "the question is empty".into(), hint }.into());
    }
    let strategy = strategy(app, args.strategy.as_deref())?;
    let Some(chosen) = provider::choose(&app.settings.model, &app.environment).await? else {
        return show_passages(app, &args);
    };
    // The sources are read before the workspace is made: a path that was mistyped leaves nothing behind.
    let inputs = inputs(app, &args.paths)?;
    let corpus = scan(app, &inputs, args.allow_secrets)?;
    let engine = app.engine(args.allow_secrets)?;
    let sources = keep(&engine, inputs)?;
    app.say(&format!("{} ({})", chosen.model.reference(), chosen.because));
    let mut settings = app.run_settings();
    settings.cache_replies &= !args.no_cache;
    let (question, model) = (args.question, chosen.model);
    let request = RunRequest { question, corpus, sources, strategy, model, settings, program: None };
    watch::finish(app, engine.start(request)?, args.events).await
}

fn strategy(app: &App, flag: Option<&str>) -> Result<Strategy, Failure> {
    let choice = match flag {
        Some(word) => StrategyChoice::of(word).ok_or_else(|| Usage {
            message: format!("there is no strategy `{word}`"),
            hint: format!("choose one of {}", StrategyChoice::WORDS.join(", ")),
        })?,
        None => app.settings.strategy,
    };
    Ok(match choice {
        StrategyChoice::Auto | StrategyChoice::Direct => Strategy::Direct,
    })
}

/// What was named on the command line; the current directory if nothing was.
fn inputs(app: &App, paths: &[String]) -> Result<Vec<SourceInput>, Failure> {
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let input = |path: &String| match path.as_str() {
        "-" => Ok(SourceInput::Text { name: "stdin".into(), bytes: read_stdin()? }),
        path => Ok(SourceInput::Path(app.current_dir.join(path))),
    };
    paths.iter().map(input).collect()
}

/// The same in a form that a resumed run can open again.
fn keep(engine: &Engine, inputs: Vec<SourceInput>) -> Result<Vec<SourceSpec>, Failure> {
    let mut sources = Vec::new();
    for input in inputs {
        sources.push(match input {
            SourceInput::Path(path) => SourceSpec::Path { path: path.display().to_string() },
            SourceInput::Text { name, bytes } => engine.keep_text(&name, &bytes)?,
        });
    }
    Ok(sources)
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(STDIN_BYTES_MAX + 1).read_to_end(&mut text);
    let refused =
        |message: String| Usage { message, hint: "write it to a file and name that instead".into() };
    read.map_err(|error| refused(format!("could not read standard input: {error}")))?;
    if text.len() as u64 > STDIN_BYTES_MAX {
        return Err(refused(format!("standard input is longer than {}", bytes(STDIN_BYTES_MAX))).into());
    }
    Ok(text)
}

/// Reads the sources through, with progress.
fn scan(app: &App, inputs: &[SourceInput], allow_secrets: bool) -> Result<Corpus, Failure> {
    let mut progress = Progress::new(app.quiet);
    let options = ScanOptions { allow_secrets, ..ScanOptions::default() };
    Ok(Corpus::scan(inputs, &options, &mut |scan| progress.draw(|| scan_status(&scan)))?)
}

pub(crate) fn scan_status(scan: &ScanProgress) -> String {
    format!(
        "reading {} of {} · {} of {}",
        scan.files_done,
        count(scan.files_total, "file"),
        bytes(scan.bytes_done),
        bytes(scan.bytes_total)
    )
}

/// The job without a model: the passages that share most words with the question. Nothing is recorded.
fn show_passages(app: &App, args: &AskArgs) -> Result<ExitCode, Failure> {
    let corpus = scan(app, &inputs(app, &args.paths)?, args.allow_secrets)?;
    let mut progress = Progress::new(app.quiet);
    let view = View::of(Arc::new(corpus));
    let question = args.question.as_str();
    let ranking = rank(&view, question, &RankOptions::new(PASSAGES_MAX, PASSAGE_BYTES_MAX), &mut |done| {
        progress.draw(|| format!("searching {} of {}", bytes(done.bytes_done), bytes(done.bytes_total)));
    })?;
    progress.clear();
    if app.json {
        print(&format!("{}\n", passages_json(&ranking)));
    } else if ranking.passages.is_empty() {
        print("No model wrote this: no passage shares a word with the question.\n");
    } else {
        print(&passages_text(&ranking, question, app.paint));
    }
    app.say("");
    app.say(&passages_closing(&ranking));
    app.say(
        "for an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`",
    );
    Ok(if ranking.passages.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
