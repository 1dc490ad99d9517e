//! What every command works with: settings, the engine, and the two streams. stdout is data, stderr is conversation.

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, Paces, RunSettings, SystemClock};
use spelunk_fs::PrivateDir;
use spelunk_index::{EmbedError, Embedder};
use spelunk_journal::{JournalError, Workspace};
use spelunk_sandbox::Sandbox;
use spelunk_types::{Explain, Limits};

use crate::cli::limits::LimitFlags;
use crate::cli::log::LogWriter;
use crate::cli::{Common, ModelFlags};
use crate::config::{self, ColorChoice, FlagValue, Origin, ProviderChoice, SandboxChoice, Settings};
use crate::env::{self, Environment};
use crate::provider::{self, SharedEmbedder};
use crate::render::error::{Paint, error_json, error_text, exit_code};
use crate::render::units::escaped;
use crate::sandbox::WorkerPlace;
use crate::trust::{self, Chosen, UserState};

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) Box<dyn Explain + Send + Sync>);

impl<E: Explain + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

/// A problem with the command line that clap cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Usage {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Explain for Usage {
    fn code(&self) -> spelunk_types::ErrorCode {
        spelunk_types::ErrorCode::UsageWrong
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}

/// What every command works with.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) environment: Environment,
    pub(crate) current_dir: PathBuf,
    /// How fast models may be asked, over all runs of the process.
    paces: Paces,
    /// Which program runs the code of models.
    worker: WorkerPlace,
    /// What makes the vectors of every index.
    embedder: SharedEmbedder,
    /// What belongs to the user, outside of every project.
    pub(crate) user: UserState,
    /// Set once the workspace was found to be the user's own.
    is_trusted: OnceLock<()>,
    /// Set once the user was told that it is not.
    is_told: OnceLock<()>,
    /// What the reply cache is signed with.
    cache_key: OnceLock<[u8; 32]>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    /// Where a server says things: a thread of its own, so that no reader can hold it up.
    log: OnceLock<LogWriter>,
    /// Colours on stdout.
    pub(crate) paint: Paint,
    /// Colours on stderr.
    pub(crate) paint_errors: Paint,
}

impl App {
    pub(crate) fn new(
        common: Common,
        (model, limits): (Option<ModelFlags>, LimitFlags),
    ) -> Result<Self, Failure> {
        let environment = Environment::capture();
        let current_dir =
            std::env::current_dir().map_err(|source| JournalError::Workspace { path: ".".into(), source })?;
        let mut flags = Vec::new();
        for argument in &common.set {
            flags.push(FlagValue::set(argument)?);
        }
        flags.extend(common.workspace.map(|path| FlagValue::new("--workspace", "workspace.path", path)));
        if let Some(model) = model {
            flags.extend(model_values(model.model, model.sub_model, model.base_url)?);
        }
        flags.extend(limits.values()?);
        let settings = config::load(&environment, &current_dir, &flags)?;
        let no_color = environment.text(env::NO_COLOR.name).is_some();
        let paint = |is_terminal: bool| match settings.color {
            ColorChoice::Always => Paint::Colored,
            ColorChoice::Auto if is_terminal && !no_color => Paint::Colored,
            ColorChoice::Auto | ColorChoice::Never => Paint::Plain,
        };
        let (paint, paint_errors) = (paint(io::stdout().is_terminal()), paint(io::stderr().is_terminal()));
        let app = Self::quiet(settings, environment, current_dir, WorkerPlace::Own);
        let app = Self { json: common.json, quiet: common.quiet, paint, paint_errors, ..app };
        app.settings.notices().iter().for_each(|notice| app.say(&format!("warning: {notice}")));
        Ok(app)
    }

    /// One that says nothing to anybody, for programs.
    pub(crate) fn quiet(
        settings: Settings,
        environment: Environment,
        current_dir: PathBuf,
        worker: WorkerPlace,
    ) -> Self {
        let (paint, paint_errors) = (Paint::Plain, Paint::Plain);
        let (paces, user) = (Paces::default(), UserState::of(&environment));
        spelunk_types::employ(Arc::new(worker.clone()));
        Self {
            settings,
            environment,
            current_dir,
            paces,
            worker,
            embedder: SharedEmbedder::default(),
            user,
            is_trusted: OnceLock::new(),
            is_told: OnceLock::new(),
            cache_key: OnceLock::new(),
            json: false,
            quiet: true,
            log: OnceLock::new(),
            paint,
            paint_errors,
        }
    }

    /// Where the workspace is or would be.
    pub(crate) fn workspace_root(&self) -> PathBuf {
        self.current_dir.join(&self.settings.workspace_path)
    }

    /// Whether the user named this very workspace, or it is what lies where they are.
    fn workspace_chosen(&self) -> Chosen {
        match self.settings.origin("workspace.path") {
            Origin::Flag { .. } => Chosen::ByUser,
            origin @ (Origin::Env { .. } | Origin::File { .. })
                if !origin.is_project() && self.settings.workspace_path.is_absolute() =>
            {
                Chosen::ByUser
            }
            Origin::Default | Origin::Env { .. } | Origin::File { .. } => Chosen::ByPlace,
        }
    }

