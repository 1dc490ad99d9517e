//! The builder: settings, model and workspace. Anything left unset comes from the same places as on the command line:
//! the environment, the user's settings file and the project's.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use spelunk_engine::{ExternalTool, ExternalTools, ToolError};
use spelunk_journal::JournalError;
use spelunk_types::EffectClass;

use super::{Error, Spelunk};
use crate::app::App;
use crate::config::model_values;
use crate::config::{self, FlagValue};
use crate::env::Environment;
use crate::failure::Usage;
use crate::sandbox::WorkerPlace;
use crate::trust::UserState;

/// Builds a [`Spelunk`].
#[derive(Debug, Clone, Default)]
#[must_use = "`build` makes something of it"]
pub struct Builder {
    is_isolated: bool,
    directory: Option<PathBuf>,
    workspace: Option<PathBuf>,
    model: Option<String>,
    sub_model: Option<String>,
    base_url: Option<String>,
    settings: Vec<(String, String)>,
    variables: Vec<(String, OsString)>,
    worker: Option<PathBuf>,
    tools: Vec<ExternalTool>,
}

impl Builder {
    /// Reads no settings file and no settings from the environment: only what is set on this builder counts. The list
    /// of trusted workspaces is still kept in the user's state directory.
    pub fn isolated(self) -> Self {
        Self { is_isolated: true, ..self }
    }

    /// The directory that relative paths and the search for project settings start from; by default the current
    /// directory.
    pub fn directory(self, directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..self }
    }

    /// The directory for runs; by default `.spelunk` in that directory.
    pub fn workspace(self, workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: Some(workspace.into()), ..self }
    }

    /// The model, in the syntax of `--model`: `anthropic/NAME`, `openai/NAME`, or the NAME of a `[models.NAME]`.
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// The model for sub-calls and analysts, in the syntax of `--sub-model`.
    pub fn sub_model(self, model: impl Into<String>) -> Self {
        Self { sub_model: Some(model.into()), ..self }
    }

    /// The base URL for requests, such as `http://127.0.0.1:11434/v1`.
    pub fn base_url(self, url: impl Into<String>) -> Self {
        Self { base_url: Some(url.into()), ..self }
    }

    /// Any setting by its key: `limits.calls_max`, `sandbox.backend`. `docs/reference/defaults.toml` lists them.
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// Sets an environment variable as the library sees it, such as `OPENAI_API_KEY`. The process environment is
    /// unchanged.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// The path of a `spelunk` program of the same version, used to run model code. Not needed in a program that calls
    /// [`serve_worker`](crate::serve_worker).
    pub fn worker(self, program: impl Into<PathBuf>) -> Self {
        Self { worker: Some(program.into()), ..self }
    }

    /// Gives the model a function of this program as a tool, in the strategies `repl` and `agent`. `schema` describes
    /// the arguments, a JSON object, and its `description` the tool itself. The result of a call is recorded, and the
    /// call is not repeated when a run is resumed; `effect` says what happens if no result was recorded.
    pub fn tool<F>(
        mut self,
        name: impl Into<String>,
        schema: serde_json::Value,
        effect: EffectClass,
        function: impl Fn(serde_json::Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<serde_json::Value, ToolError>> + Send + 'static,
    {
        self.tools.push(ExternalTool {
            name: name.into(),
            source: "program".to_owned(),
            description: schema["description"].as_str().unwrap_or_default().to_owned(),
            schema,
            effect,
            timeout_ms: u64::from(u32::MAX),
            calls_max: u64::MAX,
            is_allowed: true,
            in_children: false,
            call: Arc::new(move |arguments| Box::pin(function(arguments))),
        });
        self
    }

    /// Reads and validates the settings. Writes nothing and contacts no server.
    pub fn build(self) -> Result<Spelunk, Error> {
        let here =
            std::env::current_dir().map_err(|source| JournalError::Workspace { path: ".".into(), source })?;
        let directory = here.join(self.directory.unwrap_or_default());
        let process = if self.is_isolated { Environment::default() } else { Environment::capture() };
        // Trust is not a setting: the user's state is used even when isolated.
        let user = UserState::of(&Environment::capture().with(self.variables.clone()));
        let environment = process.with(self.variables);
        let mut flags = model_values(self.model, self.sub_model, self.base_url)?;
        for (key, value) in self.settings {
            flags.push(FlagValue::new("Builder::set", &key, value));
        }
        if let Some(workspace) = self.workspace {
            let workspace = directory.join(workspace).display().to_string();
            flags.push(FlagValue::new("Builder::workspace", "workspace.path", workspace));
        }
        let settings = if self.is_isolated {
            config::load_without_files(&environment, &flags)?
        } else {
            config::load(&environment, &directory, &flags)?
        };
        let worker = match self.worker {
            None => WorkerPlace::Hooked,
            Some(program) => WorkerPlace::Program(found(here.join(program))?),
        };
        let mut app = App::quiet(settings, environment, directory, worker);
        app.user = user;
        app.use_tools(ExternalTools::new(self.tools)?);
        Ok(Spelunk::new(app))
    }
}

/// Checked now rather than when the first cell runs.
fn found(program: PathBuf) -> Result<PathBuf, Error> {
    if program.is_file() {
        return Ok(program);
    }
    let message = format!("there is no program at `{}` to run model-written code", program.display());
    Err(Usage { message, hint: "pass the path of a `spelunk` program".into() }.into())
}
