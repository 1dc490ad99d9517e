//! `spelunk ask`: a question, some text, an answer. Without a model it shows the passages that fit best, and says so.

mod along;
mod more;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_context::{Corpus, Outline, ScanOptions, SourceInput, View};
use spelunk_engine::{Choice, Engine, EngineError, Reader, RunRequest, Schema, choose};
use spelunk_index::{RankOptions, rank};
use spelunk_journal::{JournalError, Record};
use spelunk_model::Model;
use spelunk_types::{EventKind, Focus, SourceSpec, Strategy};

use self::along::Asked;
use super::app::{App, Failure, Usage, print};
use super::limits::LimitFlags;
use super::scan::{ScanFlags, inputs, say_left_out, scan, scan_status};
use super::show::find;
use super::{ModelFlags, open, report, watch};
use crate::config::StrategyChoice;
use crate::provider;
use crate::render::passages::{passages_closing, passages_json, passages_text};
use crate::render::progress::Progress;
use crate::render::units::bytes;

/// A question may be answered from any number of files: only the best passages are sent.
const ALL_FILES: u64 = 0;
const PASSAGES_MAX: u64 = 5;
const PASSAGE_BYTES_MAX: u64 = 20_000;

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// What you want to know
    #[arg(required_unless_present = "messages")]
    question: Option<String>,
    /// Files or directories to answer from, `-` for standard input [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Ask about the files of an earlier run instead, by the beginning of its name; an agent goes on with its work
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
    /// A conversation to answer instead of a question: a file of JSON, `[{role, content}, ...]` or `{system, messages}`
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    messages: Option<String>,
    /// A file that belongs to the question, beside the paths; may be given several times
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    attach: Vec<String>,
    /// How to answer: auto, direct, repl, search, map, hybrid or agent
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// What an analysis looks for first: general, security, architecture, performance or data
    #[arg(long, value_name = "FOCUS")]
    focus: Option<String>,
    /// Answer with JSON that fits the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    schema: Option<String>,
    /// Also write a report into this file: .md, .html, .sarif or .json; may be given several times
    #[arg(long, value_name = "FILE")]
    report: Vec<String>,
    /// What runs the code that models write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    pub(super) sandbox: Option<String>,
    /// Ask again even where the same question was answered before
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    scan: ScanFlags,
    /// Print every event as a line of JSON instead of the answer
    #[arg(long)]
    events: bool,
    /// Show the run in a browser while it goes on, and until Ctrl-C
    #[arg(long)]
    open: bool,
}

pub(crate) async fn ask(app: &Arc<App>, mut args: AskArgs) -> Result<ExitCode, Failure> {
    let Asked { question, along } = along::asked(app, &mut args)?;
    if question.trim().is_empty() {
        let hint = "ask something, such as `spelunk ask \"what is this?\" .`".to_owned();
        return Err(Usage { message: "the question is empty".into(), hint }.into());
    }
    if let Some(going_on) = more::of_agent(app, &args)? {
        return more::ask(app, &args, &question, going_on).await;
    }
    let choice = strategy(app, args.strategy.as_deref())?;
    let focus = focus(args.focus.as_deref())?;
    let targets = report::targets(app, &args.report)?;
    refuse_paths_with_run(&args)?;
    let schema = args.schema.as_deref().map(|path| read_schema(app, path)).transpose()?;
    let Some(chosen) = provider::choose(&app.settings, &app.environment).await? else {
        return show_passages(app, &args, &question, along);
    };
    // The sources are read before the workspace is made: a path that was mistyped leaves nothing behind.
    let Sources { named, options, corpus } = read_sources(app, &args, along)?;
    let (strategy, why) =
        decide(app, choice, &question, &corpus.outline(), chosen.model.as_ref(), schema.is_some())?;
    let engine = app.engine(options)?.with_sandbox(app.sandbox(args.sandbox.as_deref())?);
    let sources = match named {
        Named::Now(inputs) => keep(&engine, inputs)?,
        Named::Before(sources) => sources,
    };
    app.say(&format!("{} ({})", chosen.model.reference(), chosen.because));
    if let Some(why) = why {
        app.say(&format!("strategy {strategy} ({why})"));
    }
    let roots = open::roots(&sources);
    let mut settings = app.run_settings();
    settings.cache_replies &= !args.no_cache;
    let request = RunRequest {
        question,
        corpus,
        sources,
        strategy,
        model: chosen.model,
        sub_model: chosen.sub_model,
        synthesis_model: chosen.synthesis_model,
        schema,
        focus,
        settings,
        program: None,
    };
    let handle = engine.start(request)?;
    let run = handle.run.clone();
    let page = if args.open { Some(open::open(app, &run, roots).await?) } else { None };
    let code = watch::finish(app, handle, args.events).await?;
    report::write(app, engine.workspace(), &run, &targets)?;
    if let Some(page) = page {
        page.stay(app).await;
    }
    Ok(code)
}

/// What is asked about.
struct Sources {
    named: Named,
    options: ScanOptions,
    corpus: Corpus,
}

/// Where it was named.
enum Named {
    /// On this command line.
    Now(Vec<SourceInput>),
    /// By an earlier run.
    Before(Vec<SourceSpec>),
}

fn refuse_paths_with_run(args: &AskArgs) -> Result<(), Failure> {
    if args.run.is_none() || (args.paths.is_empty() && args.scan.is_unset()) {
        return Ok(());
    }
    let message = "`--run` asks about the files of that run, so no others can be named".to_owned();
    Err(Usage {
        message,
        hint: "leave out either `--run` or the paths and the flags that say which files".into(),
    }
    .into())
}

