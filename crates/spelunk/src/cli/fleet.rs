//! `--fleet`: sends a question with its files to a fleet and follows the run from here. `spelunk worker --fleet` is a
//! node that only works; `spelunk fleet status` shows the nodes and what they do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use spelunk_app::asking::{Named, Sources};
use spelunk_app::render::progress::Progress;
use spelunk_app::runs::{read_view, recorded_result};
use spelunk_app::units::{bytes, count};
use spelunk_context::{Corpus, ImageEntry, ImageKind, Origin, ScanOptions, SourceInput};
use spelunk_fleet::{Fleet, FleetStatus, FleetWorkspace, SnapshotFile};
use spelunk_server::http::fleet::{UploadedSource, refusal, submit_question, submit_resume, take_jobs};
use spelunk_server::http::{Log, Server, Tokens};
use spelunk_server::mcp::{LIMITS, ServerOptions, State};
use spelunk_types::{Limits, RunId, RunOutcome};
use tokio::task::JoinSet;

use super::mcp::{McpArgs, tool_set};
use super::serve::{OUTPUT_CHARS_MAX, stop_signal};
use super::watch::{self, Interrupts};
use super::{App, CliResult, Failure, ModelFlags, OutputFlags, Usage, print_data, report_text, tools};

/// How long a starting node waits for servers that do not answer.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(100);

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Show the nodes, the queue and who works on which run
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// Read only files below this directory; may be repeated [default: the current directory]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<String>,
    /// The sandbox for code that models write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<String>,
}

/// The configured fleet, or an error that says how to configure one.
fn required(app: &App, patience: Duration) -> Result<Arc<FleetWorkspace>, Failure> {
    let missing = || Usage::new("no fleet is named", "pass `--fleet nats://HOST:4222`, or set `fleet.url`");
    Ok(app.fleet(patience)?.ok_or_else(missing)?)
}

pub(crate) fn fleet(app: &App, FleetCommand::Status: &FleetCommand) -> CliResult {
    let shared = required(app, Duration::ZERO)?;
    let status = shared.fleet().status()?;
    print_data(app, &status.json(), &status_text(&status));
    Ok(ExitCode::SUCCESS)
}

fn status_text(status: &FleetStatus) -> String {
    let FleetStatus { nodes, queued, taken, leases, runs, journal_bytes, replicas } = status;
    let mut text = format!(
        "{queued} queued, {taken} in progress; {} in {}, {}\n\n",
        count(*runs, "run"),
        bytes(*journal_bytes),
        if *replicas > 1 { format!("{replicas} copies") } else { "one copy".to_owned() }
    );
    text += &format!("{:<32} {:<7} {:>8} {:>9}  VERSION\n", "NODE", "ROLE", "RUNNING", "CALLS");
    for (name, said) in nodes {
        let of = |key: &str, max: &str| format!("{}/{}", said[key], said[max]);
        let (running, calls) = (of("running", "slots"), of("calls", "calls_max"));
        let word = |key: &str| said[key].as_str().unwrap_or("?").to_owned();
        text += &format!("{name:<32} {:<7} {running:>8} {calls:>9}  {}\n", word("role"), word("version"));
    }
    if nodes.is_empty() {
        text += "no nodes: start one with `spelunk worker --fleet URL`\n";
    }
    for (run, node) in leases {
        text += &format!("\n{run}  {node}");
    }
    if !leases.is_empty() {
        text += "\n";
    }
    text
}

/// A node that takes runs from the queue until it is stopped. Another node then takes over its unfinished runs.
pub(crate) async fn worker(app: &Arc<App>, args: WorkerArgs) -> CliResult {
    args.model.check(app).await?;
    let connecting = Arc::clone(app);
    let shared = spelunk_app::blocking::blocking(move || required(&connecting, PATIENCE)).await?;
    tools::open_for_server(app).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let tools = tool_set(McpArgs::TOOLS)?;
    let options = ServerOptions { roots: args.roots, sandbox, output_chars_max: OUTPUT_CHARS_MAX, tools };
    let state = Arc::new(State::open(Arc::clone(app), options)?);
    let server = Server::new(Arc::clone(app), Arc::clone(&state), Tokens::default(), Log::Nothing)?;
    app.say_without_waiting();
    let fleet = shared.fleet();
    let slots = count(app.settings.server.runs_parallel_max, "run");
    app.say(&format!(
        "node {} joined the fleet at {} and takes up to {slots} at once",
        fleet.node(),
        fleet.address()
    ));
    let until = async {
        stop_signal().await;
        app.say("stopping: runs in progress go to other nodes");
    };
    work(&shared, &server, "worker", until).await;
    state.shut_down().await;
    app.close_log();
    Ok(ExitCode::SUCCESS)
}

