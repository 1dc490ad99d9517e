//! The builder: which settings, which model, which workspace. What is not said comes from where the command line takes
//! it: the environment, the user's settings file and the project's.

use std::ffi::OsString;
use std::path::PathBuf;

use spelunk_journal::JournalError;

use super::{Error, Spelunk};
use crate::app::App;
use crate::config::model_values;
use crate::config::{self, FlagValue};
use crate::env::Environment;
use crate::failure::Usage;
use crate::sandbox::WorkerPlace;
use crate::trust::UserState;

/// What a [`Spelunk`] is made from.
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
}

impl Builder {
    /// Reads no settings file and takes no setting from the environment: only what is said here counts. Which workspaces
    /// are the user's own is remembered in their state directory all the same.
    pub fn isolated(self) -> Self {
        Self { is_isolated: true, ..self }
    }

    /// Where relative paths begin, and where the search for a project's settings does; else the current directory.
    pub fn directory(self, directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..self }
    }

    /// Where runs are kept; else `.spelunk` in that directory.
    pub fn workspace(self, workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: Some(workspace.into()), ..self }
    }

    /// The model, as `--model` takes it: `anthropic/NAME`, `openai/NAME`, a NAME of `[models.NAME]`.
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// The model of sub-calls and analysts, as `--sub-model` takes it.
    pub fn sub_model(self, model: impl Into<String>) -> Self {
        Self { sub_model: Some(model.into()), ..self }
    }

    /// Where requests go, such as `http://127.0.0.1:11434/v1`.
    pub fn base_url(self, url: impl Into<String>) -> Self {
        Self { base_url: Some(url.into()), ..self }
    }

    /// Any setting by its key: `limits.calls_max`, `sandbox.backend`. `docs/reference/defaults.toml` lists them.
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// A variable of the environment as the library sees it, such as `OPENAI_API_KEY`. The process keeps its own.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// A `spelunk` program of the same version, by its path: it runs the code of models. A program that calls
    /// [`serve_worker`](crate::serve_worker) needs none.
    pub fn worker(self, program: impl Into<PathBuf>) -> Self {
        Self { worker: Some(program.into()), ..self }
    }

    /// Reads and checks the settings. Nothing is written, and nobody is asked.
    pub fn build(self) -> Result<Spelunk, Error> {
        let here =
            std::env::current_dir().map_err(|source| JournalError::Workspace { path: ".".into(), source })?;
        let directory = here.join(self.directory.unwrap_or_default());
        let process = if self.is_isolated { Environment::default() } else { Environment::capture() };
        // Whose a workspace is, is no setting: that is remembered for the user all the same.
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
        Ok(Spelunk::new(app))
    }
}

/// Looked for now, and not when the first cell is to run.
fn found(program: PathBuf) -> Result<PathBuf, Error> {
    if program.is_file() {
        return Ok(program);
    }
    let message = format!("there is no program at `{}` to run the code of models", program.display());
    Err(Usage { message, hint: "name a `spelunk` program by its path".into() }.into())
}