fn read_sources(app: &App, args: &AskArgs, along: Vec<SourceInput>) -> Result<Sources, Failure> {
    let Some(run) = &args.run else {
        // What came with the question is enough to ask about: nobody asked for the current directory as well.
        let named =
            if args.paths.is_empty() && !along.is_empty() { Vec::new() } else { inputs(app, &args.paths)? };
        let inputs: Vec<SourceInput> = named.into_iter().chain(along).collect();
        let options = args.scan.options(ALL_FILES)?;
        let corpus = scan(app, &inputs, &options)?;
        return Ok(Sources { named: Named::Now(inputs), options, corpus });
    };
    let (workspace, run) = find(app, Some(run))?;
    let started = workspace.read_journal(&run)?.into_iter().next();
    let Some(Record::Known(event)) = started else { return Err(JournalError::NoRuns.into()) };
    // A journal opens with its start, or it is not read at all.
    let EventKind::RunStarted { sources, scan: options, .. } = event.kind else {
        return Err(JournalError::NotFound { name: run.to_string() }.into());
    };
    let options = *options;
    let mut progress = Progress::new(app.quiet);
    let engine = app.engine(options.clone())?;
    let corpus = engine.open_corpus(&sources, &mut |scan| progress.draw(|| scan_status(&scan)))?;
    progress.clear();
    Ok(Sources { named: Named::Before(sources), options, corpus })
}

fn strategy(app: &App, flag: Option<&str>) -> Result<StrategyChoice, Failure> {
    Ok(match flag {
        Some(word) => StrategyChoice::of(word).ok_or_else(|| Usage {
            message: format!("there is no strategy `{word}`"),
            hint: format!("choose one of {}", StrategyChoice::WORDS.join(", ")),
        })?,
        None => app.settings.strategy,
    })
}

/// The strategy, and why, where it was left to us.
pub(crate) fn decide(
    app: &App,
    choice: StrategyChoice,
    question: &str,
    outline: &Outline,
    model: &dyn Model,
    is_typed: bool,
) -> Result<(Strategy, Option<String>), Failure> {
    let strategy = match choice {
        StrategyChoice::Auto => {
            let limits = &app.settings.limits;
            let reader = Reader::of(model.reference(), limits);
            let Choice { strategy, why } = choose(question, outline, limits, reader, is_typed);
            // One call over everything is nothing to explain.
            return Ok((strategy, Some(why).filter(|_| strategy != Strategy::Direct)));
        }
        StrategyChoice::Repl => return Ok((Strategy::Repl, None)),
        StrategyChoice::Agent => return Ok((Strategy::Agent, None)),
        StrategyChoice::Direct => Strategy::Direct,
        StrategyChoice::Search => Strategy::Search,
        StrategyChoice::Map => Strategy::Map,
        StrategyChoice::Hybrid => Strategy::Hybrid,
    };
    if is_typed {
        let message = format!("the strategy `{strategy}` does not hold its answer to a schema");
        let hint = "leave `--strategy` out, or choose `repl` or `agent`".to_owned();
        return Err(Usage { message, hint }.into());
    }
    Ok((strategy, None))
}

fn focus(word: Option<&str>) -> Result<Focus, Failure> {
    let Some(word) = word else { return Ok(Focus::General) };
    Ok(word.parse().map_err(|_| Usage {
        message: format!("there is no focus `{word}`"),
        hint: format!("choose one of {}", Focus::ALL.map(Focus::name).join(", ")),
    })?)
}

/// Reads the schema before anything is spent.
fn read_schema(app: &App, path: &str) -> Result<String, Failure> {
    #[expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]
    let text = std::fs::read_to_string(app.current_dir.join(path));
    let text = text.map_err(|error| Usage {
        message: format!("could not read the schema `{path}`: {error}"),
        hint: "name a file with a JSON Schema".into(),
    })?;
    Schema::parse(&text).map_err(EngineError::from)?;
    Ok(text)
}

/// What was named, in a form that a resumed run can open again.
pub(crate) fn keep(engine: &Engine, inputs: Vec<SourceInput>) -> Result<Vec<SourceSpec>, Failure> {
    let mut sources = Vec::new();
    for input in inputs {
        sources.push(match input {
            SourceInput::Path(path) => SourceSpec::Path { path: path.display().to_string(), name: None },
            SourceInput::Typed { path, typed } => {
                SourceSpec::Path { path: path.display().to_string(), name: Some(typed.display().to_string()) }
            }
            SourceInput::Text { name, bytes } => engine.keep_text(&name, &bytes)?,
        });
    }
    Ok(sources)
}

/// The job without a model: the passages that share most words with the question. Nothing is recorded.
fn show_passages(
    app: &App,
    args: &AskArgs,
    question: &str,
    along: Vec<SourceInput>,
) -> Result<ExitCode, Failure> {
    let corpus = read_sources(app, args, along)?.corpus;
    let mut progress = Progress::new(app.quiet);
    let corpus = Arc::new(corpus);
    let view = View::of(Arc::clone(&corpus));
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
    say_left_out(app, &corpus);
    app.say(&passages_closing(&ranking));
    app.say(
        "for an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`",
    );
    if !args.report.is_empty() {
        app.say("no report was written: no model was asked");
    }
    Ok(if ranking.passages.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
