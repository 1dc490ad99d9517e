//! `spelunk context`: named handles on text, explored by hand as an agent explores them. Each look is bounded, is
//! counted, and suggests the next one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use spelunk_context::{
    ContextId, ContextKind, ContextStore, Factory, GrepQuery, Navigator, NewContext, NewSource, SecretFiles,
    StoreError, StoreLimits, StoreSettings,
};
use spelunk_engine::{Clock, SystemClock};

use super::app::{App, Failure, Usage, print};
use super::scan::read_stdin;
use crate::render::contexts as render;

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    command: ContextCommand,
}

#[derive(Debug, Subcommand)]
enum ContextCommand {
    /// Register a file, the files of a directory, or standard input
    Add(AddArgs),
    /// List contexts
    List {
        /// Only contexts of this kind
        #[arg(long)]
        kind: Option<String>,
    },
    /// Take a context out of the registry; its file stays
    Rm {
        /// The context
        id: String,
    },
    /// Show the first lines
    Peek {
        /// The context
        id: String,
        /// How many lines
        #[arg(long, short = 'n')]
        lines: Option<u64>,
    },
    /// Find lines by a regular expression
    Grep(GrepArgs),
    /// Read a page
    Chunk {
        /// The context
        id: String,
        /// Which page, from 0
        #[arg(default_value_t = 0)]
        page: u64,
        /// How many lines a page has
        #[arg(long, short = 'n')]
        lines: Option<u64>,
    },
    /// Print all of it
    Load {
        /// The context
        id: String,
    },
    /// Find lines in every context
    Search {
        /// A regular expression
        pattern: String,
    },
    /// How many contexts there are, how often they were looked at, and the memory they may take
    Stats,
}

#[derive(Debug, Args)]
struct AddArgs {
    /// A file, a directory, or `-` for standard input
    path: String,
    /// The id [default: made from the file's name]
    #[arg(long)]
    id: Option<String>,
    /// The kind: identity, project, temporal, document, memory, tool_result, web or a new one
    #[arg(long, default_value = "document")]
    kind: String,
    /// For a directory: which files, such as `*.md` or `**/*.rs`
    #[arg(long, value_name = "GLOB", default_value = "*")]
    pattern: String,
    /// For a directory: what the ids begin with
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// Register a file that looks like a secret
    #[arg(long)]
    allow_secrets: bool,
    /// Take the place of a context that has the id already
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, Args)]
struct GrepArgs {
    /// The context
    id: String,
    /// A regular expression
    pattern: String,
    /// Lines around each match
    #[arg(long, short = 'C', default_value_t = 2)]
    context_lines: u64,
    /// Tell upper and lower case apart
    #[arg(long)]
    case_sensitive: bool,
    /// Take the pattern as it is
    #[arg(long, short = 'F')]
    literal: bool,
}

