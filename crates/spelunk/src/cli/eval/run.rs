//! `spelunk eval run`: tasks × strategies × models × repeats. Each completed trial is written as
//! one line, so that the same command continues where it stopped; trials that failed because of a
//! model outage are retried.

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use spelunk_app::asking::RoleModels;
use spelunk_app::provider;
use spelunk_app::units::{dollars, time, tokens};
use spelunk_eval::{Kind, Note, SimSettings, Status, Task, Trial, Trials, write_note, write_trial};

use super::files::{Results, load_tasks, load_trials, remove_runs};
use super::trial::{PlannedTrial, STRATEGIES, TrialFolders, TrialModels, attempt};
use super::unknown;
use crate::cli::{App, CliResult, Failure, LimitFlags, ModelFlags, Usage, limits};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The folder that contains the tasks
    #[arg(long, value_name = "DIR")]
    tasks: String,
    /// The results file, one line per trial; trials already in it are skipped
    #[arg(long, value_name = "FILE")]
    out: String,
    /// The strategies: auto, direct, repl, search, map, hybrid, or whole (one prompt with the whole text)
    #[arg(long, value_name = "STRATEGY,…", default_value = "auto", value_delimiter = ',')]
    strategies: Vec<String>,
    /// Additional models, by their NAME in `[models.NAME]`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    models: Vec<String>,
    /// Run only tasks of these kinds
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Run only tasks up to this size, such as 32k
    #[arg(long, value_name = "SIZE")]
    tokens_max: Option<String>,
    /// A label for these settings, to distinguish their trials in files and reports
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Number of times to run each trial
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeats: u64,
    /// Maximum number of concurrent trials
    #[arg(long, value_name = "N", default_value_t = 4)]
    parallel: usize,
    /// Remove the journals of the trials when done
    #[arg(long)]
    drop_runs: bool,
    #[command(flatten)]
    sim: SimFlags,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
    #[command(flatten)]
    budget: BudgetFlags,
}

const SIM: &str = "sim";

/// How well the simulated reader reads (`--model sim`).
#[derive(Debug, Clone, Args)]
struct SimFlags {
    /// With `--model sim`: the prompt length at which the reader overlooks half of the relevant text
    #[arg(id = "sim_half_tokens", long = "sim-half-tokens", value_name = "TOKENS", default_value_t = SimSettings::default().half_tokens)]
    half_tokens: u64,
    /// With `--model sim`: how many replies in a thousand are malformed
    #[arg(id = "sim_slip_permille", long = "sim-slip-permille", value_name = "N", default_value_t = SimSettings::default().slip_permille)]
    slip_permille: u64,
    /// With `--model sim`: the random seed; each seed is a different reader
    #[arg(id = "sim_seed", long = "sim-seed", value_name = "SEED", default_value_t = SimSettings::default().seed)]
    seed: u64,
}

impl SimFlags {
    fn settings(&self) -> SimSettings {
        SimSettings {
            seed: self.seed,
            half_tokens: self.half_tokens,
            slip_permille: self.slip_permille,
            ..SimSettings::default()
        }
    }
}

/// After this many consecutive failures a model counts as unavailable, because the rest would fail too.
const FAILED_IN_A_ROW_MAX: u32 = 8;
const PARALLEL_MAX: usize = 256;
const PARTIAL: u8 = 3;
const INTERRUPTED: u8 = 130;

pub(super) async fn run(app: &Arc<App>, args: RunArgs) -> CliResult {
    let (folder, tasks) = load_tasks(&app.current_dir.join(&args.tasks))?;
    let tasks = selected(tasks, &args)?;
    for word in &args.strategies {
        if !STRATEGIES.contains(&word.as_str()) {
            return Err(unknown("strategy", word, &STRATEGIES).into());
        }
    }
    let budget = Budget::of(&args.budget)?;
    let models = models(app, &args).await?;
    // A model without a price is rejected now rather than trial by trial.
    let mut settings = app.run_settings();
    settings.cost_is_bounded |= budget.cost_microusd_max < u64::MAX;
    settings.check_prices(models.iter().flat_map(|models| models.models.all()))?;
    let out = app.current_dir.join(&args.out);
    let before = if out.exists() { load_trials(&out)? } else { Trials::default() };
    let all = cells(&tasks, &args, &models);
    let planned = all.len() as u64;
    let todo = left(all, &before.trials, args.label.as_deref());
    let n_done = planned - todo.len() as u64;
    if n_done > 0 {
        app.say(&format!("{n_done} of {planned} trials were already done"));
    }
    // The journals of the trials are next to the results.
    let (runs, label, cost_is_bounded) =
        (out.with_extension("runs"), args.label.clone(), settings.cost_is_bounded);
    let folders = TrialFolders { folder, runs, label, cost_is_bounded };
    let results = Results::open(&out, before.bytes_whole)?;
    let mut evaluation =
        Evaluation { app, folders: &folders, results, budget, planned, n_done, failed_in_a_row: 0 };
    let ended = evaluation.go(todo, args.parallel.clamp(1, PARALLEL_MAX)).await?;
    let code = evaluation.close(ended)?;
    drop(evaluation);
    if args.drop_runs {
        remove_runs(&folders.runs)?;
    }
    app.say(&format!("show the results with `spelunk eval report {} --tasks {}`", args.out, args.tasks));
    Ok(code)
}

