//! `spelunk eval`: measures strategies and models. It generates tasks with known answers, runs
//! them, scores the answers and compares the results; other engines can run the same tasks.

mod files;
mod report;
mod run;
mod tasks;
mod trial;

use std::sync::Arc;

use clap::Subcommand;

use super::{App, CliResult, LimitFlags, ModelFlags, Usage};

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Generate tasks with known answers
    Tasks(tasks::TasksArgs),
    /// Run tasks with strategies and models and score the answers; an interrupted evaluation continues
    Run(Box<run::RunArgs>),
    /// Show results as tables and plots, with confidence intervals
    Report(report::ReportArgs),
    /// Compare two sets of results, trial by trial
    Compare(report::CompareArgs),
}

impl EvalCommand {
    /// The flags that choose a model, if the subcommand uses one, and the limits of each run.
    pub(super) fn setting_flags(&self) -> (Option<ModelFlags>, LimitFlags) {
        match self {
            Self::Run(args) => (Some(args.model.clone()), args.limits.clone()),
            Self::Tasks(_) | Self::Report(_) | Self::Compare(_) => (None, LimitFlags::default()),
        }
    }
}

pub(crate) async fn eval(app: &Arc<App>, command: EvalCommand) -> CliResult {
    match command {
        EvalCommand::Tasks(args) => tasks::tasks(app, &args),
        EvalCommand::Run(args) => run::run(app, *args).await,
        EvalCommand::Report(args) => report::report(app, &args),
        EvalCommand::Compare(args) => report::compare(app, &args),
    }
}

fn unknown(what: &str, word: &str, known: &[&str]) -> Usage {
    let shown: String = word.chars().take(60).collect();
    Usage::new(format!("there is no {what} `{shown}`"), format!("choose one of {}", known.join(", ")))
}