    /// The workspace, made if need be. One that is not trusted is an error.
    pub(crate) fn workspace(&self) -> Result<Workspace, Failure> {
        let root = self.workspace_root();
        let workspace = if self.is_trusted.get().is_some() && Workspace::exists(&root) {
            Workspace::open(&root)?
        } else {
            self.user.open(&root, self.workspace_chosen())?
        };
        self.is_trusted.get_or_init(|| ());
        let key = match self.cache_key.get() {
            Some(key) => *key,
            None => *self.cache_key.get_or_init({
                let key = self.key(trust::CACHE)?;
                move || key
            }),
        };
        Ok(workspace.with_cache_key(key))
    }

    /// The workspace, if there is one: looking must not leave traces. One that is not trusted is opened read-only.
    pub(crate) fn existing_workspace(&self) -> Result<Option<Workspace>, Failure> {
        let root = self.workspace_root();
        if !Workspace::exists(&root) {
            return Ok(None);
        }
        if self.is_trusted.get().is_none()
            && let Some(untrusted) = self.user.distrust(&root, self.workspace_chosen())?
        {
            let workspace = Workspace::open_read_only(&root)?;
            if self.is_told.set(()).is_ok() {
                self.say(&format!("note: {untrusted}; it is only read"));
            }
            return Ok(Some(workspace));
        }
        self.workspace().map(Some)
    }

    /// The workspace to change something in, if there is one. One that is not trusted is an error.
    pub(crate) fn own_workspace(&self) -> Result<Option<Workspace>, Failure> {
        if Workspace::exists(&self.workspace_root()) { self.workspace().map(Some) } else { Ok(None) }
    }

    /// A key of this user for one purpose. The workspace exists.
    pub(crate) fn key(&self, purpose: &str) -> Result<[u8; 32], Failure> {
        let unusable =
            |source| JournalError::Workspace { path: self.workspace_root().display().to_string(), source };
        Ok(self.user.key(purpose, &self.workspace_root(), self.workspace_chosen()).map_err(unusable)?)
    }

    /// The directory of the workspace to change something in, which need not exist. One that is not trusted is an error.
    pub(crate) fn own_workspace_dir(&self) -> Result<PrivateDir, Failure> {
        let dir = self.own_workspace()?.and_then(|workspace| workspace.dir().cloned());
        Ok(dir.unwrap_or_else(|| PrivateDir::new(self.workspace_root())))
    }

    /// The directory of the workspace, which need not exist; read-only if it is not trusted.
    pub(crate) fn workspace_dir(&self) -> Result<PrivateDir, Failure> {
        let dir = self.existing_workspace()?.and_then(|workspace| workspace.dir().cloned());
        Ok(dir.unwrap_or_else(|| PrivateDir::new(self.workspace_root())))
    }

    /// The engine to look at runs with: nothing is made, and nothing that is not trusted is changed.
    pub(crate) fn looking_engine(&self, scan: ScanOptions) -> Result<Engine, Failure> {
        let workspace = self.existing_workspace()?.ok_or(JournalError::NoRuns)?;
        Ok(self.engine_on(workspace, scan))
    }

    /// The engine on the workspace; new runs read their sources so.
    pub(crate) fn engine(&self, scan: ScanOptions) -> Result<Engine, Failure> {
        Ok(self.engine_on(self.workspace()?, scan))
    }

    /// The engine on another workspace.
    pub(crate) fn engine_on(&self, workspace: Workspace, scan: ScanOptions) -> Engine {
        let engine = Engine::new(workspace, Arc::new(SystemClock), scan);
        let roster = provider::roster(&self.settings, &self.environment);
        let engine = engine.with_roster(roster).with_paces(self.paces.clone());
        let (settings, environment) = (self.settings.clone(), self.environment.clone());
        let embedder = self.embedder.clone();
        let engine = engine.with_embedder(move || embedder.open(&settings, &environment));
        engine.with_detector(self.settings.detector(), self.detector_key())
    }

    /// What makes the vectors of an index: the model of `roles.embedding`, else the built-in one. Blocking.
    pub(crate) fn embedder(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        self.embedder.open(&self.settings, &self.environment)
    }

    /// What tells one set of content types from another.
    pub(crate) fn detector_key(&self) -> String {
        format!("{:?}", self.settings.types().collect::<Vec<_>>())
    }

    /// Where the code of models runs: the flag, else the setting.
    pub(crate) fn sandbox(&self, flag: Option<&str>) -> Result<Sandbox, Failure> {
        let choice = match flag {
            Some(word) => SandboxChoice::of(word).ok_or_else(|| Usage {
                message: format!("there is no sandbox `{word}`"),
                hint: format!("choose one of {}", SandboxChoice::WORDS.join(", ")),
            })?,
            None => self.settings.sandbox,
        };
        crate::sandbox::open(choice, &self.environment, &self.worker)
    }

    /// What a run is held to.
    pub(crate) fn run_settings(&self) -> RunSettings {
        self.run_settings_within(self.settings.limits.clone())
    }

