//! The application: settings, workspace and engine of this process, shared by every frontend.

#[cfg(feature = "fleet")]
pub mod fleet;
#[cfg(not(feature = "fleet"))]
pub mod without_fleet;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use fleet::FleetPlace;
use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, ExternalTools, RateLimits, RunSettings, SystemClock};
use spelunk_fs::PrivateDir;
use spelunk_index::{EmbedError, Embedder};
use spelunk_journal::{JournalError, SyncMode, Workspace};
use spelunk_sandbox::Sandbox;
use spelunk_types::Limits;
#[cfg(not(feature = "fleet"))]
pub use without_fleet as fleet;

use crate::config::{DurabilityChoice, Origin, SandboxChoice, Settings};
use crate::env::Environment;
use crate::error_text::Paint;
use crate::failure::{Result, Usage};
use crate::live_runs::LiveRuns;
use crate::local::ModelFolder;
use crate::log::LogWriter;
use crate::provider::{self, SharedEmbedder};
use crate::sandbox::WorkerPlace;
use crate::terminal::{fitted, stderr_width};
use crate::trust::{self, ChosenBy, UserState};
use crate::units::escaped;

/// How many directories above the current one are searched for a workspace.
const ANCESTORS_MAX: usize = 100;

pub struct App {
    pub settings: Settings,
    pub environment: Environment,
    pub current_dir: PathBuf,
    rate_limits: RateLimits,
    pub live_runs: Arc<LiveRuns>,
    /// The program that runs model code.
    worker: WorkerPlace,
    embedder: SharedEmbedder,
    pub user: UserState,
    /// The path of the workspace, once it has been determined.
    workspace_root: OnceLock<PathBuf>,
    tools: OnceLock<ExternalTools>,
    is_trusted: OnceLock<()>,
    is_told: OnceLock<()>,
    /// When old runs were last looked for.
    pub(crate) cleaned_at_ms: AtomicU64,
    cache_key: OnceLock<[u8; 32]>,
    fleet: FleetPlace,
    /// Why the user's catalogue of hosted models is not used.
    pub catalogue_problem: Option<String>,
    pub json: bool,
    pub quiet: bool,
    /// The log of a server. It has its own thread, so a slow reader cannot block the server.
    log: OnceLock<LogWriter>,
    /// Colours on stdout.
    pub paint: Paint,
    /// Colours on stderr.
    pub paint_errors: Paint,
}

impl App {
    /// An instance that prints nothing, for the library.
    pub fn quiet(
        settings: Settings,
        environment: Environment,
        current_dir: PathBuf,
        worker: WorkerPlace,
    ) -> Self {
        let (paint, paint_errors) = (Paint::Plain, Paint::Plain);
        let (rate_limits, user) = (RateLimits::default(), UserState::of(&environment));
        spelunk_types::employ(Arc::new(worker.clone()));
        let folder = ModelFolder::of(&settings.local, &environment);
        let catalogue_problem = folder.and_then(|folder| folder.install_catalogue().err());
        Self {
            settings,
            environment,
            current_dir,
            rate_limits,
            live_runs: Arc::default(),
            worker,
            embedder: SharedEmbedder::default(),
            user,
            workspace_root: OnceLock::new(),
            tools: OnceLock::new(),
            is_trusted: OnceLock::new(),
            is_told: OnceLock::new(),
            cleaned_at_ms: AtomicU64::new(0),
            cache_key: OnceLock::new(),
            fleet: FleetPlace::default(),
            catalogue_problem,
            json: false,
            quiet: true,
            log: OnceLock::new(),
            paint,
            paint_errors,
        }
    }

    /// The path of the workspace, whether or not it exists. If no path is set, the workspace of
    /// this user in the nearest directory upwards.
    pub fn workspace_root(&self) -> PathBuf {
        self.workspace_root.get_or_init(|| self.find_workspace()).clone()
    }

    fn find_workspace(&self) -> PathBuf {
        let here = self.current_dir.join(&self.settings.workspace_path);
        if *self.settings.origin("workspace.path") != Origin::Default || Workspace::exists(&here) {
            return here;
        }
        // Somebody else may have put a workspace into a directory above: only a trusted one is used.
        let is_own = |root: &PathBuf| {
            Workspace::exists(root) && matches!(self.user.distrust(root, ChosenBy::Location), Ok(None))
        };
        let above = self.current_dir.ancestors().skip(1).map(|dir| dir.join(&self.settings.workspace_path));
        above.take(ANCESTORS_MAX).find(is_own).unwrap_or(here)
    }

    /// Whether the user named this workspace explicitly or it was found in the current directory.
    fn workspace_chosen(&self) -> ChosenBy {
        match self.settings.origin("workspace.path") {
            Origin::Flag { .. } => ChosenBy::User,
            origin @ (Origin::Env { .. } | Origin::File { .. })
                if !origin.is_project() && self.settings.workspace_path.is_absolute() =>
            {
                ChosenBy::User
            }
            Origin::Default | Origin::Env { .. } | Origin::File { .. } => ChosenBy::Location,
        }
    }

    /// The workspace, created if necessary. An untrusted workspace is an error.
    pub fn workspace(&self) -> Result<Workspace> {
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
        let sync_mode = match self.settings.durability {
            DurabilityChoice::Process => SyncMode::Process,
            DurabilityChoice::Power => SyncMode::Power,
        };
        self.shared(workspace.with_cache_key(key).with_sync_mode(sync_mode))
    }