/// Takes jobs from the queue of the fleet until this future resolves, then stops the server's runs.
pub(super) async fn work(
    shared: &FleetWorkspace,
    server: &Arc<Server>,
    role: &'static str,
    until: impl Future<Output = ()>,
) {
    let mut jobs = JoinSet::new();
    jobs.spawn(take_jobs(Arc::clone(server), role));
    until.await;
    server.runs.stop().await;
    while jobs.join_next().await.is_some() {}
    // A run may have started before the last job ended.
    server.runs.stop().await;
    shared.fleet().close();
}

pub(crate) struct FleetQuestion {
    pub(crate) question: String,
    pub(crate) sources: Sources,
    pub(crate) strategy: Option<String>,
    pub(crate) focus: Option<String>,
    pub(crate) schema: Option<String>,
}

pub(crate) async fn ask(
    app: &App,
    shared: &Arc<FleetWorkspace>,
    question: FleetQuestion,
    output: OutputFlags,
) -> CliResult {
    let FleetQuestion { question, sources, strategy, focus, schema } = question;
    let Sources { named, options, corpus } = sources;
    let Named::Now(inputs) = named else {
        return Err(Usage::new("`--run` cannot be used with a fleet", "pass the paths instead").into());
    };
    let fleet = shared.fleet();
    let (mut snapshots, mut buckets) = (Vec::new(), Vec::new());
    let (mut n_files, mut n_bytes, mut n_sent) = (0, 0, 0);
    for input in &inputs {
        if let SourceInput::Objects(bucket) = input {
            buckets.push(bucket.url().to_owned());
            continue;
        }
        let (files, kept, source) = files_of(input, &corpus)?;
        let report = fleet.upload_snapshot(files)?;
        drop(kept);
        n_files += report.files;
        n_bytes += report.bytes;
        n_sent += report.bytes_sent;
        snapshots.push(UploadedSource { manifest: report.manifest, ..source });
    }
    app.say(&format!("{} · {} ({} sent)", count(n_files, "file"), bytes(n_bytes), bytes(n_sent)));
    let mut request = json!({ "question": question });
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            request[key] = value;
        }
    };
    put("strategy", strategy.map(Value::from));
    put("focus", focus.map(Value::from));
    put("schema", schema.and_then(|schema| serde_json::from_str(&schema).ok()));
    put("limits", limits(app));
    for (key, globs) in [("include", options.include), ("exclude", options.exclude), ("types", options.types)]
    {
        put(key, (!globs.is_empty()).then(|| json!(globs)));
    }
    let run = app.engine(ScanOptions::default())?.new_id();
    submit_question(fleet, &run, request, (snapshots, buckets))?;
    app.say(&format!("queued as run {}", run.short()));
    finish(app, fleet, &run, 0, output).await
}

/// The limits that the user set.
fn limits(app: &App) -> Option<Value> {
    let (set, default) = (&app.settings.limits, Limits::default());
    let set: Map<String, Value> = LIMITS
        .iter()
        .filter(|name| set.get(name) != default.get(name))
        .filter_map(|name| Some(((*name).to_owned(), json!(set.get(name)?))))
        .collect();
    (!set.is_empty()).then_some(Value::Object(set))
}

pub(crate) async fn resume(
    app: &App,
    shared: &Arc<FleetWorkspace>,
    run: &RunId,
    after_seq: u64,
    output: OutputFlags,
) -> CliResult {
    let request = limits(app).map_or_else(|| json!({}), |limits| json!({ "limits": limits }));
    submit_resume(shared.fleet(), run, after_seq, request)?;
    app.say(&format!("queued run {} to continue after event {after_seq}", run.short()));
    finish(app, shared.fleet(), run, after_seq, output).await
}

