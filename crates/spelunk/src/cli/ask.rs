//! `spelunk ask`: answers a question from text, with attached files and conversations, or asks an agent a follow-up
//! question. Without a model it shows the best matching passages, and says so.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use spelunk_app::asking::{
    ATTACHED_BYTES_MAX, ATTACHED_MAX, Asking, AttachmentError, Attachments, Named, QuestionInput, Sources,
    go_on, require_question,
};
use spelunk_app::config::StrategyChoice;
use spelunk_app::planning::detector_with;
use spelunk_app::provider;
use spelunk_app::render::progress::{IndexingLine, Progress};
use spelunk_app::render::without_model::{found_closing, found_json, found_text};
use spelunk_app::runs::{find_run, read_view};
use spelunk_app::sources::scan_status;
use spelunk_app::without_model::{self, Computed};
use spelunk_context::{ScanOptions, SourceInput, View};
use spelunk_engine::{Conversation, EngineError, RunView, Schema};
use spelunk_journal::{JournalError, Record};
use spelunk_types::{EventKind, Focus, RunId, Strategy};

use super::tools::ToolFlags;
use super::{
    App, CliResult, Failure, LimitFlags, ModelFlags, OutputFlags, ScanFlags, TypeFlags, Usage, fleet, inputs,
    no_such, offer, open, print_result, read_stdin, report, resume, say_left_out, scan, tools, watch,
};

/// The exit code if no model is configured and passages or a count were shown instead of an answer.
const WITHOUT_MODEL: u8 = 4;

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question to answer, or `-` to read a request of any length from standard input, which needs no paths
    #[arg(required_unless_present = "messages")]
    question: Option<String>,
    /// Whether the request may be all there is.
    #[arg(skip)]
    is_alone: bool,
    /// Files or directories to answer from, or `-` for standard input [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Answer from a registered context, by its id, in addition to the paths; may be repeated
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    context: Vec<String>,
    /// Ask about the files of an earlier run (its id or a unique prefix); an agent continues its work
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
    /// Answer a conversation instead of a question: a JSON file, `[{role, content}, ...]` or `{system, messages}`
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    messages: Option<String>,
    /// Attach a file to the question, in addition to the paths; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    attach: Vec<String>,
    /// The strategy: auto, direct, repl, search, map, hybrid or agent
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// The focus of an analysis: general, security, architecture, performance or data
    #[arg(long, value_name = "FOCUS")]
    focus: Option<String>,
    /// Answer with JSON that matches the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    schema: Option<String>,
    /// Also write a report to this file (.md, .html, .sarif or .json); may be repeated
    #[arg(long, value_name = "FILE")]
    report: Vec<String>,
    /// The sandbox for code that models write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    pub(super) sandbox: Option<String>,
    /// Do not answer from cached replies
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    tools: ToolFlags,
    #[command(flatten)]
    types: TypeFlags,
    #[command(flatten)]
    scan: ScanFlags,
    #[command(flatten)]
    output: OutputFlags,
    /// Show the run in a browser while it is in progress, until Ctrl-C
    #[arg(long)]
    open: bool,
}

pub(crate) async fn ask(app: &Arc<App>, mut args: AskArgs) -> CliResult {
    let QuestionInput { question, attachments: along } = question_input(app, &mut args)?;
    require_question(&question)?;
    if let Some(going_on) = agent_run(app, &args)? {
        return ask_agent(app, &args, &question, going_on).await;
    }
    let strategy = strategy(app, args.strategy.as_deref())?;
    let focus = focus(args.focus.as_deref())?;
    let targets = report::targets(app, &args.report)?;
    refuse_paths_with_run(&args)?;
    let schema = args.schema.as_deref().map(|path| read_schema(app, path)).transpose()?;
    if let Some(shared) = app.fleet(Duration::ZERO)? {
        refuse_with_fleet(&args)?;
        let sources = read_sources(app, &args, along)?;
        let (strategy, focus, output) = (args.strategy, args.focus, args.output);
        let asked = fleet::FleetQuestion { question, sources, strategy, focus, schema };
        return fleet::ask(app, &shared, asked, output).await;
    }
    let chosen = match provider::choose(&app.settings, &app.environment).await? {
        None => offer::local_model(app).await?,
        chosen => chosen,
    };
    let Some(chosen) = chosen else { return show_passages(app, &args, &question, along) };
    let because = chosen.line();
    let mut settings = app.run_settings();
    settings.cache_replies &= !args.no_cache;
    // The sources are read before the workspace is created, so that a mistyped path leaves nothing behind.
    let sources = read_sources(app, &args, along)?;
    let models = chosen.into();
    tools::open(app, &args.tools).await?;
    let tools = app.run_tools();
    let asking = Asking { question, sources, models, strategy, focus, schema, turn: None, tools, settings };
    let ready = asking.ready(app, |_| app.sandbox(args.sandbox.as_deref()))?;
    app.say(&because);
    let (roots, workspace) = (open::roots(&ready.sources), ready.engine.workspace().clone());
    let handle = ready.start()?;
    let run = handle.run.clone();
    let page = if args.open { Some(open::open(app, &run, roots).await?) } else { None };
    let code = watch::finish(app, handle, args.output).await?;
    report::write(app, &workspace, &run, &targets)?;
    if let Some(page) = page {
        page.stay(app).await;
    }
    Ok(code)
}

