//! Asking: the one place where a question, its sources, models, sandbox and settings become a run. The command line,
//! the HTTP server, the MCP server and the library all use it.

mod attachments;
mod prompt;
mod question_input;

pub use attachments::last_messages;
pub use attachments::{ATTACHED_BYTES_MAX, ATTACHED_MAX, AttachmentError, Attachments};
pub use prompt::excerpt;
pub use question_input::{
    QUESTION_CHARS_MAX, QuestionInput, SYSTEM_CHARS_MAX, attachments_schema, messages_schema,
    redact_attachment,
};

use std::path::Path;
use std::sync::Arc;

use spelunk_context::{Corpus, ImageKind, Outline, ScanOptions, ScanProgress, SourceInput, redact};
use spelunk_engine::{
    CallerTurn, Conversation, Engine, EngineError, ExternalTools, ModelCapacity, ResumeRequest, RunHandle,
    RunRequest, RunSettings, RunView, first_strategy,
};
use spelunk_model::Model;
use spelunk_sandbox::Sandbox;
use spelunk_types::{Focus, ModelRef, RunId, SourceSpec, Strategy};

use crate::app::App;

use crate::config::StrategyChoice;
use crate::failure::{Result, Usage};
use crate::provider::{self, ChosenModels};
use crate::retention;

pub struct Asking {
    pub question: String,
    pub sources: Sources,
    pub models: RoleModels,
    pub strategy: StrategyChoice,
    pub focus: Focus,
    pub schema: Option<String>,
    /// The conversation of a caller that runs its own tools.
    pub turn: Option<CallerTurn>,
    pub tools: ExternalTools,
    pub settings: RunSettings,
}

pub struct Sources {
    pub named: Named,
    pub options: ScanOptions,
    pub corpus: Corpus,
}

pub enum Named {
    /// With the question.
    Now(Vec<SourceInput>),
    /// By an earlier run.
    Before(Vec<SourceSpec>),
}

pub struct RoleModels {
    pub root: Arc<dyn Model>,
    /// The model for sub-calls, if a separate one was named.
    pub sub: Option<Arc<dyn Model>>,
    pub synthesis: Option<Arc<dyn Model>>,
}

impl From<ChosenModels> for RoleModels {
    fn from(chosen: ChosenModels) -> Self {
        Self { root: chosen.model, sub: chosen.sub_model, synthesis: chosen.synthesis_model }
    }
}

impl RoleModels {
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        [&self.root].into_iter().chain(&self.sub).chain(&self.synthesis)
    }

    pub fn one(root: Arc<dyn Model>) -> Self {
        Self { root, sub: None, synthesis: None }
    }

    /// The request to start a run with these models, without a schema, a focus or a program.
    pub fn start(
        self,
        question: impl Into<String>,
        corpus: Corpus,
        sources: Vec<SourceSpec>,
        strategy: Strategy,
        settings: RunSettings,
    ) -> RunRequest {
        RunRequest {
            question: question.into(),
            corpus,
            sources,
            strategy,
            model: self.root,
            sub_model: self.sub,
            synthesis_model: self.synthesis,
            schema: None,
            turn: None,
            focus: Focus::General,
            settings,
            program: None,
        }
    }

    pub fn request(self, settings: RunSettings) -> ResumeRequest {
        let Self { root, sub, synthesis } = self;
        ResumeRequest { model: root, sub_model: sub, synthesis_model: synthesis, settings, program: None }
    }
}

pub struct Ready {
    pub engine: Engine,
    pub sources: Vec<SourceSpec>,
    pub strategy: Strategy,
    request: RunRequest,
}

