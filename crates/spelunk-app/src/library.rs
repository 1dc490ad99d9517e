//! The library API for Rust programs: the same composition as the command line, without a terminal.

mod answer;
mod builder;
pub mod contexts;
mod error;
mod question;
mod running;
pub mod session;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;
use spelunk_context::{Corpus, Navigator, ScanOptions, SecretFiles, View};
use spelunk_engine::{EngineError, RunHandle, RunView, Schema, index_folder};
use spelunk_index::Query;
use spelunk_sandbox::Sandbox;
use spelunk_types::{RunId, Strategy};

pub use answer::Answer;
pub use builder::Builder;
pub use error::Error;
pub use question::{Budget, Message, Question};
pub use running::Running;
use session::Sessions;

use crate::app::App;
use crate::asking::{self, Asking, Named, Sources, check_more, go_on, same_models};
use crate::blocking::blocking;
use crate::context_search::{Indexed, Level};
use crate::failure::Result;
use crate::provider;
use crate::render::found::hits_json;
use crate::reports::render_page;
use crate::runs::{Row, active_rows, find_run, read_view, recorded_result};
use crate::sandbox;
use crate::sources::{contexts, source};

/// Asks questions and continues runs. Cheap to clone; clones share their rate limits.
///
/// All methods must run in a tokio runtime with time and I/O enabled, such as
/// `tokio::runtime::Builder::new_multi_thread().enable_all()`.
#[derive(Clone)]
pub struct Spelunk {
    app: Arc<App>,
}

impl Spelunk {
    /// A builder for settings, models and workspace.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn new(app: App) -> Self {
        Self { app: Arc::new(app) }
    }

    /// The contexts of the workspace, explored as by every other interface. `store()` registers,
    /// combines and evicts them; its `save` writes the access counts for other processes.
    pub fn contexts(&self) -> Result<Navigator, Error> {
        // Create the workspace's own files first: they keep the directory private and out of git.
        drop(self.app.workspace()?);
        Ok(Navigator::new(Arc::new(contexts(&self.app, SecretFiles::Refused)?)))
    }

    /// Opens code sessions in the sandbox of runs, for a program with its own loop. They are not recorded.
    pub fn sessions(&self) -> Result<Sessions, Error> {
        Ok(Sessions::new(self.app.sandbox(None)?, &self.app.settings.limits))
    }

    /// Asks a question and waits for the answer. A run that ends without an answer is not an error: its `success` is
    /// false and its `errors` give the reasons. An error means that no run was started, or that its journal is
    /// unusable.
    pub async fn ask(&self, question: Question) -> Result<Answer, Error> {
        self.start(question).await?.answer().await
    }

    /// Asks a follow-up question of an agent run. The run continues with its files, variables and conversation; nothing
    /// it already did is repeated or paid for again.
    pub async fn ask_more(&self, run: &RunId, question: &str) -> Result<Answer, Error> {
        self.start_more(run, question).await?.answer().await
    }

    /// Continues a run that was interrupted, cancelled or stopped by a limit. A run with nothing left to do returns its
    /// existing result. A run stopped by a limit continues only if that limit is higher now; otherwise the error names
    /// the limit.
    pub async fn resume(&self, run: &RunId) -> Result<Answer, Error> {
        let (app, of) = (Arc::clone(&self.app), run.clone());
        let view = blocking(move || Ok(look(&app, &of)?.1)).await?;
        let resumable = view.check_resumable(run, &self.app.settings.limits);
        let is_over =
            matches!(resumable, Err(EngineError::PartForGood { .. } | EngineError::Finished { .. }));
        if is_over || view.has_whole_answer() {
            return self.answer_of(run).await;
        }
        self.start_again(run).await?.answer().await
    }

    /// The result of a run, as recorded in its journal.
    pub async fn answer_of(&self, run: &RunId) -> Result<Answer, Error> {
        let (app, run) = (Arc::clone(&self.app), run.clone());
        let answer = blocking(move || {
            let (workspace, view) = look(&app, &run)?;
            let result = recorded_result(&workspace, run, &view)?;
            Ok(Answer::of(result, &view, &workspace.blobs())?)
        });
        Ok(answer.await?)
    }

    /// The runs of the workspace, newest first, each as in `spelunk run list --json`.
    pub async fn runs(&self) -> Result<Vec<Value>, Error> {
        let app = Arc::clone(&self.app);
        let rows = blocking(move || match app.existing_workspace()? {
            Some(workspace) => Ok(active_rows(&workspace)?.iter().rev().map(Row::json).collect()),
            None => Ok(Vec::new()),
        });
        Ok(rows.await?)
    }

    /// The viewer with this run, finished or in progress, as one HTML file that needs no server.
    pub async fn page(&self, run: &RunId) -> Result<String, Error> {
        let (app, run) = (Arc::clone(&self.app), run.clone());
        let page = blocking(move || {
            let (workspace, run) = find_run(&app, Some(run.as_str()))?;
            Ok(render_page(&app, &workspace, &run)?.0)
        });
        Ok(page.await?)
    }

    /// The best passages of files and directories, by words and meaning, as in `spelunk search --json`. Calls no model.
    pub async fn search(&self, query: String, paths: Vec<PathBuf>, hits_max: usize) -> Result<Value, Error> {
        let app = Arc::clone(&self.app);
        let found = blocking(move || {
            let inputs: Vec<_> = paths.iter().map(|path| source(&app, path)).collect();
            let options = ScanOptions { files_max: app.settings.limits.files_max, ..ScanOptions::default() };
            let view = View::of(Arc::new(Corpus::scan(&inputs, &options, &mut |_| {})?));
            let query = Query { hits_max: hits_max.min(Query::HITS_MAX), ..Query::new(query) };
            let (folder, level) = (index_folder(&view), Level::Always);
            let mut indexed =
                Indexed { app: &app, folder: &folder, level, in_background: false, progress: &mut |_| {} };
            Ok(hits_json(&indexed.search(&view, &query, || Ok(None))?))
        });
        Ok(found.await?)
    }

    /// Starts a run and returns it while it is in progress.
    pub async fn start(&self, question: Question) -> Result<Running, Error> {
        let Some(chosen) = provider::choose(&self.app.settings, &self.app.environment).await? else {
            return Err(error::NO_MODEL.into());
        };
        let app = Arc::clone(&self.app);
        self.running(move || {
            let (asked, how) = question.read(&app)?;
            asking::require_question(&asked.question)?;
            if let Some(schema) = &how.schema {
                Schema::parse(schema).map_err(EngineError::from)?;
            }
            let mut limits = app.settings.limits.clone();
            how.budget.apply(&mut limits);
            let options = ScanOptions { files_max: limits.files_max, ..how.scan };
            let corpus = Corpus::scan_for(None, &asked.attachments, &options, &mut |_| {})?;
            let sources = Sources { named: Named::Now(asked.attachments), options, corpus };
            let asking = Asking {
                question: asked.question,
                sources,
                models: chosen.into(),
                strategy: how.strategy.unwrap_or(app.settings.strategy),
                focus: how.focus,
                schema: how.schema,
                turn: None,
                tools: app.run_tools(),
                settings: app.run_settings_within(limits),
            };
            asking.ready(&app, |strategy| sandbox_for(&app, strategy))?.start()
        })
        .await
    }

    /// Asks a follow-up question of an agent run and returns the run while it is in progress.
    pub async fn start_more(&self, run: &RunId, question: &str) -> Result<Running, Error> {
        let (app, run, question) = (Arc::clone(&self.app), run.clone(), question.to_owned());
        self.running(move || {
            let (_, view) = look(&app, &run)?;
            check_more(&run, &view, &question)?;
            again(&app, &run, &view, Some(&question))
        })
        .await
    }

    /// Continues a run that was interrupted, cancelled or stopped by a limit, and returns it while it is in progress.
    pub async fn start_again(&self, run: &RunId) -> Result<Running, Error> {
        let (app, run) = (Arc::clone(&self.app), run.clone());
        self.running(move || {
            let (_, view) = look(&app, &run)?;
            again(&app, &run, &view, None)
        })
        .await
    }

    /// Reading the sources blocks; the run itself is driven by the caller's runtime.
    async fn running(
        &self,
        begin: impl FnOnce() -> Result<RunHandle> + Send + 'static,
    ) -> Result<Running, Error> {
        let runtime = tokio::runtime::Handle::current();
        let handle = blocking(move || {
            let _entered = runtime.enter();
            begin()
        });
        Ok(Running::new(Arc::clone(&self.app), handle.await?)?)
    }
}

