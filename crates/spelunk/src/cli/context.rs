//! `spelunk context`: named texts, explored by hand the way an agent explores them. Each operation is bounded and
//! counted, and suggests the next one.

mod import;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use spelunk_app::app::App;
use spelunk_app::context_search::{ContextQuery, ContextSearch, FoundInContexts};
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::render::contexts::{self as render, Reader};
use spelunk_app::render::found::{found_json, found_text};
use spelunk_app::render::progress::IndexingLine;
use spelunk_app::units::{head, listed};
use spelunk_context::{
    Context, ContextId, ContextKind, ContextStore, Factory, GrepQuery, Navigator, NewContext, NewSource,
    SecretFiles, StoreError, StoreSettings, Suggestion,
};
use spelunk_engine::{Clock, SystemClock};
use spelunk_index::Mode;

use super::app::{print, print_as_is};
use super::scan::read_stdin;

/// The longest name the store accepts for a context.
const NAME_CHARS_MAX: usize = 200;

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    command: ContextCommand,
    /// Read files that look like secrets, including hidden ones, and do not redact secrets in text or search results
    #[arg(long, global = true)]
    allow_secrets: bool,
}

#[derive(Debug, Subcommand)]
enum ContextCommand {
    /// Register a file, the files in a directory, or standard input
    Add(AddArgs),
    /// Register the text, the answer and the results in a workspace of another RLM tool
    Import {
        /// Its directory
        path: String,
        /// Replace existing contexts with the same ids
        #[arg(long)]
        replace: bool,
    },
    /// List contexts
    List {
        /// Only contexts of this kind
        #[arg(long)]
        kind: Option<String>,
    },
    /// Remove a context from the registry; its file is kept
    Rm {
        /// The id of the context
        id: String,
    },
    /// Show the first lines of a context
    Peek {
        /// The id of the context
        id: String,
        /// Maximum number of lines
        #[arg(long, short = 'n')]
        lines: Option<u64>,
    },
    /// Search a context with a regular expression; exits with 1 if no line matches
    Grep(GrepArgs),
    /// Print one page of a context
    Chunk {
        /// The id of the context
        id: String,
        /// The page number, starting at 0
        #[arg(default_value_t = 0)]
        page: u64,
        /// Lines per page
        #[arg(long, short = 'n')]
        lines: Option<u64>,
    },
    /// Print a whole context
    Load {
        /// The id of the context
        id: String,
    },
    /// Search all contexts with a regular expression or by meaning
    Search(SearchArgs),
    /// Show the number of contexts, how often they were read, and their memory limit
    Stats,
}

#[derive(Debug, Args)]
struct AddArgs {
    /// A file, a directory, or `-` for standard input; PDF, DOCX and HTML are converted to text, and an archive becomes
    /// one context
    path: String,
    /// The id [default: derived from the file name]
    #[arg(long)]
    id: Option<String>,
    /// The kind: identity, project, temporal, document, memory, `tool_result`, web or any other word
    #[arg(long, default_value = "document")]
    kind: String,
    /// For a directory: the files to register, such as `*.md` or `**/*.rs`
    #[arg(long, value_name = "GLOB", default_value = "*")]
    pattern: String,
    /// For a directory: a prefix for the ids
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Replace an existing context with the same id
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, Args)]
struct GrepArgs {
    /// The id of the context
    id: String,
    /// The regular expression
    pattern: String,
    /// Lines of context around each match
    #[arg(long, short = 'C', default_value_t = 2)]
    context_lines: u64,
    /// Match case-sensitively
    #[arg(long)]
    case_sensitive: bool,
    /// Treat the pattern as a literal string
    #[arg(long, short = 'F')]
    literal: bool,
}

#[derive(Debug, Args)]
struct SearchArgs {
    /// A regular expression or, with `--semantic`, a question or keywords
    query: String,
    /// With `--semantic`: search only this context
    #[arg(requires = "semantic")]
    id: Option<String>,
    /// Search by meaning; exits with 1 if no passage is found
    #[arg(long)]
    semantic: bool,
}