impl Asking {
    /// Decides the strategy, then opens the workspace. `sandbox` is called once the strategy is known.
    pub fn ready(self, app: &App, sandbox: impl FnOnce(Strategy) -> Result<Sandbox>) -> Result<Ready> {
        let Sources { named, options, corpus } = self.sources;
        let (model, is_typed) = (self.models.root.as_ref(), self.schema.is_some());
        let strategy = decide(app, &self.tools, self.strategy, &corpus.outline(), model, is_typed)?;
        let strategy = seeing(strategy, &corpus, &self.models)?;
        let sandbox = sandbox(strategy)?;
        let allows_secrets = options.allow_secrets;
        let engine = app.engine(options)?.with_sandbox(sandbox).with_tools(self.tools);
        let sources = match named {
            Named::Now(inputs) => {
                retention::apply(app, engine.workspace())?;
                keep(&engine, inputs)?
            }
            // No old runs are removed here: the earlier run is still needed.
            Named::Before(sources) => sources,
        };
        let is_conversation = sources.iter().any(is_messages);
        // An agent gets the whole conversation as a file, and its prompt shows the part that it should see.
        let is_cut = is_conversation && strategy != Strategy::Agent;
        // Secrets are redacted before truncating, because half a secret is not recognized.
        let question = match (is_cut, allows_secrets) {
            (true, true) => last_messages(self.question),
            (true, false) => last_messages(redact(&self.question).0.into_owned()),
            (false, true | false) => self.question,
        };
        let request = self.models.start(question, corpus, sources.clone(), strategy, self.settings);
        let request = RunRequest { schema: self.schema, turn: self.turn, focus: self.focus, ..request };
        Ok(Ready { engine, sources, strategy, request })
    }
}

/// The strategy for a corpus with images that the user named: one that shows images to a model that accepts them.
fn seeing(strategy: Strategy, corpus: &Corpus, models: &RoleModels) -> Result<Strategy> {
    let Some(image) = corpus.images().iter().find(|image| image.is_named) else { return Ok(strategy) };
    let (strategy, model) = match strategy {
        Strategy::Direct => (strategy, &models.root),
        Strategy::Auto => (Strategy::Repl, models.sub.as_ref().unwrap_or(&models.root)),
        Strategy::Repl | Strategy::Agent => (strategy, models.sub.as_ref().unwrap_or(&models.root)),
        Strategy::Search
        | Strategy::Map
        | Strategy::Hybrid
        | Strategy::Analyst
        | Strategy::Synthesis
        | Strategy::Program => {
            let what = if image.kind == ImageKind::Pdf { "contains none" } else { "is an image" };
            let message = format!("the strategy `{strategy}` reads text, and `{}` {what}", image.name);
            return Err(Usage { message, hint: "leave the strategy out".into() }.into());
        }
    };
    let is_pdf = image.kind == ImageKind::Pdf;
    let can_see = if is_pdf { model.facts().reads_pdf } else { model.facts().sees_images };
    if can_see {
        return Ok(strategy);
    }
    let (name, model) = (&image.name, model.reference());
    let (message, hint) = if is_pdf {
        (
            format!("`{name}` contains no text, and `{model}` cannot read its pages"),
            "run text recognition (OCR) over it first, or choose a model that can: `spelunk model show NAME` lists `pdf` \
             among its abilities; if this one can, set `pdf = true` in its `[models.NAME]`",
        )
    } else {
        (
            format!("`{model}` cannot see the image `{name}`"),
            "choose a model that can: `spelunk model show NAME` lists `vision` among its abilities; if this one can, set \
             `vision = true` in its `[models.NAME]`",
        )
    };
    Err(Usage::new(message, hint).into())
}

fn is_messages(source: &SourceSpec) -> bool {
    matches!(source, SourceSpec::Text { name, .. } if name == Conversation::DOCUMENT)
}

impl Ready {
    /// Starts the run; must be called within a runtime.
    pub fn start(self) -> Result<RunHandle> {
        Ok(self.engine.start(self.request)?)
    }

    /// Starts the run under an id that was reserved earlier.
    pub fn start_as(self, run: RunId) -> Result<RunHandle> {
        Ok(self.engine.start_as(run, self.request)?)
    }
}