impl std::fmt::Debug for Spelunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spelunk").field("workspace", &self.app.workspace_root()).finish_non_exhaustive()
    }
}

fn look(app: &App, run: &RunId) -> Result<(spelunk_journal::Workspace, RunView)> {
    let (workspace, run) = find_run(app, Some(run.as_str()))?;
    let view = read_view(&workspace, &run)?;
    Ok((workspace, view))
}

fn again(app: &App, run: &RunId, view: &RunView, more: Option<&str>) -> Result<RunHandle> {
    let request = same_models(app, run, view)?.request(app.run_settings());
    let sandbox = match view.strategy {
        Some(strategy) => sandbox_for(app, strategy)?,
        None => app.sandbox(None)?,
    };
    go_on(app, sandbox, app.run_tools(), (run, more), request, &mut |_| {})
}

/// Only two strategies run code. The others need no worker and never open their sandbox.
fn sandbox_for(app: &App, strategy: Strategy) -> Result<Sandbox> {
    match strategy {
        Strategy::Repl | Strategy::Agent | Strategy::Program => app.sandbox(None),
        Strategy::Direct
        | Strategy::Auto
        | Strategy::Search
        | Strategy::Map
        | Strategy::Hybrid
        | Strategy::Analyst
        | Strategy::Synthesis => Ok(Sandbox::in_process()),
    }
}

/// Runs the worker if this program was started as one; otherwise registers the program as its own worker. Call it at the
/// start of `main`, before anything is printed or read:
///
/// ```no_run
/// # use spelunk_app as spelunk;
/// fn main() -> std::process::ExitCode {
///     if let Some(code) = spelunk::serve_worker() {
///         return code;
///     }
///     // The program itself.
///     std::process::ExitCode::SUCCESS
/// }
/// ```
///
/// A worker should have [`LimitedAllocator`](crate::LimitedAllocator) as its global allocator.
pub fn serve_worker() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let is_meant =
        arguments.next().is_some_and(|word| word == sandbox::HOOK_WORD) && arguments.next().is_none();
    if is_meant {
        return Some(spelunk_sandbox::serve_stdio(sandbox::TASKS));
    }
    sandbox::hook();
    None
}
