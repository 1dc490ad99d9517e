//! `spelunk tool`: an agent's tools as commands, for external agents (Claude Code, Codex) that work in a folder of
//! plain files. `init` creates the folder with instructions; every other command works in the current folder.

mod folder;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use spelunk_app::asking::{Attachments, RoleModels, keep};
use spelunk_app::provider;
use spelunk_app::runs::read_view;
use spelunk_context::{ScanOptions, SourceInput};
use spelunk_desk::{DeskPath, run_tool};
use spelunk_engine::{Engine, RunHandle, written_answer};
use spelunk_types::Strategy;

use self::folder::{CallsTaken, Folder};
use super::{App, CliResult, ModelFlags, Usage, print, print_data, print_line, print_result, read_stdin};

#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    #[command(subcommand)]
    tool: ToolCommand,
    #[command(flatten)]
    pub(super) model: ModelFlags,
}

#[derive(Debug, Subcommand)]
enum ToolCommand {
    /// Create a folder for a job: its question, references to its documents, and instructions for an agent
    Init {
        /// The folder; it must be empty or not exist
        directory: String,
        /// The question to answer
        #[arg(long)]
        question: String,
        /// Files or directories to answer from
        #[arg(value_name = "PATH", required = true)]
        paths: Vec<String>,
    },
    /// Read lines of a file
    Read {
        /// The file, relative to the folder
        path: String,
        /// The first line, starting at 1
        #[arg(long)]
        offset: Option<u64>,
        /// Maximum number of lines
        #[arg(long)]
        limit: Option<u64>,
    },
    /// Search for lines that match a regular expression
    Grep {
        /// The regular expression
        pattern: String,
        /// A file or directory to search
        #[arg(long)]
        path: Option<String>,
        /// Ignore case
        #[arg(long, short)]
        ignore_case: bool,
        /// Show only the number of matching lines per file
        #[arg(long)]
        count: bool,
        /// Maximum number of matches to show
        #[arg(long)]
        limit: Option<u64>,
    },
    /// List files that match a glob
    Glob {
        /// The glob, such as `*.md` or `input/**/*.csv`
        pattern: String,
    },
    /// Split a file into chunks and write a manifest
    Chunk {
        /// The file
        path: String,
        /// The unit: tokens, lines, paragraphs or headings
        #[arg(long)]
        by: Option<String>,
        /// Units per chunk
        #[arg(long)]
        size: Option<u64>,
        /// Units shared by adjacent chunks
        #[arg(long)]
        overlap: Option<u64>,
    },
    /// Record a fact
    Evidence {
        /// The kind of fact
        #[arg(long)]
        tag: String,
        /// The fact
        #[arg(long)]
        content: String,
        /// Its source, as `path:line`
        #[arg(long)]
        source: Option<String>,
    },
    /// Ask a sub-model about a file, or send it the prompt alone
    Query(Query),
    /// Ask the same question about several files
    Batch(Query),
    /// Check `output/answer.md`, and print it if it is a valid answer
    Finish,
}

#[derive(Debug, Args)]
struct Query {
    /// The question, or `-` for standard input
    prompt: String,
    /// A file to ask about; may be repeated
    #[arg(long)]
    path: Vec<String>,
    /// Do not answer from cached replies
    #[arg(long)]
    no_cache: bool,
}

pub(crate) async fn tool(app: &Arc<App>, args: ToolArgs) -> CliResult {
    let (name, arguments) = match args.tool {
        ToolCommand::Init { directory, question, paths } => {
            let folder = folder::init(app, &directory, &question, &paths)?;
            print_result(app, &json!({ "path": folder }), &format!("{}\n", folder.display()));
            app.say("start an agent in it: AGENTS.md explains how to work there");
            return Ok(ExitCode::SUCCESS);
        }
        ToolCommand::Query(question) | ToolCommand::Batch(question) => {
            let folder = Folder::open(app)?;
            return ask(app, &folder, question).await;
        }
        ToolCommand::Finish => return finish(app, &Folder::open(app)?),
        ToolCommand::Read { path, offset, limit } => {
            ("Read", json!({ "path": path, "offset": offset, "limit": limit }))
        }
        ToolCommand::Grep { pattern, path, ignore_case, count, limit } => {
            let mode = count.then_some("count");
            let found = json!({ "pattern": pattern, "path": path, "ignore_case": ignore_case, "mode": mode, "limit": limit });
            ("Grep", found)
        }
        ToolCommand::Glob { pattern } => ("Glob", json!({ "pattern": pattern })),
        ToolCommand::Chunk { path, by, size, overlap } => {
            ("Chunk", json!({ "path": path, "by": by, "size": size, "overlap": overlap }))
        }
        ToolCommand::Evidence { tag, content, source } => {
            ("Evidence", json!({ "tag": tag, "content": content, "source": source }))
        }
    };
    run(app, name, &given(arguments))
}

