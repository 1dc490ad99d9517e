//! `spelunk tool`: the tools of an agent as commands, for external agents (Claude Code, Codex) that work in a folder of
//! plain files. `init` creates the folder with instructions; every other command works in the current folder.

mod folder;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use spelunk_app::app::App;
use spelunk_app::asking::{RoleModels, keep};
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::provider::{self, ChosenModels};
use spelunk_context::{ScanOptions, SourceInput};
use spelunk_desk::{DeskPath, run_tool};
use spelunk_engine::{Engine, RunHandle, written_answer};
use spelunk_types::Strategy;

use self::folder::Folder;
use super::ModelFlags;
use super::app::{print, print_line};

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
    Query {
        /// The question
        prompt: String,
        /// The file to ask about
        #[arg(long)]
        path: Option<String>,
    },
    /// Ask the same question about several files
    Batch {
        /// The question
        prompt: String,
        /// A file to ask about; may be repeated
        #[arg(long, required = true)]
        path: Vec<String>,
    },
    /// Check `output/answer.md`, and print it if it is a valid answer
    Finish,
}

pub(crate) async fn tool(app: &Arc<App>, args: ToolArgs) -> Result<ExitCode, Failure> {
    let (name, arguments) = match args.tool {
        ToolCommand::Init { directory, question, paths } => {
            let folder = folder::init(app, &directory, &question, &paths)?;
            print_line(folder.display());
            app.say("point an agent at it: AGENTS.md says how to work there");
            return Ok(ExitCode::SUCCESS);
        }
        ToolCommand::Query { prompt, path } => {
            let folder = Folder::open(app)?;
            return ask(app, &folder, &prompt, path.as_slice()).await;
        }
        ToolCommand::Batch { prompt, path } => {
            let folder = Folder::open(app)?;
            return ask(app, &folder, &prompt, &path).await;
        }
        ToolCommand::Finish => return finish(&Folder::open(app)?),
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

/// The arguments without unset ones.
fn given(arguments: Value) -> Value {
    let Value::Object(fields) = arguments else { return arguments };
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

fn run(app: &App, name: &str, arguments: &Value) -> Result<ExitCode, Failure> {
    let folder = Folder::open(app)?;
    let mut desk = folder.desk.clone();
    let outcome = run_tool(&mut desk, name, arguments).map_err(|error| Usage {
        message: error.to_string(),
        hint: "see `spelunk tool --help`, and AGENTS.md in this folder".into(),
    })?;
    for path in &outcome.changed {
        folder.write_back(&desk, path)?;
    }
    print_line(outcome.text.trim_end());
    Ok(ExitCode::SUCCESS)
}

fn finish(folder: &Folder) -> Result<ExitCode, Failure> {
    let answer = written_answer(&folder.desk).map_err(|message| Usage {
        message,
        hint: "write the answer to `output/answer.md`, then call `spelunk tool finish` again".into(),
    })?;
    print_line(answer);
    Ok(ExitCode::SUCCESS)
}

/// The maximum number of files per batch.
const FILES_MAX: usize = 100;
/// The document name of a prompt without a file.
const ALONE: &str = "prompt.md";

/// Asks a sub-model for an external agent: each question is a run of its own over one file, recorded and paid for like
/// any
/// other.
async fn ask(app: &App, folder: &Folder, prompt: &str, paths: &[String]) -> Result<ExitCode, Failure> {
    let wrong = |message: String| Usage { message, hint: "see AGENTS.md in this folder".into() };
    if paths.len() > FILES_MAX {
        return Err(wrong(format!("{} files in one batch, at most {FILES_MAX}", paths.len())).into());
    }
    let Some(chosen) = provider::choose(&app.settings, &app.environment).await? else {
        return Err(wrong("there is no model to ask".to_owned()).into());
    };
    let mut texts = Vec::new();
    for path in paths {
        let at = DeskPath::parse(path).map_err(|error| wrong(error.to_string()))?;
        let text = folder.desk.text(&at).map_err(|error| wrong(error.to_string()))?;
        texts.push((at.as_str().to_owned(), text.into_owned()));
    }
    if texts.is_empty() {
        texts.push((ALONE.to_owned(), prompt.to_owned()));
    }
    let engine = app.engine(ScanOptions::default())?;
    let mut runs = Vec::new();
    for (name, text) in texts {
        runs.push((name.clone(), start(app, &engine, &chosen, prompt, name, text)?.join()));
    }
    let (names, ending): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    let mut n_failed = 0;
    for (name, result) in names.iter().zip(join_all(ending).await) {
        let said = match (&result.answer, &result.error) {
            (Some(answer), _) => answer.text.clone(),
            (None, error) => {
                n_failed += 1;
                error.as_ref().map_or_else(|| "failed".to_owned(), |error| format!("failed: {error}"))
            }
        };
        print(&if names.len() == 1 { format!("{said}\n") } else { format!("[{name}]\n{said}\n\n") });
    }
    Ok(if n_failed == names.len() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn start(
    app: &App,
    engine: &Engine,
    chosen: &ChosenModels,
    prompt: &str,
    name: String,
    text: String,
) -> Result<RunHandle, Failure> {
    let sources = keep(engine, vec![SourceInput::Text { name, bytes: text.into_bytes() }])?;
    let corpus = engine.open_corpus(&sources, &mut |_| {})?;
    // Smaller questions go to the sub-model.
    let model = chosen.sub_model.clone().unwrap_or_else(|| chosen.model.clone());
    let request = RoleModels::one(model).start(prompt, corpus, sources, Strategy::Direct, app.run_settings());
    Ok(engine.start(request)?)
}