pub(crate) fn context(app: &App, args: ContextArgs) -> Result<ExitCode, Failure> {
    let store = open(app, args.allow_secrets)?;
    let navigator = Navigator::new(Arc::clone(&store));
    let is_load = matches!(args.command, ContextCommand::Load { .. });
    let CommandOutput { text, code } = answer(app, &navigator, args.command)?;
    if is_load && !app.json {
        print_as_is(&text);
    } else {
        print(&text);
    }
    // If the counters cannot be saved, still show the results.
    if let Err(error) = store.save() {
        app.say(&format!("warning: {error}"));
    }
    Ok(code)
}

/// The output on stdout, and the exit code.
struct CommandOutput {
    text: String,
    code: ExitCode,
}

fn answer(app: &App, navigator: &Navigator, command: ContextCommand) -> Result<CommandOutput, Failure> {
    let mut code = ExitCode::SUCCESS;
    let limits = navigator.store().limits();
    let text = match command {
        ContextCommand::Add(args) => add(app, navigator.store(), args)?,
        ContextCommand::Import { path, replace } => import::import(app, navigator.store(), &path, replace)?,
        ContextCommand::Rm { id } => render::removed(navigator.store().remove(&id)?.as_ref(), app.json),
        ContextCommand::List { kind } => {
            let contexts = match &kind {
                Some(kind) => navigator.list_of_kind(kind)?,
                None => navigator.list(),
            };
            match &kind {
                Some(kind) if contexts.is_empty() => app.say(&format!("no contexts of the kind {kind}")),
                None if contexts.is_empty() => {
                    app.say("no contexts; add one with `spelunk context add PATH`");
                }
                Some(_) | None => {}
            }
            render::list(&contexts, app.json)
        }
        ContextCommand::Peek { id, lines } => {
            let view = navigator.peek(&id, lines.unwrap_or(limits.peek_lines))?;
            suggest(app, &view.suggestions);
            render::peek(&view, app.json)
        }
        ContextCommand::Grep(args) => {
            let query = GrepQuery {
                case_sensitive: args.case_sensitive,
                literal: args.literal,
                ..navigator.query(&args.pattern, args.context_lines)
            };
            let view = navigator.grep(&args.id, &query)?;
            suggest(app, &view.suggestions);
            // As `grep` does, so that scripts can test for a match.
            if view.n_matches == 0 {
                code = ExitCode::FAILURE;
            }
            render::grep(&view, app.json, app.paint)
        }
        ContextCommand::Chunk { id, page, lines } => {
            render::page(&navigator.page(&id, page, lines.unwrap_or(limits.page_lines))?, app.json)
        }
        ContextCommand::Load { id } => {
            let loaded = navigator.load(&id)?;
            if let Some(warning) = &loaded.warning {
                app.say(&format!("warning: {warning}"));
            }
            let reader = if io::stdout().is_terminal() { Reader::Terminal } else { Reader::Program };
            render::load(&loaded, app.json, reader)
        }
        ContextCommand::Search(args) if args.semantic => {
            let found = find(app, navigator.store(), args)?;
            if found.hits.is_empty() {
                code = ExitCode::FAILURE;
            }
            if app.json { format!("{}\n", found_json(&found)) } else { found_text(&found, app.paint) }
        }
        ContextCommand::Search(args) => {
            let (hits, report) = navigator.search_all(&navigator.query(&args.query, 0))?;
            render::search(&hits, &report, app.json, app.paint)
        }
        ContextCommand::Stats => render::stats(&navigator.store().stats(), &navigator.list(), app.json),
    };
    Ok(CommandOutput { text, code })
}

