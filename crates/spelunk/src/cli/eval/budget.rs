//! The budget of an evaluation: trials, money, time. An early end is reported and recorded next to the results.

use std::time::{Duration, Instant};

use clap::Args;
use spelunk_app::failure::{Failure, Usage};

use crate::cli::limits;

/// Bounds of the whole evaluation; those of each run are `--max-…`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BudgetFlags {
    /// End the evaluation after so many trials
    #[arg(id = "budget_trials", long = "budget-trials", value_name = "TRIALS")]
    trials: Option<u64>,
    /// End the evaluation when it has cost so many dollars
    #[arg(id = "budget_cost", long = "budget-cost", value_name = "DOLLARS")]
    cost: Option<String>,
    /// End the evaluation after this time, such as 9m; trials under way are dropped and made again on resume
    #[arg(id = "budget_time", long = "budget-time", value_name = "TIME")]
    time: Option<String>,
}

/// What is left of the budget.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    trials_max: u64,
    cost_microusd_max: u64,
    pub(super) ends_at: Option<Instant>,
    trials: u64,
    cost_microusd: u64,
}

impl Budget {
    pub(super) fn of(flags: &BudgetFlags) -> Result<Self, Failure> {
        let amount = |flag: &str, typed: &Option<String>, read: fn(&str) -> Option<u64>| match typed {
            None => Ok(None),
            Some(word) => read(word.trim()).map(Some).ok_or_else(|| Usage {
                message: format!("`{flag}` is no amount: `{}`", word.chars().take(60).collect::<String>()),
                hint: "write it like `--budget-cost 2.50` or `--budget-time 9m`".into(),
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

    /// Whether the price of the models must be known.
    pub(super) fn bounds_cost(&self) -> bool {
        self.cost_microusd_max < u64::MAX
    }

    /// Counts a completed trial.
    pub(super) fn count(&mut self, cost_microusd: u64) {
        self.trials += 1;
        self.cost_microusd = self.cost_microusd.saturating_add(cost_microusd);
    }

    /// Whether one more trial may start besides those in progress; otherwise the limit that was hit.
    pub(super) fn refuses(&self, n_under_way: u64) -> Option<&'static str> {
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
