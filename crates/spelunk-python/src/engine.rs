//! The engine for Python: settings, questions and contexts.

use std::path::PathBuf;
use std::sync::OnceLock;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use spelunk::contexts::{ContextId, ContextKind, Navigator, NewContext, NewSource, StoreError};
use spelunk::session::Sessions;
use spelunk::{Question, RunId, Spelunk, Strategy};

use crate::running::Running;
use crate::session::Session;
use crate::tool::GivenTool;
use crate::waiting::wait;
use crate::{raised, told};

/// The settings of an engine, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct EngineArguments {
    worker: PathBuf,
    isolated: bool,
    directory: Option<PathBuf>,
    workspace: Option<PathBuf>,
    model: Option<String>,
    sub_model: Option<String>,
    base_url: Option<String>,
    settings: Vec<(String, String)>,
    variables: Vec<(String, String)>,
    tools: Vec<GivenTool>,
}

/// A question and its material, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    question: String,
    paths: Vec<PathBuf>,
    texts: Vec<(String, Vec<u8>)>,
    contexts: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    strategy: Option<String>,
    schema: Option<String>,
}

/// Settings, models and a workspace.
#[pyclass(frozen)]
pub(crate) struct Engine {
    spelunk: Spelunk,
    /// Opened at its first use.
    sessions: OnceLock<Sessions>,
}

#[pymethods]
impl Engine {
    #[new]
    fn new(py: Python<'_>, given: EngineArguments) -> PyResult<Self> {
        let mut builder = Spelunk::builder().worker(given.worker);
        if given.isolated {
            builder = builder.isolated();
        }
        if let Some(directory) = given.directory {
            builder = builder.directory(directory);
        }
        if let Some(workspace) = given.workspace {
            builder = builder.workspace(workspace);
        }
        if let Some(model) = given.model {
            builder = builder.model(model);
        }
        if let Some(model) = given.sub_model {
            builder = builder.sub_model(model);
        }
        if let Some(url) = given.base_url {
            builder = builder.base_url(url);
        }
        for (key, value) in given.settings {
            builder = builder.set(key, value);
        }
        for (name, value) in given.variables {
            builder = builder.variable(name, value);
        }
        for tool in given.tools {
            builder = tool.add_to(builder)?;
        }
        let spelunk = py.detach(|| builder.build()).map_err(|error| raised(&error))?;
        Ok(Self { spelunk, sessions: OnceLock::new() })
    }

    /// Starts a run.
    fn start(&self, py: Python<'_>, asked: Asked) -> PyResult<Running> {
        let mut question = Question::new(asked.question);
        for path in asked.paths {
            question = question.path(path);
        }
        for (name, text) in asked.texts {
            question = question.text(name, text);
        }
        for id in asked.contexts {
            question = question.context(id);
        }
        for glob in asked.include {
            question = question.include(glob);
        }
        for glob in asked.exclude {
            question = question.exclude(glob);
        }
        if let Some(word) = asked.strategy {
            let strategy = Strategy::of(&word).ok_or_else(|| {
                let words = Strategy::WORDS.join(", ");
                PyValueError::new_err(format!("there is no strategy `{word}`: choose one of {words}"))
            })?;
            question = question.strategy(strategy);
        }
        if let Some(schema) = asked.schema {
            question = question.schema(schema);
        }
        let started = wait(py, self.spelunk.start(question))?;
        started.map(Running::new).map_err(|error| raised(&error))
    }

    /// Continues a run, and returns its answer as JSON.
    fn resume(&self, py: Python<'_>, run: &str) -> PyResult<String> {
        let run = run_id(run)?;
        told(wait(py, self.spelunk.resume(&run))?, |answer| answer.json())
    }

    /// The viewer page of a run.
    fn page(&self, py: Python<'_>, run: &str) -> PyResult<String> {
        let run = run_id(run)?;
        wait(py, self.spelunk.page(&run))?.map_err(|error| raised(&error))
    }

    /// The runs of the workspace, newest first, as JSON.
    fn runs(&self, py: Python<'_>) -> PyResult<String> {
        told(wait(py, self.spelunk.runs())?, Value::Array)
    }

    /// The best passages of these paths, as JSON.
    fn search(&self, py: Python<'_>, query: String, paths: Vec<PathBuf>, hits: usize) -> PyResult<String> {
        told(wait(py, self.spelunk.search(query, paths, hits))?, |found| found)
    }

    /// Registers a file or a text; replaces an earlier context with this id.
    fn add_context(&self, py: Python<'_>, id: &str, path: Option<PathBuf>, text: String) -> PyResult<()> {
        let source = path.map_or(NewSource::Inline(text), NewSource::File);
        self.with_contexts(py, |contexts| {
            let context = NewContext::new(ContextId::new(id)?, ContextKind::Document, source);
            contexts.store().replace(context).map(drop)
        })
    }

    /// The ids of the contexts of the workspace.
    fn contexts(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let id = |context: &spelunk::contexts::Context| context.id.as_str().to_owned();
        self.with_contexts(py, |contexts| {
            Ok(contexts.store().list().iter().map(|context| id(context)).collect())
        })
    }

    /// Removes a context. Its file is kept.
    fn remove_context(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.with_contexts(py, |contexts| contexts.store().remove(id).map(drop))
    }

    /// Opens a session for code.
    fn session(&self, py: Python<'_>) -> PyResult<Session> {
        if self.sessions.get().is_none() {
            // If two threads get here at once, the first one's value is kept.
            drop(self.sessions.set(self.spelunk.sessions().map_err(|error| raised(&error))?));
        }
        Session::open(py, self.sessions.wait())
    }
}

fn run_id(run: &str) -> PyResult<RunId> {
    run.parse().map_err(|_| PyValueError::new_err(format!("`{run}` is not a run id")))
}

impl Engine {
    fn with_contexts<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Navigator) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| Ok(work(&self.spelunk.contexts()?)?));
        done.map_err(|error: spelunk::Error| raised(&error))
    }
}
