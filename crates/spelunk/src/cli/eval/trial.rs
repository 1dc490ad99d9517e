//! One trial: a single run of a task with one model and one strategy.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use spelunk_app::asking::{RoleModels, decide, keep};
use spelunk_app::config::StrategyChoice;
use spelunk_context::{ScanOptions, SourceInput};
use spelunk_engine::{Engine, RunResult, RunSettings, RunView};
use spelunk_eval::{Failure as Class, Outcome, RunFacts, SimModel, SimSettings, Status, Task, Trial, score};
use spelunk_journal::{Record, Workspace};
use spelunk_model::Model;
use spelunk_types::{CellOutcome, ErrorCode, RunOutcome, Strategy};

use crate::cli::{App, Failure};

/// The engine's strategies, and `whole`: the model alone with all of the text.
pub(super) const STRATEGIES: [&str; 7] = ["auto", "direct", "repl", "search", "map", "hybrid", "whole"];
/// Larger than any context window, so that `whole` leaves nothing out.
const WHOLE_TOKENS: u64 = 1_000_000_000;
const ANSWER_CHARS_MAX: usize = 20_000;

pub(super) struct TrialModels {
    pub(super) label: String,
    pub(super) models: RoleModels,
    /// For a simulated model: each repeat is a different reader of the same kind.
    pub(super) sim: Option<SimSettings>,
}

impl TrialModels {
    pub(super) fn simulated(settings: SimSettings) -> Self {
        let models = RoleModels::one(Arc::new(SimModel::new(settings)));
        Self { label: "sim".to_owned(), models, sim: Some(settings) }
    }

    fn models(&self, repeat: u64) -> RoleModels {
        let root: Arc<dyn Model> = match self.sim {
            Some(sim) => Arc::new(SimModel::new(SimSettings { seed: sim.seed.wrapping_add(repeat), ..sim })),
            None => Arc::clone(&self.models.root),
        };
        RoleModels { root, sub: self.models.sub.clone(), synthesis: self.models.synthesis.clone() }
    }
}

pub(super) struct TrialFolders {
    pub(super) folder: PathBuf,
    pub(super) runs: PathBuf,
    pub(super) label: Option<String>,
    /// Whether only models with a known price may be asked.
    pub(super) cost_is_bounded: bool,
}

impl TrialFolders {
    /// Each trial has its own workspace, so that trials share no index or cache.
    fn engine(&self, app: &App, cell: &PlannedTrial) -> Result<Engine, Failure> {
        let words = [cell.strategy.as_str(), self.label.as_deref().unwrap_or("-"), &cell.models.label];
        let label: String = words
            .join("-")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(100)
            .collect();
        let name = format!("{}-{label}-{}", cell.task.id, cell.repeat);
        // Synthetic text is read as it is, wherever it is stored.
        let scan = ScanOptions { allow_secrets: true, gitignore: false, ..ScanOptions::default() };
        let engine = app.engine_on(Workspace::open(&self.runs.join(name))?, scan);
        Ok(engine.with_sandbox(app.sandbox(None)?))
    }
}

#[derive(Clone)]
pub(super) struct PlannedTrial {
    pub(super) task: Arc<Task>,
    pub(super) strategy: String,
    pub(super) models: Arc<TrialModels>,
    pub(super) repeat: u64,
}

/// Runs a trial. Any failure in it becomes its result.
pub(super) async fn attempt(app: &App, folders: &TrialFolders, cell: &PlannedTrial) -> Trial {
    let began = Instant::now();
    let mut trial = Trial {
        engine: "spelunk".to_owned(),
        task: cell.task.id.clone(),
        kind: cell.task.kind.name().to_owned(),
        tokens: cell.task.tokens,
        strategy: cell.strategy.clone(),
        label: folders.label.clone(),
        model: cell.models.label.clone(),
        repeat: cell.repeat,
        ..Trial::default()
    };
    let ended = answer(app, folders, cell, &mut trial).await;
    trial.wall_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let code = match ended {
        Ok(code) => code,
        Err(failure) => {
            trial.error = Some(failure.0.to_string());
            Some(failure.0.code())
        }
    };
    if trial.status == Status::Failed && code.is_some_and(is_outage) {
        trial.status = Status::Outage;
    }
    judge(&cell.task, &mut trial);
    trial
}