/// Rejects flags that the nodes of a fleet decide, or that only work in this process.
fn refuse_with_fleet(args: &AskArgs) -> Result<(), Failure> {
    let flags = [
        ("--run", args.run.is_some()),
        ("--model", args.model.model.is_some()),
        ("--sub-model", args.model.sub_model.is_some()),
        ("--base-url", args.model.base_url.is_some()),
        ("--sandbox", args.sandbox.is_some()),
        ("--report", !args.report.is_empty()),
        ("--no-cache", args.no_cache),
        ("--open", args.open),
        ("--tool and --mcp", !args.tools.is_unset()),
    ];
    let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("{flag} cannot be used with a fleet, whose nodes have their own settings");
    Err(Usage::new(message, "leave it out, or set it where the nodes are started").into())
}

fn refuse_paths_with_run(args: &AskArgs) -> Result<(), Failure> {
    if args.run.is_none() || (args.paths.is_empty() && args.scan.is_unset() && args.types.is_unset()) {
        return Ok(());
    }
    let message =
        "`--run` uses the files of that run, so paths and file flags cannot be given with it".to_owned();
    Err(Usage::new(message, "leave out either `--run` or the paths and file flags").into())
}

fn read_sources(app: &App, args: &AskArgs, along: Vec<SourceInput>) -> Result<Sources, Failure> {
    let Some(run) = &args.run else {
        // Attachments and a request from standard input are enough: the current directory is not added to them.
        let mut along = along;
        for id in &args.context {
            along.push(scan::context(app, id)?);
        }
        let is_enough = args.is_alone || !along.is_empty();
        let named = if args.paths.is_empty() && is_enough { Vec::new() } else { inputs(app, &args.paths)? };
        let inputs: Vec<SourceInput> = named.into_iter().chain(along).collect();
        let TypeFlags { types, plain } = args.types.clone();
        detector_with(app, &args.types.types)?;
        let options = ScanOptions { types, plain, ..args.scan.options(&app.settings.limits)? };
        // The nodes of a fleet read buckets themselves.
        let is_here = |input: &&SourceInput| !matches!(input, SourceInput::Objects(_));
        let corpus = if app.settings.fleet.url.is_some() && !inputs.iter().all(|input| is_here(&input)) {
            let here: Vec<SourceInput> = inputs.iter().filter(is_here).cloned().collect();
            scan::scan_for(app, None, &here, &options)?
        } else {
            scan::scan_for(app, None, &inputs, &options)?
        };
        return Ok(Sources { named: Named::Now(inputs), options, corpus });
    };
    let (workspace, run) = find_run(app, Some(run))?;
    let started = workspace.read_journal(&run)?.into_iter().next();
    let Some(Record::Known(event)) = started else { return Err(JournalError::NoRuns.into()) };
    // A readable journal always opens with this event.
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

fn strategy(app: &App, flag: Option<&str>) -> Result<StrategyChoice, Usage> {
    let Some(word) = flag else { return Ok(app.settings.strategy) };
    StrategyChoice::of(word).ok_or_else(|| no_such("strategy", word, StrategyChoice::WORDS))
}

fn focus(word: Option<&str>) -> Result<Focus, Usage> {
    let Some(word) = word else { return Ok(Focus::General) };
    word.parse().map_err(|_| no_such("focus", word, &Focus::ALL.map(Focus::name)))
}

fn read_schema(app: &App, path: &str) -> Result<String, Failure> {
    #[expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]
    let text = std::fs::read_to_string(app.current_dir.join(path));
    let text = text.map_err(|error| Usage {
        message: format!("could not read the schema `{path}`: {error}"),
        hint: "pass a file that contains a JSON Schema".into(),
    })?;
    Schema::parse(&text).map_err(EngineError::from)?;
    Ok(text)
}

/// Without a model: shows a computed count or the best passages. No run is recorded.
fn show_passages(app: &App, args: &AskArgs, question: &str, along: Vec<SourceInput>) -> CliResult {
    let corpus = Arc::new(read_sources(app, args, along)?.corpus.as_text()?);
    if args.is_alone && corpus.documents().is_empty() {
        let message = "no model is configured, and a request without files needs one";
        let hint = "run `spelunk doctor`; to search a text from standard input, run `spelunk ask QUESTION -`";
        return Err(Usage::new(message, hint).into());
    }
    let mut progress = IndexingLine::new(app.quiet);
    let view = View::of(Arc::clone(&corpus));
    let found = without_model::find(app, &view, question, &mut |so_far| progress.draw(so_far))?;
    drop(progress);
    print_result(app, &found_json(&found), &found_text(&found, app.paint));
    app.say("");
    for notice in &found.notices {
        app.say(&notice.to_string());
    }
    say_left_out(app, &corpus);
    app.say(&found_closing(&found));
    app.say(
        "For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.",
    );
    if !args.report.is_empty() {
        app.say("No report was written, because no model is configured.");
    }
    let is_empty = found.passages.is_empty() && !matches!(found.computed, Computed::Result { .. });
    Ok(if is_empty { ExitCode::FAILURE } else { ExitCode::from(WITHOUT_MODEL) })
}

/// Reads the question. With a conversation, every positional argument is a path.
fn question_input(app: &App, args: &mut AskArgs) -> Result<QuestionInput, Failure> {
    let mut along = attached(app, &args.attach)?;
    let Some(file) = args.messages.clone() else {
        let request = match args.question.take().unwrap_or_default() {
            dash if dash == "-" => {
                args.is_alone = true;
                request_from_stdin(&args.paths)?
            }
            question => question,
        };
        let question = along.request(request)?;
        return Ok(QuestionInput { question, attachments: along.into_inputs() });
    };
    args.paths.splice(0..0, args.question.take());
    #[expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]
    let read = std::fs::read_to_string(app.current_dir.join(&file)).map_err(|error| Usage {
        message: format!("could not read the conversation `{file}`: {error}"),
        hint: "pass a JSON file that contains a list of messages".into(),
    })?;
    let conversation = Conversation::read(&read).map_err(|error| Usage {
        message: format!("`{file}` is not a conversation: {error}"),
        hint: "write it as `[{\"role\": \"user\", \"content\": \"...\"}]`".into(),
    })?;
    let question = along.converse(conversation)?;
    Ok(QuestionInput { question, attachments: along.into_inputs() })
}

fn request_from_stdin(paths: &[String]) -> Result<String, Failure> {
    let refused = |message: &str, hint: &str| Usage::new(message, hint);
    if paths.iter().any(|path| path == "-") {
        let message = "standard input cannot be both the question and a text to answer from";
        return Err(refused(message, "write the question in place of the first `-`").into());
    }
    let hint = "write the question as text, or pass the file as a path";
    String::from_utf8(read_stdin()?).map_err(|_| refused("standard input is not UTF-8", hint).into())
}

fn attached(app: &App, files: &[String]) -> Result<Attachments, Failure> {
    if files.len() > ATTACHED_MAX {
        let message = format!("{} files are attached; the maximum is {ATTACHED_MAX}", files.len());
        return Err(Usage::new(message, "pass their directory as a path").into());
    }
    let mut along = Attachments::default();
    for file in files {
        let refused = |why: String| Usage {
            message: format!("could not attach `{file}`: {why}"),
            hint: "pass a file; directories and large files are passed as paths".into(),
        };
        let bytes = read_attachment(&app.current_dir.join(file)).map_err(refused)?;
        let given = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        along.attach(&given, bytes).map_err(|error| refused(error.to_string()))?;
    }
    Ok(along)
}

#[expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]
fn read_attachment(path: &Path) -> Result<Vec<u8>, String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    if found.len() > ATTACHED_BYTES_MAX {
        return Err(AttachmentError::Size { bytes: found.len() }.to_string());
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

/// The agent run that `--run` names, unless another strategy is given.
fn agent_run(app: &App, args: &AskArgs) -> Result<Option<(RunId, RunView)>, Failure> {
    let Some(name) = &args.run else { return Ok(None) };
    let is_other = args.strategy.as_deref().is_some_and(|strategy| strategy != Strategy::Agent.name());
    let (workspace, run) = find_run(app, Some(name))?;
    let view = read_view(&workspace, &run)?;
    let is_agent = view.strategy == Some(Strategy::Agent);
    Ok((is_agent && !is_other).then_some((run, view)))
}

async fn ask_agent(app: &App, args: &AskArgs, question: &str, (run, view): (RunId, RunView)) -> CliResult {
    let request = resume::request_of(app, &args.model, &run, &view).await?;
    resume::open_tools(app, &args.tools.common, &run, &view, &[]).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let mut progress = Progress::new(app.quiet);
    let handle = go_on(app, sandbox, app.run_tools(), (&run, Some(question)), request, &mut |scan| {
        progress.draw(|| scan_status(&scan));
    })?;
    progress.clear();
    app.say(&format!("continuing run {}", run.short()));
    watch::finish(app, handle, OutputFlags { shown_seq: view.seq_last, ..args.output }).await
}