    /// The workspace, if it exists: reading must not leave traces. An untrusted workspace is opened read-only.
    pub fn existing_workspace(&self) -> Result<Option<Workspace>> {
        let root = self.workspace_root();
        if !Workspace::exists(&root) {
            // The runs of a fleet exist before this process has read any.
            return if self.settings.fleet.url.is_some() { self.workspace().map(Some) } else { Ok(None) };
        }
        if self.is_trusted.get().is_none()
            && let Some(untrusted) = self.user.distrust(&root, self.workspace_chosen())?
        {
            let workspace = Workspace::open_read_only(&root)?;
            if self.is_told.set(()).is_ok() {
                self.say(&format!("note: {untrusted}; opened read-only"));
            }
            return Ok(Some(workspace));
        }
        self.workspace().map(Some)
    }

    /// The workspace for writing, if it exists. An untrusted workspace is an error.
    pub fn own_workspace(&self) -> Result<Option<Workspace>> {
        let is_there = Workspace::exists(&self.workspace_root()) || self.settings.fleet.url.is_some();
        if is_there { self.workspace().map(Some) } else { Ok(None) }
    }

    /// This user's key for one purpose. The workspace must exist.
    pub fn key(&self, purpose: &str) -> Result<[u8; 32]> {
        let root = self.workspace_root();
        let key = self.user.key(purpose, &root, self.workspace_chosen());
        Ok(key.map_err(|source| JournalError::unusable(&root, source))?)
    }

    /// The workspace directory for writing; it need not exist. An untrusted workspace is an error.
    pub fn own_workspace_dir(&self) -> Result<PrivateDir> {
        let dir = self.own_workspace()?.and_then(|workspace| workspace.dir().cloned());
        Ok(dir.unwrap_or_else(|| PrivateDir::new(self.workspace_root())))
    }

    /// The workspace directory; it need not exist. Read-only if the workspace is not trusted.
    pub fn workspace_dir(&self) -> Result<PrivateDir> {
        let dir = self.existing_workspace()?.and_then(|workspace| workspace.dir().cloned());
        Ok(dir.unwrap_or_else(|| PrivateDir::new(self.workspace_root())))
    }

    /// An engine for inspecting runs: it creates nothing and changes nothing that is not trusted.
    pub fn looking_engine(&self, scan: ScanOptions) -> Result<Engine> {
        let workspace = self.existing_workspace()?.ok_or(JournalError::NoRuns)?;
        Ok(self.engine_on(workspace, scan))
    }

    /// The engine on this workspace; new runs read their sources with these scan options.
    pub fn engine(&self, scan: ScanOptions) -> Result<Engine> {
        Ok(self.engine_on(self.workspace()?, scan))
    }

    pub fn engine_on(&self, workspace: Workspace, scan: ScanOptions) -> Engine {
        let named_models = provider::named_models(&self.settings, &self.environment);
        let engine = Engine::new(workspace, Arc::new(SystemClock), scan);
        let engine = engine.with_named_models(named_models).with_tools(self.run_tools());
        let mut engine = engine.with_detector(self.settings.detector(), self.detector_key());
        (engine.rate_limits, engine.places) = (self.rate_limits.clone(), self.places());
        let (settings, environment) = (self.settings.clone(), self.environment.clone());
        let (embedder, servers) = (self.embedder.clone(), self.servers());
        engine.embedder = Arc::new(move || embedder.open(&settings, &environment));
        engine.servers = Some(Arc::new(move |url| servers.open(url)));
        engine
    }

    pub fn run_tools(&self) -> ExternalTools {
        self.tools.get().cloned().unwrap_or_default()
    }

    /// Sets the tools of the runs of this process; only the first call counts.
    pub fn use_tools(&self, tools: ExternalTools) {
        drop(self.tools.set(tools));
    }

    /// The embedder of an index: the model of `roles.embedding` or else the built-in one. Blocking.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        self.embedder.open(&self.settings, &self.environment)
    }

    pub(crate) fn detector_key(&self) -> String {
        format!("{:?}", self.settings.custom_kinds().collect::<Vec<_>>())
    }

    /// The sandbox for model code: the flag, else the setting.
    pub fn sandbox(&self, flag: Option<&str>) -> Result<Sandbox> {
        let choice = match flag {
            Some(word) => SandboxChoice::of(word).ok_or_else(|| Usage {
                message: format!("there is no sandbox `{word}`"),
                hint: format!("choose one of {}", SandboxChoice::WORDS.join(", ")),
            })?,
            None => self.settings.sandbox,
        };
        crate::sandbox::open(choice, &self.environment, &self.worker)
    }

    pub fn run_settings(&self) -> RunSettings {
        self.run_settings_within(self.settings.limits.clone())
    }

    /// The settings of a run with its own limits. The cost is limited only if the user or the caller set a cost limit.
    pub fn run_settings_within(&self, limits: Limits) -> RunSettings {
        let is_default = *self.settings.origin("limits.cost_microusd_max") == Origin::Default
            && limits.cost_microusd_max == self.settings.limits.cost_microusd_max;
        RunSettings { limits, cache_replies: self.settings.cache_replies, cost_is_bounded: !is_default }
    }

    pub fn say(&self, text: &str) {
        if self.quiet {
            return;
        }
        let text = escaped(text);
        match self.log.get() {
            Some(log) => log.say(&text),
            None => drop(writeln!(io::stderr().lock(), "{}", fitted(&text, stderr_width()))),
        }
    }

    /// From now on, messages go to the log thread and never block on a reader.
    pub fn say_without_waiting(&self) {
        if let Ok(log) = LogWriter::to_stderr() {
            drop(self.log.set(log));
        }
    }

    pub fn close_log(&self) {
        if let Some(log) = self.log.get() {
            log.close();
        }
    }
}