/// Continues a run where its journal ends, or asks it a follow-up question. Must be called within a runtime; blocking.
pub fn go_on(
    app: &App,
    sandbox: Sandbox,
    tools: ExternalTools,
    (run, more): (&RunId, Option<&str>),
    request: ResumeRequest,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<RunHandle> {
    let engine = app.engine(ScanOptions::default())?.with_sandbox(sandbox).with_tools(tools);
    Ok(match more {
        None => engine.resume(run, request, progress)?,
        Some(question) => engine.ask_more(run, question, request, progress)?,
    })
}

/// The models the run was started with, using today's keys.
pub fn same_models(app: &App, run: &RunId, view: &RunView) -> Result<RoleModels> {
    let root = begun(run, view)?;
    let known = |model: &ModelRef| provider::recorded(model, &app.settings, &app.environment);
    Ok(RoleModels {
        root: known(root)?,
        sub: view.sub_model.as_ref().map(known).transpose()?,
        synthesis: view.synthesis_model.as_ref().map(known).transpose()?,
    })
}

/// The model of a run that recorded at least its first event.
pub fn begun<'a>(run: &RunId, view: &'a RunView) -> Result<&'a ModelRef, Usage> {
    view.model.as_ref().ok_or_else(|| {
        let message = format!("run `{}` ended before its first event", run.short());
        Usage { message, hint: "ask again; nothing was sent and nothing was spent".into() }
    })
}

/// Rejects early what the engine would reject: only an agent run with an answer accepts follow-up questions.
pub fn check_more(run: &RunId, view: &RunView, question: &str) -> Result<()> {
    require_question(question)?;
    begun(run, view)?;
    let run = run.clone();
    match view.strategy {
        Some(Strategy::Agent) if view.answer().is_none() => Err(EngineError::Unfinished { run }.into()),
        Some(Strategy::Agent) | None => Ok(()),
        Some(strategy) => Err(EngineError::NotAgent { run, strategy }.into()),
    }
}

pub fn require_question(question: &str) -> Result<(), Usage> {
    if !question.trim().is_empty() {
        return Ok(());
    }
    let hint = "ask something, such as `spelunk ask \"what is this?\" .`".to_owned();
    Err(Usage { message: "the question is empty".into(), hint })
}

pub fn decide(
    app: &App,
    tools: &ExternalTools,
    choice: StrategyChoice,
    outline: &Outline,
    model: &dyn Model,
    is_typed: bool,
) -> Result<Strategy> {
    let strategy = match choice {
        // The other strategies cannot call tools.
        StrategyChoice::Auto if !tools.is_empty() => Strategy::Repl,
        StrategyChoice::Auto => {
            let limits = &app.settings.limits;
            let reader = ModelCapacity::of(model.reference(), limits);
            first_strategy(outline, limits, reader, is_typed)
        }
        StrategyChoice::Repl => Strategy::Repl,
        StrategyChoice::Agent => Strategy::Agent,
        StrategyChoice::Direct => Strategy::Direct,
        StrategyChoice::Search => Strategy::Search,
        StrategyChoice::Map => Strategy::Map,
        StrategyChoice::Hybrid => Strategy::Hybrid,
    };
    let has_tools = !tools.is_empty() && matches!(strategy, Strategy::Repl | Strategy::Agent);
    if outline.documents == 0 && strategy != Strategy::Direct && !has_tools {
        let message = format!("the strategy `{strategy}` needs a text to read");
        return Err(Usage { message, hint: "pass one, or leave out the strategy".into() }.into());
    }
    Ok(strategy)
}

/// The sources in a form that a resumed run can open again.
pub fn keep(engine: &Engine, inputs: Vec<SourceInput>) -> Result<Vec<SourceSpec>> {
    let mut sources = Vec::new();
    let shared = engine.workspace().shared();
    let snapshot = |path: &Path, name: Option<&Path>| {
        let (manifest, file) = shared?.snapshot_of(path)?;
        let name = name.map(|name| name.display().to_string());
        Some(SourceSpec::Snapshot { manifest, file, name })
    };
    for input in inputs {
        sources.push(match input {
            SourceInput::Path(path) => snapshot(&path, None)
                .unwrap_or_else(|| SourceSpec::Path { path: path.display().to_string(), name: None }),
            SourceInput::Typed { path, typed } => snapshot(&path, Some(&typed)).unwrap_or_else(|| {
                SourceSpec::Path { path: path.display().to_string(), name: Some(typed.display().to_string()) }
            }),
            SourceInput::Text { name, bytes } | SourceInput::Kept { name, bytes } => {
                engine.keep_text(&name, &bytes)?
            }
            SourceInput::Database(server) => SourceSpec::Database { url: server.url().to_owned() },
            SourceInput::Objects(bucket) => SourceSpec::Objects { url: bucket.url().to_owned() },
        });
    }
    Ok(sources)
}