/// Passages by meaning. A user may read every file they registered; secrets are redacted all the same, because the
/// index is shared with agents and servers.
fn find(app: &App, store: &ContextStore, args: SearchArgs) -> Result<FoundInContexts, Failure> {
    let wanted = match &args.id {
        Some(id) => ContextQuery::in_one(id, args.query, Mode::Meaning),
        None => ContextQuery::in_all(args.query, Mode::Meaning),
    };
    let mut progress = IndexingLine::new(app.quiet);
    ContextSearch { app, store, admit: &|path| Ok(path.to_path_buf()) }
        .find(&wanted, &mut |so_far| progress.draw(so_far))
}

/// Programs find the next steps in the JSON.
fn suggest(app: &App, suggestions: &[Suggestion]) {
    if let Some(steps) = render::next_steps(suggestions).filter(|_| !app.json) {
        app.say(&steps);
    }
}

fn open(app: &App, allow_secrets: bool) -> Result<Arc<ContextStore>, Failure> {
    let mut settings = StoreSettings::for_a_person(app.settings.limits.clone());
    if allow_secrets {
        settings.secrets = SecretFiles::Allowed;
    }
    let clock = Arc::new(|| SystemClock.now_ms());
    let (store, warnings) = ContextStore::open(app.workspace_dir()?, clock, settings)?;
    for warning in warnings {
        app.say(&format!("warning: {warning}"));
    }
    Ok(Arc::new(store))
}

fn add(app: &App, store: &ContextStore, args: AddArgs) -> Result<String, Failure> {
    // Create the workspace's own files first: they keep the directory private and out of git.
    drop(app.workspace()?);
    let kind = match ContextKind::from_name(&args.kind) {
        Some(ContextKind::Custom(name)) => {
            store.declare_kind(name.as_str(), ContextKind::Custom(name.clone()).default_policy())?
        }
        Some(kind) => kind,
        None => return Err(StoreError::BadKindName { name: args.kind }.into()),
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
        (Some(id), _) => put(store, of_file(ContextId::new(id)?, kind, path), args.replace)?,
        (None, _) => {
            let context = Factory::new(store).from_file_by_name(&path, &kind)?;
            // A file keeps its existing context; its kind changes only on request.
            if context.kind == kind {
                context
            } else {
                put(store, of_file(context.id.clone(), kind, path), args.replace)?
            }
        }
    };
    if let Some(reasons) = context.metadata.get("left_out") {
        app.say(&format!("left out of the archive: {reasons}"));
    }
    Ok(render::added(&[context], &[], &BTreeMap::new(), app.json))
}

fn of_file(id: ContextId, kind: ContextKind, path: PathBuf) -> NewContext {
    let text =
        |part: Option<&std::ffi::OsStr>| part.map(|part| head(&part.to_string_lossy(), NAME_CHARS_MAX));
    let (name, extension) = (text(path.file_name()), text(path.extension()));
    let mut new = NewContext::new(id, kind, NewSource::File(path));
    new.name = name.unwrap_or(new.name);
    new.metadata.extend(extension.map(|extension| ("file_type".to_owned(), extension)));
    new
}

fn put(store: &ContextStore, new: NewContext, replace: bool) -> Result<Arc<Context>, StoreError> {
    if replace { store.replace(new) } else { store.register(new) }
}

fn add_directory(
    app: &App,
    store: &ContextStore,
    args: &AddArgs,
    path: &Path,
    kind: &ContextKind,
) -> Result<String, Failure> {
    let report = Factory::new(store).from_directory(path, &args.pattern, kind, &args.prefix)?;
    let skipped = &report.left_out.skipped;
    app.say(&format!(
        "{} registered, {} already there{}",
        report.registered.len(),
        report.already.len(),
        if skipped.is_empty() { String::new() } else { format!(", skipped: {}", listed(skipped)) }
    ));
    Ok(render::added(&report.registered, &report.already, skipped, app.json))
}

fn needs_id() -> Usage {
    Usage { message: "text from standard input needs an id".into(), hint: "name one with `--id`".into() }
}

fn not_text() -> Usage {
    Usage { message: "standard input is not UTF-8".into(), hint: "write it to a file and add that".into() }
}