fn selected(tasks: Vec<Task>, args: &RunArgs) -> Result<Vec<Arc<Task>>, Failure> {
    let known = Kind::ALL.map(Kind::name);
    if let Some(word) = args.kinds.iter().find(|word| !known.contains(&word.as_str())) {
        return Err(unknown("kind", word, &known).into());
    }
    let tokens_max = match &args.tokens_max {
        None => u64::MAX,
        Some(word) => limits::tokens(word).ok_or_else(|| {
            Usage::new(
                format!("`--tokens-max` must be a size, not `{}`", word.chars().take(60).collect::<String>()),
                "write it like `32k`",
            )
        })?,
    };
    let is_wanted = |task: &Task| {
        task.tokens <= tokens_max
            && (args.kinds.is_empty() || args.kinds.iter().any(|kind| kind == task.kind.name()))
    };
    Ok(tasks.into_iter().filter(is_wanted).map(Arc::new).collect())
}

async fn models(app: &App, args: &RunArgs) -> Result<Vec<Arc<TrialModels>>, Failure> {
    if args.model.model.as_deref() == Some(SIM) {
        return Ok(vec![Arc::new(TrialModels::simulated(args.sim.settings()))]);
    }
    let mut all = Vec::new();
    for name in &args.models {
        let root = provider::find_by_name(&app.settings, &app.environment, name)?.model;
        all.push(Arc::new(TrialModels { label: name.clone(), models: RoleModels::one(root), sim: None }));
    }
    if !all.is_empty() && args.model.model.is_none() {
        return Ok(all);
    }
    let Some(chosen) = provider::choose(&app.settings, &app.environment).await? else {
        return Err(Usage::new(
            "no model is configured",
            "choose one with `--model` and `--base-url`, or run `spelunk doctor`",
        )
        .into());
    };
    app.say(&chosen.line());
    let label = chosen.model.reference().name.clone();
    all.push(Arc::new(TrialModels { label, models: chosen.into(), sim: None }));
    Ok(all)
}

/// All trials to run. Repeats come last, so that an evaluation that ends early has covered every task.
fn cells(tasks: &[Arc<Task>], args: &RunArgs, models: &[Arc<TrialModels>]) -> Vec<PlannedTrial> {
    let mut cells = Vec::new();
    for repeat in 0..args.repeats {
        for task in tasks {
            for strategy in &args.strategies {
                for models in models {
                    let (task, models) = (Arc::clone(task), Arc::clone(models));
                    cells.push(PlannedTrial { task, strategy: strategy.clone(), models, repeat });
                }
            }
        }
    }
    cells
}

