//! `spelunk context`: named texts, explored by hand the way an agent explores them. Each operation is bounded and
//! counted, and suggests the next one.

mod import;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use spelunk_app::context_search::{ContextQuery, ContextSearch, FoundInContexts};
use spelunk_app::personal;
use spelunk_app::render::contexts::{self as render, Reader};
use spelunk_app::render::found::{found_json, found_text};
use spelunk_app::render::progress::IndexingLine;
use spelunk_app::sources::contexts;
use spelunk_app::units::{head, listed};
use spelunk_context::{
    Context, ContextId, ContextKind, ContextStore, Factory, GrepQuery, LoadPolicy, Navigator, NewContext,
    NewSource, SecretFiles, StoreError, Suggestion,
};
use spelunk_index::Mode;

use super::{App, CliResult, Failure, Usage, print, print_as_is, read_stdin};

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
    /// Register personal contexts: `foundation/`, `projects/`, `temporal/` and `memory/graph.json` of a directory
    Personal {
        /// The directory
        directory: String,
    },
    /// Print the user, a project and the contexts in use as one JSON object
    Combined {
        /// The project
        project: Option<String>,
        /// The id of a context in use; may be repeated
        #[arg(long, value_name = "ID")]
        working: Vec<String>,
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
    /// Show the latest requests for contexts, from all interfaces
    Log,
    /// Remove texts whose policy says that they have expired
    Evict,
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
    /// How long its text may be reused: hot, lazy, refresh, query or ttl:SECONDS [default: the kind's]
    #[arg(long)]
    policy: Option<String>,
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

pub(crate) fn context(app: &App, args: ContextArgs) -> CliResult {
    let secrets = if args.allow_secrets { SecretFiles::Allowed } else { SecretFiles::Refused };
    let store = Arc::new(contexts(app, secrets)?);
    let navigator = Navigator::new(Arc::clone(&store));
    let is_load = matches!(args.command, ContextCommand::Load { .. });
    let (text, code) = answer(app, &navigator, args.command)?;
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

fn answer(app: &App, navigator: &Navigator, command: ContextCommand) -> Result<(String, ExitCode), Failure> {
    let mut code = ExitCode::SUCCESS;
    let limits = navigator.store().limits();
    let text = match command {
        ContextCommand::Add(args) => add(app, navigator.store(), args)?,
        ContextCommand::Import { path, replace } => import::import(app, navigator.store(), &path, replace)?,
        ContextCommand::Personal { directory } => add_personal(app, navigator.store(), &directory)?,
        ContextCommand::Combined { project, working } => {
            format!("{}\n", personal::combined(navigator.store(), project.as_deref(), &working)?)
        }
        ContextCommand::Rm { id } => render::removed(navigator.store().remove(&id)?.as_ref(), app.json),
        ContextCommand::List { kind } => list(app, navigator, kind.as_deref())?,
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
        ContextCommand::Log => render::log(&navigator.store().access_log(), app.json),
        ContextCommand::Evict => {
            let evicted = render::evict_json(navigator.store(), 0)?;
            if app.json {
                format!("{evicted}\n")
            } else {
                format!("removed {} expired\n", evicted["expired"])
            }
        }
    };
    Ok((text, code))
}

fn list(app: &App, navigator: &Navigator, kind: Option<&str>) -> Result<String, Failure> {
    let contexts = match kind {
        Some(kind) => navigator.list_of_kind(kind)?,
        None => navigator.list(),
    };
    match kind {
        Some(kind) if contexts.is_empty() => app.say(&format!("no contexts of the kind {kind}")),
        None if contexts.is_empty() => app.say("no contexts; add one with `spelunk context add PATH`"),
        Some(_) | None => {}
    }
    Ok(render::list(&contexts, app.json))
}

/// Passages by meaning. Users may read every file they registered, but secrets are redacted: the
/// index is shared with agents and servers.
fn find(app: &App, store: &ContextStore, args: SearchArgs) -> Result<FoundInContexts, Failure> {
    let wanted = match &args.id {
        Some(id) => ContextQuery::in_one(id, args.query, Mode::Meaning),
        None => ContextQuery::in_all(args.query, Mode::Meaning),
    };
    let mut progress = IndexingLine::new(app.quiet);
    ContextSearch { app, store, admit: &|path| Ok(path.to_path_buf()), in_background: false }
        .find(&wanted, &mut |so_far| progress.draw(so_far))
}

fn suggest(app: &App, suggestions: &[Suggestion]) {
    if let Some(steps) = render::next_steps(suggestions).filter(|_| !app.json) {
        app.say(&steps);
    }
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
    let policy = policy(&args, &kind)?;
    let path = app.current_dir.join(&args.path);
    if args.path != "-" && path.is_dir() {
        let factory = Factory::new(store).with_policy(policy);
        return add_directory(app, &factory, &args, &path, &kind);
    }
    let put = |new: NewContext| put(store, NewContext { policy, ..new }, args.replace);
    let context = match (&args.id, args.path.as_str()) {
        (None, "-") => {
            return Err(Usage::new("text from standard input needs an id", "set one with `--id`").into());
        }
        (Some(id), "-") => {
            let not_text = |_| Usage::new("standard input is not UTF-8", "write it to a file and add it");
            let text = String::from_utf8(read_stdin()?).map_err(not_text)?;
            put(NewContext::new(ContextId::new(id)?, kind, NewSource::Inline(text)))?
        }
        (Some(id), _) => put(of_file(ContextId::new(id)?, kind, path))?,
        (None, _) => {
            let context = Factory::new(store).with_policy(policy).from_file_by_name(&path, &kind)?;
            // A file keeps its existing context; its kind and policy change only on request.
            if context.kind == kind && (args.policy.is_none() || Some(context.policy) == policy) {
                context
            } else {
                put(of_file(context.id.clone(), kind, path))?
            }
        }
    };
    if let Some(reasons) = context.metadata.get("left_out") {
        app.say(&format!("skipped in the archive: {reasons}"));
    }
    Ok(render::added(&[context], &[], &BTreeMap::new(), app.json))
}

fn put(store: &ContextStore, new: NewContext, replace: bool) -> Result<Arc<Context>, StoreError> {
    if replace { store.replace(new) } else { store.register(new) }
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

/// The requested policy. A session ends with this command, so `Session` becomes `Lazy`.
fn policy(args: &AddArgs, kind: &ContextKind) -> Result<Option<LoadPolicy>, Usage> {
    let Some(name) = &args.policy else {
        return Ok((kind.default_policy() == LoadPolicy::Session).then_some(LoadPolicy::Lazy));
    };
    match LoadPolicy::from_name(name) {
        Some(LoadPolicy::Session) | None => Err(Usage::new(
            format!("this command does not support the policy `{}`", head(name, 40)),
            "the policies are `hot`, `lazy`, `refresh`, `query` and `ttl:SECONDS`",
        )),
        policy => Ok(policy),
    }
}

fn add_directory(
    app: &App,
    factory: &Factory<'_>,
    args: &AddArgs,
    path: &Path,
    kind: &ContextKind,
) -> Result<String, Failure> {
    let report = factory.from_directory(path, &args.pattern, kind, &args.prefix)?;
    let skipped = &report.left_out.skipped;
    say_added(app, report.registered.len(), report.already.len(), skipped);
    Ok(render::added(&report.registered, &report.already, skipped, app.json))
}

fn add_personal(app: &App, store: &ContextStore, directory: &str) -> Result<String, Failure> {
    drop(app.workspace()?);
    let report = personal::register(store, &app.current_dir.join(directory))?;
    say_added(app, report.registered.len(), report.already.len(), &report.skipped);
    Ok(render::added(&report.registered, &report.already, &report.skipped, app.json))
}

fn say_added(app: &App, n_registered: usize, n_already: usize, skipped: &BTreeMap<String, u64>) {
    let skipped = if skipped.is_empty() { String::new() } else { format!(", skipped: {}", listed(skipped)) };
    app.say(&format!("{n_registered} registered, {n_already} already known{skipped}"));
}