    /// The same under limits of its own. The cost is bounded where somebody set its limit: the user, or whoever asks.
    pub(crate) fn run_settings_within(&self, limits: Limits) -> RunSettings {
        let is_default = *self.settings.origin("limits.cost_microusd_max") == Origin::Default
            && limits.cost_microusd_max == self.settings.limits.cost_microusd_max;
        RunSettings { limits, cache_replies: self.settings.cache_replies, cost_is_bounded: !is_default }
    }

    /// Says something to the person, unless they want quiet.
    pub(crate) fn say(&self, text: &str) {
        if self.quiet {
            return;
        }
        let text = escaped(text);
        match self.log.get() {
            Some(log) => log.say(&text),
            None => drop(writeln!(io::stderr().lock(), "{text}")),
        }
    }

    /// From here on nothing that is said waits for a reader.
    pub(crate) fn say_without_waiting(&self) {
        if let Ok(log) = LogWriter::to_stderr() {
            drop(self.log.set(log));
        }
    }

    /// Waits for what was said to be written, for a moment.
    pub(crate) fn close_log(&self) {
        if let Some(log) = self.log.get() {
            log.close();
        }
    }

    /// Shows an error and gives its exit code.
    pub(crate) fn report(&self, failure: &Failure) -> ExitCode {
        let error = failure.0.as_ref();
        if self.json {
            print(&format!("{}\n", serde_json::json!({ "error": error_json(error) })));
        }
        self.report_text(error);
        ExitCode::from(exit_code(error.code()))
    }

    /// Shows an error to a person.
    pub(crate) fn report_text(&self, error: &dyn Explain) {
        drop(write!(io::stderr().lock(), "{}", escaped(&error_text(error, self.paint_errors))));
    }
}

/// Writes data. A reader that has gone away is not an error: it has seen enough.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    drop(out.write_all(escaped(text).as_bytes()).and_then(|()| out.flush()));
}

/// Writes a text as it is into a file or a pipe; a terminal is shown what is safe to show.
pub(crate) fn print_as_is(text: &str) {
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        drop(out);
        return print(text);
    }
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// The signal of a file that grew beyond the limit of the operating system (`ulimit -f`).
#[cfg(unix)]
const FILE_TOO_LARGE: i32 = 25;

/// Has a write that goes beyond that limit fail, and say so, where it would end the program without a word.
pub(crate) fn survive_file_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        let _entered = runtime.enter();
        // Once caught, it stays caught; nobody listens to it.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE)));
    }
}

/// Runs a command that waits for the network.
pub(crate) fn block_on(
    command: impl Future<Output = Result<ExitCode, Failure>>,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|source| JournalError::Workspace { path: "runtime".into(), source })?;
    let ended = runtime.block_on(command);
    // Blocking work that is still going on has no one left to report to.
    runtime.shutdown_background();
    ended
}

/// For errors before there are settings.
pub(crate) fn report_plain(failure: &Failure, json: bool) -> ExitCode {
    let error = failure.0.as_ref();
    if json {
        print(&format!("{}\n", serde_json::json!({ "error": error_json(error) })));
    }
    drop(write!(io::stderr().lock(), "{}", escaped(&error_text(error, Paint::Plain))));
    ExitCode::from(exit_code(error.code()))
}

/// `--model anthropic/claude-x` names a provider too; `--model none` asks nobody.
pub(crate) fn model_values(
    model: Option<String>,
    sub_model: Option<String>,
    base_url: Option<String>,
) -> Result<Vec<FlagValue>, Usage> {
    for (flag, typed) in [("--model", &model), ("--sub-model", &sub_model)] {
        if typed.as_deref().is_some_and(names_nobody) {
            let typed: String = typed.iter().flat_map(|typed| typed.chars().take(60)).collect();
            return Err(Usage {
                message: format!("`{flag} {typed}` names no model"),
                hint:
                    "write it like `anthropic/claude-sonnet-4-5`, `local:NAME` or a NAME of `[models.NAME]`"
                        .into(),
            });
        }
    }
    let mut values = Vec::new();
    if let Some(model) = model {
        let parts = model.strip_prefix("local:").map(|name| ("local", name));
        match parts.or_else(|| model.split_once('/')) {
            Some((provider, name))
                if ProviderChoice::of(provider).is_some() && !["auto", "none"].contains(&provider) =>
            {
                values.push(FlagValue::new("--model", "model.provider", provider));
                values.push(FlagValue::new("--model", "model.name", name));
            }
            _ if model == "none" => values.push(FlagValue::new("--model", "model.provider", "none")),
            _ => values.push(FlagValue::new("--model", "model.name", model)),
        }
    }
    values.extend(sub_model.map(|model| FlagValue::new("--sub-model", "model.sub", model)));
    values.extend(base_url.map(|url| FlagValue::new("--base-url", "model.base_url", url)));
    Ok(values)
}

/// Nothing, or only half of PROVIDER/NAME.
fn names_nobody(typed: &str) -> bool {
    let is_half =
        typed.split_once('/').is_some_and(|(provider, name)| provider.is_empty() || name.is_empty());
    typed.trim().is_empty() || typed.chars().any(char::is_control) || typed == "local:" || is_half
}