/// The trials not run yet, or ended by an outage.
fn left(all: Vec<PlannedTrial>, before: &[Trial], label: Option<&str>) -> Vec<PlannedTrial> {
    let done: HashSet<(&str, &str, &str, u64)> = before
        .iter()
        .filter(|trial| trial.engine == "spelunk" && trial.status != Status::Outage)
        .filter(|trial| trial.label.as_deref() == label)
        .map(|trial| (trial.task.as_str(), trial.strategy.as_str(), trial.model.as_str(), trial.repeat))
        .collect();
    all.into_iter()
        .filter(|cell| {
            let key =
                (cell.task.id.as_str(), cell.strategy.as_str(), cell.models.label.as_str(), cell.repeat);
            !done.contains(&key)
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EvaluationEnd {
    Complete,
    /// The budget that was used up.
    Early(&'static str),
    ModelGone,
    Interrupted,
}

impl EvaluationEnd {
    fn note(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Early(why) => why,
            Self::ModelGone => "model-gone",
            Self::Interrupted => "interrupted",
        }
    }
}

struct Evaluation<'a> {
    app: &'a App,
    folders: &'a TrialFolders,
    results: Results,
    budget: Budget,
    planned: u64,
    n_done: u64,
    failed_in_a_row: u32,
}

impl Evaluation<'_> {
    async fn go(&mut self, todo: Vec<PlannedTrial>, parallel: usize) -> Result<EvaluationEnd, Failure> {
        let (app, folders) = (self.app, self.folders);
        let mut todo = todo.into_iter().peekable();
        let mut refused = None;
        let mut under_way = FuturesUnordered::new();
        loop {
            while refused.is_none() && under_way.len() < parallel && todo.peek().is_some() {
                refused = self.budget.refuses(under_way.len() as u64);
                let Some(cell) = (if refused.is_none() { todo.next() } else { None }) else { break };
                under_way.push(async move { attempt(app, folders, &cell).await });
            }
            if under_way.is_empty() {
                return Ok(refused.map_or(EvaluationEnd::Complete, EvaluationEnd::Early));
            }
            let tried = tokio::select! {
                biased;
                tried = under_way.next() => tried,
                () = self.budget.out_of_time() => return Ok(EvaluationEnd::Early("budget-time")),
                _ = tokio::signal::ctrl_c() => return Ok(EvaluationEnd::Interrupted),
            };
            if let Some(trial) = tried
                && self.take(&trial)?
            {
                return Ok(EvaluationEnd::ModelGone);
            }
        }
    }

    /// Returns true if the model seems to be unavailable.
    fn take(&mut self, trial: &Trial) -> Result<bool, Failure> {
        self.results.add(&write_trial(trial))?;
        self.budget.count(trial.cost_microusd);
        self.n_done += u64::from(trial.status != Status::Outage);
        self.app.say(&line(trial, self.n_done, self.planned));
        self.failed_in_a_row = if trial.status == Status::Outage { self.failed_in_a_row + 1 } else { 0 };
        Ok(self.failed_in_a_row >= FAILED_IN_A_ROW_MAX)
    }

    fn close(&mut self, ended: EvaluationEnd) -> CliResult {
        let is_short = self.n_done < self.planned;
        let note = if ended == EvaluationEnd::Complete && is_short { "outage" } else { ended.note() };
        let note = Note { note: note.to_owned(), planned: self.planned, done: self.n_done };
        self.results.add(&write_note(&note))?;
        if is_short {
            self.app.say(&format!(
                "partial: {} of {} trials ({}); run the same command again to continue",
                note.done, note.planned, note.note
            ));
        }
        Ok(match ended {
            EvaluationEnd::Complete if !is_short => ExitCode::SUCCESS,
            EvaluationEnd::Complete | EvaluationEnd::ModelGone => ExitCode::FAILURE,
            EvaluationEnd::Early(_) => ExitCode::from(PARTIAL),
            EvaluationEnd::Interrupted => ExitCode::from(INTERRUPTED),
        })
    }
}

fn line(trial: &Trial, n_done: u64, planned: u64) -> String {
    let chose = trial.chose.as_ref().map(|chose| format!("→{chose}")).unwrap_or_default();
    let failure = trial.failure.map(|failure| format!(" {}", failure.name())).unwrap_or_default();
    let took = time(trial.wall_ms);
    let cost =
        if trial.cost_microusd > 0 { format!(" {}", dollars(trial.cost_microusd)) } else { String::new() };
    format!(
        "[{n_done}/{planned}] {} {}{chose} {:.2}{failure} · {} calls, {} tokens, {took}{cost}",
        trial.task,
        trial.strategy,
        trial.score.unwrap_or_default(),
        trial.calls,
        tokens(trial.tokens_used()),
    )
}

/// Bounds of the whole evaluation; those of each run are `--max-…`.
#[derive(Debug, Clone, Default, Args)]
struct BudgetFlags {
    /// Stop the evaluation after this many trials
    #[arg(id = "budget_trials", long = "budget-trials", value_name = "TRIALS")]
    trials: Option<u64>,
    /// Stop the evaluation once it has cost this many dollars
    #[arg(id = "budget_cost", long = "budget-cost", value_name = "DOLLARS")]
    cost: Option<String>,
    /// Stop the evaluation after this time, such as 9m; unfinished trials are discarded and run again next time
    #[arg(id = "budget_time", long = "budget-time", value_name = "TIME")]
    time: Option<String>,
}

#[derive(Debug, Clone)]
struct Budget {
    trials_max: u64,
    cost_microusd_max: u64,
    ends_at: Option<Instant>,
    trials: u64,
    cost_microusd: u64,
}

impl Budget {
    fn of(flags: &BudgetFlags) -> Result<Self, Failure> {
        let amount = |flag: &str, typed: &Option<String>, read: fn(&str) -> Option<u64>| match typed {
            None => Ok(None),
            Some(word) => read(word.trim()).map(Some).ok_or_else(|| {
                Usage::new(
                    format!("`{flag}` is not an amount: `{}`", word.chars().take(60).collect::<String>()),
                    "write it like `--budget-cost 2.50` or `--budget-time 9m`",
                )
            }),
        };
        let cost = amount("--budget-cost", &flags.cost, limits::microusd)?;
        let time_ms = amount("--budget-time", &flags.time, limits::time_ms)?;
        Ok(Self {
            trials_max: flags.trials.unwrap_or(u64::MAX),
            cost_microusd_max: cost.unwrap_or(u64::MAX),
            ends_at: time_ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms))),
            trials: 0,
            cost_microusd: 0,
        })
    }

    /// Resolves when the time is used up.
    async fn out_of_time(&self) {
        match self.ends_at {
            Some(end) => tokio::time::sleep_until(end.into()).await,
            None => std::future::pending().await,
        }
    }

    fn count(&mut self, cost_microusd: u64) {
        self.trials += 1;
        self.cost_microusd = self.cost_microusd.saturating_add(cost_microusd);
    }

    /// Whether one more trial may start besides those in progress; otherwise the limit that was hit.
    fn refuses(&self, n_under_way: u64) -> Option<&'static str> {
        if self.trials + n_under_way >= self.trials_max {
            Some("budget-trials")
        } else if self.cost_microusd >= self.cost_microusd_max {
            Some("budget-cost")
        } else if self.ends_at.is_some_and(|end| Instant::now() >= end) {
            Some("budget-time")
        } else {
            None
        }
    }
}