/// Whether the trial failed because the model was unavailable. A prompt that is too long, or an
/// answer that takes too long, counts against the strategy instead.
fn is_outage(code: ErrorCode) -> bool {
    const OUTAGES: [ErrorCode; 9] = [
        ErrorCode::ModelUnreachable,
        ErrorCode::ModelUnauthorized,
        ErrorCode::ModelOverloaded,
        ErrorCode::ModelServerError,
        ErrorCode::ModelRateLimited,
        ErrorCode::ModelNotFound,
        ErrorCode::ModelNotConfigured,
        ErrorCode::ModelStreamCut,
        ErrorCode::Cancelled,
    ];
    OUTAGES.contains(&code)
}

async fn answer(
    app: &App,
    folders: &TrialFolders,
    cell: &PlannedTrial,
    trial: &mut Trial,
) -> Result<Option<ErrorCode>, Failure> {
    let engine = folders.engine(app, cell)?;
    let sources = keep(&engine, inputs(&folders.folder, &cell.task))?;
    let corpus = engine.open_corpus(&sources, &mut |_| {})?;
    let models = cell.models.models(cell.repeat);
    let mut limits = app.settings.limits.clone();
    let strategy = if cell.strategy == "whole" {
        limits.direct_tokens_max = WHOLE_TOKENS;
        Strategy::Direct
    } else {
        let choice = StrategyChoice::of(&cell.strategy).unwrap_or(StrategyChoice::Auto);
        decide(app, &app.run_tools(), choice, &corpus.outline(), models.root.as_ref(), false)?
    };
    // No cached replies: they would hide how much answers vary.
    let mut settings = RunSettings { cache_replies: false, ..app.run_settings_within(limits) };
    settings.cost_is_bounded |= folders.cost_is_bounded;
    let request = models.start(cell.task.question.as_str(), corpus, sources, strategy, settings);
    let mut handle = engine.start(request)?;
    let mut view = RunView::default();
    while let Some(record) = handle.events.next().await {
        if let Record::Known(event) = record? {
            view.apply(&event);
        }
    }
    let chose = view.chosen.unwrap_or(strategy);
    trial.chose = (cell.strategy == "auto").then(|| chose.name().to_owned());
    let result = handle.join().await;
    fill(trial, &result, &view);
    Ok(result.stopped_by())
}

/// The single file, or the folder of the task.
fn inputs(folder: &Path, task: &Task) -> Vec<SourceInput> {
    match task.files.as_slice() {
        [one] => vec![SourceInput::Path(folder.join(one))],
        files => {
            let prefix = format!("{}/", task.id);
            if files.iter().all(|file| file.starts_with(&prefix)) {
                vec![SourceInput::Path(folder.join(&task.id))]
            } else {
                files.iter().map(|file| SourceInput::Path(folder.join(file))).collect()
            }
        }
    }
}

fn fill(trial: &mut Trial, result: &RunResult, view: &RunView) {
    trial.run = Some(result.run.to_string());
    let answer = result.answer.as_ref().map(|answer| answer.text.as_str()).unwrap_or_default();
    trial.answer = answer.chars().take(ANSWER_CHARS_MAX).collect();
    trial.cited = Some(result.answer.as_ref().is_some_and(|answer| !answer.citations.is_empty()));
    trial.tokens_in = view.spent.input_tokens;
    trial.tokens_out = view.spent.output_tokens;
    trial.cost_microusd = view.spent.cost_microusd;
    trial.calls = view.n_paid_calls();
    trial.status = match &result.outcome {
        RunOutcome::Answered => Status::Answered,
        RunOutcome::Partial { .. } => Status::Partial,
        RunOutcome::Failed { .. } | RunOutcome::Cancelled => Status::Failed,
    };
    trial.error = result.error.as_ref().map(ToString::to_string);
    let is_well = |outcome: &CellOutcome| matches!(outcome, CellOutcome::Printed | CellOutcome::Answered);
    let cells = || view.cells.values().flatten();
    trial.ran = Some(RunFacts {
        bytes_read: view.bytes_read,
        bytes: view.corpus_bytes,
        cells: cells().filter(|cell| is_well(&cell.outcome)).count() as u64,
        cells_failed: cells().filter(|cell| !is_well(&cell.outcome)).count() as u64,
        tasks_failed: view.tasks.as_ref().map_or(0, |tasks| tasks.failed),
    });
}

pub(super) fn judge(task: &Task, trial: &mut Trial) {
    let scored = score(task, &trial.answer);
    task.kind.name().clone_into(&mut trial.kind);
    trial.variant.clone_from(&task.variant);
    trial.language.clone_from(&task.language);
    trial.tokens = task.tokens;
    trial.score = Some(scored.score);
    trial.off = scored.off;
    trial.outcome = Some(Outcome::classify(&scored, trial));
    trial.failure =
        (!trial.is_right()).then(|| Class::classify(task.kind, &task.variant, scored.form, trial));
}