pub(crate) fn context(app: &App, args: ContextArgs) -> Result<ExitCode, Failure> {
    let store = open(app, matches!(&args.command, ContextCommand::Add(add) if add.allow_secrets))?;
    let navigator = Navigator::new(Arc::clone(&store));
    let text = match args.command {
        ContextCommand::Add(args) => add(app, &store, args)?,
        ContextCommand::Rm { id } => {
            let removed = store.remove(&id)?;
            format!("removed {}\n", removed.id)
        }
        look => explore(app, &navigator, look)?,
    };
    print(&text);
    // A count that could not be saved is no reason to hide what was found.
    if let Err(error) = store.save() {
        app.say(&format!("warning: {error}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn explore(app: &App, navigator: &Navigator, command: ContextCommand) -> Result<String, Failure> {
    let limits = navigator.store().limits();
    Ok(match command {
        ContextCommand::List { kind } => {
            let contexts = match kind {
                Some(kind) => navigator.list_of_kind(&kind)?,
                None => navigator.list(),
            };
            render::list(&contexts, app.json)
        }
        ContextCommand::Peek { id, lines } => {
            render::peek(&navigator.peek(&id, lines.unwrap_or(limits.peek_lines))?, app.json)
        }
        ContextCommand::Grep(args) => {
            let query = GrepQuery {
                case_sensitive: args.case_sensitive,
                literal: args.literal,
                ..navigator.query(&args.pattern, args.context_lines)
            };
            render::grep(&navigator.grep(&args.id, &query)?, app.json, app.paint)
        }
        ContextCommand::Chunk { id, page, lines } => {
            render::page(&navigator.page(&id, page, lines.unwrap_or(limits.page_lines))?, app.json)
        }
        ContextCommand::Load { id } => {
            let loaded = navigator.load(&id)?;
            if let Some(warning) = &loaded.warning {
                app.say(&format!("warning: {warning}"));
            }
            render::load(&loaded, app.json)
        }
        ContextCommand::Search { pattern } => {
            let (hits, report) = navigator.search_all(&navigator.query(&pattern, 0))?;
            render::search(&hits, &report, app.json, app.paint)
        }
        ContextCommand::Stats => render::stats(&navigator.store().stats(), &navigator.list(), app.json),
        ContextCommand::Add(_) | ContextCommand::Rm { .. } => String::new(),
    })
}

fn open(app: &App, allow_secrets: bool) -> Result<Arc<ContextStore>, Failure> {
    let mut settings = StoreSettings::for_a_person(StoreLimits::from(&app.settings.limits));
    if allow_secrets {
        settings.secrets = SecretFiles::Allowed;
    }
    let clock = Arc::new(|| SystemClock.now_ms());
    let (store, warnings) = ContextStore::open(&app.workspace_root(), clock, settings)?;
    for warning in warnings {
        app.say(&format!("warning: {warning}"));
    }
    Ok(Arc::new(store))
}

fn add(app: &App, store: &ContextStore, args: AddArgs) -> Result<String, Failure> {
    // The workspace's own files come first: they keep the directory private and out of git.
    drop(app.workspace()?);
    let kind = match ContextKind::from_name(&args.kind) {
        Some(ContextKind::Custom(name)) => {
            store.declare_kind(name.as_str(), ContextKind::Custom(name.clone()).default_policy())?
        }
        Some(kind) => kind,
        None => store.kind(&args.kind)?,
    };
    let path = app.current_dir.join(&args.path);
    if args.path != "-" && path.is_dir() {
        return add_directory(app, store, &args, &path, &kind);
    }
    let context = match (&args.id, args.path.as_str()) {
        (None, "-") => return Err(needs_id().into()),
        (Some(id), "-") => {
            let text = String::from_utf8(read_stdin()?).map_err(|_| not_text())?;
            put(store, NewContext::new(ContextId::new(id)?, kind, NewSource::Inline(text)), args.replace)?
        }
        (Some(id), _) => {
            put(store, NewContext::new(ContextId::new(id)?, kind, NewSource::File(path)), args.replace)?
        }
        (None, _) => Factory::new(store).from_file_by_name(&path, &kind)?,
    };
    Ok(format!("{}\n", context.id))
}

fn put(
    store: &ContextStore,
    new: NewContext,
    replace: bool,
) -> Result<Arc<spelunk_context::Context>, StoreError> {
    if replace { store.replace(new) } else { store.register(new) }
}

fn add_directory(
    app: &App,
    store: &ContextStore,
    args: &AddArgs,
    path: &PathBuf,
    kind: &ContextKind,
) -> Result<String, Failure> {
    let report = Factory::new(store).from_directory(path, &args.pattern, kind, &args.prefix)?;
    let mut text = String::new();
    for context in &report.registered {
        text += &format!("{}\n", context.id);
    }
    let skipped: Vec<String> =
        report.left_out.skipped.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    app.say(&format!(
        "{} registered, {} already there{}",
        report.registered.len(),
        report.already.len(),
        if skipped.is_empty() { String::new() } else { format!(", skipped: {}", skipped.join(", ")) }
    ));
    Ok(text)
}

fn needs_id() -> Usage {
    Usage { message: "text from standard input needs an id".into(), hint: "name one with `--id`".into() }
}

fn not_text() -> Usage {
    Usage { message: "standard input is not UTF-8".into(), hint: "write it to a file and add that".into() }
}