fn given(arguments: Value) -> Value {
    let Value::Object(fields) = arguments else { return arguments };
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

fn run(app: &App, name: &str, arguments: &Value) -> CliResult {
    let folder = Folder::open(app)?;
    let mut desk = folder.desk.clone();
    let text = run_tool(&mut desk, name, arguments).map_err(|error| {
        Usage::new(error.to_string(), "see `spelunk tool --help`, and AGENTS.md in this folder")
    })?;
    for path in &desk.changed_since(&folder.desk) {
        folder::stamp(&mut desk, path);
        folder.write_back(&desk, path)?;
    }
    let text = text.trim_end();
    print_data(app, &json!({ "text": text }), &format!("{text}\n"));
    Ok(ExitCode::SUCCESS)
}

fn finish(app: &App, folder: &Folder) -> CliResult {
    let answer = written_answer(&folder.desk).map_err(|message| {
        Usage::new(message, "write the answer to `output/answer.md`, then call `spelunk tool finish` again")
    })?;
    print_data(app, &json!({ "answer": answer }), &format!("{answer}\n"));
    Ok(ExitCode::SUCCESS)
}

const FILES_MAX: usize = 100;

/// Asks a sub-model for an external agent: each question is a run of its own, recorded and charged like any other.
async fn ask(app: &App, folder: &Folder, question: Query) -> CliResult {
    let wrong = |message: String| Usage::new(message, "see AGENTS.md in this folder");
    let Query { prompt, path: paths, no_cache } = question;
    let prompt = if prompt == "-" { String::from_utf8_lossy(&read_stdin()?).into_owned() } else { prompt };
    if paths.len() > FILES_MAX {
        return Err(wrong(format!("{} files in one batch; the maximum is {FILES_MAX}", paths.len())).into());
    }
    let Some(chosen) = provider::choose(&app.settings, &app.environment).await? else {
        return Err(wrong("no model is configured".to_owned()).into());
    };
    let mut asked = Vec::new();
    for path in &paths {
        let at = DeskPath::parse(path).map_err(|error| wrong(error.to_string()))?;
        let text = folder.desk.text(&at).map_err(|error| wrong(error.to_string()))?;
        let document =
            SourceInput::Text { name: at.as_str().to_owned(), bytes: text.into_owned().into_bytes() };
        asked.push((Some(at.as_str().to_owned()), prompt.clone(), vec![document]));
    }
    if asked.is_empty() {
        let mut along = Attachments::default();
        let question = along.request(prompt.clone())?;
        asked.push((None, question, along.into_inputs()));
    }
    folder.take_calls(app, asked.len() as u64)?;
    let engine = app.engine(ScanOptions::default())?;
    let mut settings = app.run_settings();
    settings.cache_replies &= !no_cache;
    let mut runs = Vec::new();
    for (name, question, inputs) in asked {
        let sources = keep(&engine, inputs)?;
        let corpus = engine.open_corpus(&sources, &mut |_| {})?;
        // Smaller questions go to the sub-model.
        let model = chosen.sub_model.clone().unwrap_or_else(|| chosen.model.clone());
        let models = RoleModels::one(model);
        let request = models.start(question, corpus, sources, Strategy::Direct, settings.clone());
        runs.push((name, engine.start(request)?));
    }
    answer(app, folder, &engine, runs).await
}

/// Waits for the runs, each with the name of the file it is about.
async fn answer(
    app: &App,
    folder: &Folder,
    engine: &Engine,
    runs: Vec<(Option<String>, RunHandle)>,
) -> CliResult {
    let n_runs = runs.len();
    let (names, runs): (Vec<_>, Vec<_>) = runs.into_iter().map(|(name, run)| (name, run.join())).unzip();
    let (mut n_failed, mut took) = (0, CallsTaken::default());
    for (name, result) in names.iter().zip(join_all(runs).await) {
        let view = read_view(engine.workspace(), &result.run)?;
        let is_cached = view.n_paid_calls() == 0 && result.answer.is_some();
        took.calls += 1;
        took.cached += u64::from(is_cached);
        took.tokens += view.spent.tokens();
        let said = match (&result.answer, &result.error) {
            (Some(answer), _) => answer.text.clone(),
            (None, error) => {
                n_failed += 1;
                took.failed += 1;
                let why = error.as_ref().map_or_else(|| "failed".to_owned(), ToString::to_string);
                folder.log_error(result.stopped_by(), &why, name.as_deref())?;
                format!("failed: {why}")
            }
        };
        if app.json {
            print_line(json!({
                "path": name,
                "content": result.answer.as_ref().map(|answer| &answer.text),
                "model": view.model.as_ref().map(ToString::to_string),
                "input_tokens": view.spent.input_tokens,
                "output_tokens": view.spent.output_tokens,
                "cached": is_cached,
                "run": result.run,
            }));
        } else if let Some(name) = name.as_ref().filter(|_| n_runs > 1) {
            print(&format!("[{name}]\n{said}\n\n"));
        } else {
            print(&format!("{said}\n"));
        }
    }
    folder.settle_calls(app, &took)?;
    Ok(if n_failed == n_runs { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