/// Follows a run in the fleet to its end. Ctrl-C cancels it.
async fn finish(app: &App, fleet: &Fleet, run: &RunId, after_seq: u64, output: OutputFlags) -> CliResult {
    let workspace = app.workspace()?;
    let mut progress = Progress::new(app.quiet);
    let mut interrupts = Interrupts::new();
    let cancel = || {
        if let Err(error) = fleet.cancel(run) {
            app.say(&format!("warning: {error}"));
        }
    };
    while !workspace.has(run) || read_view(&workspace, run)?.seq_last <= after_seq {
        if let Some((message, hint)) = refusal(fleet, run)? {
            progress.clear();
            return Err(Usage::new(message, hint.unwrap_or_else(|| "ask again".to_owned())).into());
        }
        progress.draw(|| "queued: waiting for a node".to_owned());
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            () = interrupts.next() => cancel(),
        }
    }
    progress.clear();
    let mut events = app.looking_engine(ScanOptions::default())?.watch(run, 0)?;
    let view = watch::show_events(app, (&mut events, run), output, &mut interrupts, &cancel).await?;
    if let Some(RunOutcome::Failed { code, message }) = &view.outcome {
        let hint =
            code.hint().map_or_else(|| format!("see it with `spelunk show {}`", run.short()), str::to_owned);
        report_text(&Usage::new(message.clone(), hint), app.paint_errors);
        return Ok(ExitCode::from(spelunk_app::error_text::exit_code(*code)));
    }
    let result = recorded_result(&workspace, run.clone(), &view)?;
    watch::show_result(app, &result, &view, output)
}

/// A temporary directory that must exist until the files are uploaded.
type Kept = Option<tempfile::TempDir>;

/// The files of a source. Only files that the scan reads are sent.
fn files_of(
    input: &SourceInput,
    corpus: &Corpus,
) -> Result<(Vec<SnapshotFile>, Kept, UploadedSource), Failure> {
    let manifest = spelunk_journal::digest(b"");
    let of_file = |path: &Path, name: Option<String>| {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = vec![SnapshotFile { name: file.clone(), path: path.to_owned() }];
        (files, UploadedSource { manifest: manifest.clone(), file: Some(file), name })
    };
    let (path, name) = match input {
        SourceInput::Path(path) => (path, None),
        SourceInput::Typed { path, typed } => (path, Some(typed.display().to_string())),
        SourceInput::Database(_) | SourceInput::Objects(_) => {
            let message = "a fleet cannot read databases";
            return Err(Usage::new(message, "leave out `--fleet`, or export the rows to a file").into());
        }
        SourceInput::Text { name, bytes } | SourceInput::Kept { name, bytes } => {
            let unwritten = |error: std::io::Error| Usage {
                message: format!("could not write `{name}` to a temporary file: {error}"),
                hint: "free some space".into(),
            };
            let kept = tempfile::tempdir().map_err(unwritten)?;
            let file = Path::new(name).file_name().unwrap_or_default();
            let path = kept.path().join(file);
            #[expect(clippy::disallowed_methods, reason = "the binary writes its own temporary file")]
            std::fs::write(&path, bytes).map_err(unwritten)?;
            let (files, source) = of_file(&path, Some(name.clone()));
            return Ok((files, Some(kept), source));
        }
    };
    if path.is_file() {
        let (files, source) = of_file(path, name);
        return Ok((files, None, source));
    }
    let root = path.canonicalize().unwrap_or_else(|_| path.clone());
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    for document in corpus.documents() {
        match &document.origin {
            Origin::File(file) => found.extend(file.starts_with(&root).then(|| file.clone())),
            // Extracted from a PDF or an archive; a prefix of the name is its path.
            Origin::Text(_) => found.extend(file_along(&root, &document.name)),
        }
    }
    // Only PDF files that the scan reads are sent: a folder may contain many others.
    let names: BTreeSet<&str> = corpus.documents().iter().map(|document| document.name.as_str()).collect();
    let goes_along =
        |image: &&ImageEntry| image.kind != ImageKind::Pdf || names.contains(image.name.as_str());
    let images = corpus.images().iter().filter(goes_along);
    found.extend(images.filter_map(|image| file_along(&root, &image.name)));
    let of = |path: PathBuf| {
        let inside = path.strip_prefix(&root).ok()?;
        let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Some(SnapshotFile { name: parts.join("/"), path })
    };
    let files = found.into_iter().filter_map(of).collect();
    Ok((files, None, UploadedSource { manifest, file: None, name: None }))
}

/// The shortest prefix of a name that is a file. With several sources, names begin with the source's name.
fn file_along(root: &Path, name: &str) -> Option<PathBuf> {
    let without_source = name.split_once('/').map(|(_, rest)| rest);
    for name in [Some(name), without_source].into_iter().flatten() {
        let mut path = root.to_owned();
        for part in name.split('/') {
            path.push(part);
            if path.is_file() {
                return Some(path);
            }
        }
    }
    None
}
