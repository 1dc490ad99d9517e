//! A summary: trials grouped by engine, strategy and model, with figures for each group.

use std::collections::BTreeMap;

use crate::stats::{Interval, bootstrap, mean, quantile, wilson};
use crate::wire::{Status, Trial};
use crate::{Failure, Outcome};

/// A way of answering: engine, strategy, model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Way {
    pub engine: String,
    pub strategy: String,
    pub label: Option<String>,
    pub model: String,
}

impl Way {
    fn of(trial: &Trial) -> Self {
        Self {
            engine: trial.engine.clone(),
            strategy: trial.strategy.clone(),
            label: trial.label.clone(),
            model: trial.model.clone(),
        }
    }

    /// A short name: the strategy, the engine if it is not ours, and the label of the settings.
    pub fn name(&self) -> String {
        let strategy = match (self.engine.as_str(), self.strategy.as_str()) {
            ("spelunk", strategy) => strategy.to_owned(),
            (engine, strategy) if engine == strategy => engine.to_owned(),
            (engine, strategy) => format!("{engine} {strategy}"),
        };
        self.label.as_ref().map_or_else(|| strategy.clone(), |label| format!("{strategy} ({label})"))
    }
}

/// Figures of a group of trials.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Figures {
    pub n: usize,
    pub score: Interval,
    /// The share of fully right answers.
    pub right: Interval,
    /// Tokens of each trial, input and output.
    pub tokens: Vec<f64>,
    /// The mean number of calls.
    pub calls: f64,
    /// The median time.
    pub wall_ms: f64,
    pub cost_microusd: u64,
    pub n_right: usize,
    /// The median relative error of numbers.
    pub off: Option<f64>,
    /// Failure classes and their counts.
    pub failures: BTreeMap<&'static str, usize>,
    /// What the answers are worth.
    pub outcomes: BTreeMap<Outcome, usize>,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "tokens and times are far below 2^52")]
    fn of(trials: &[&Trial], seed: &str) -> Self {
        let n_right = trials.iter().filter(|trial| trial.is_right()).count();
        let scores: Vec<f64> = trials.iter().map(|trial| trial.score.unwrap_or_default()).collect();
        let walls: Vec<f64> = trials.iter().map(|trial| trial.wall_ms as f64).collect();
        let calls: Vec<f64> = trials.iter().map(|trial| trial.calls as f64).collect();
        let offs: Vec<f64> = trials.iter().filter_map(|trial| trial.off).collect();
        let mut failures = BTreeMap::new();
        for failure in trials.iter().filter_map(|trial| trial.failure) {
            *failures.entry(Failure::name(failure)).or_insert(0) += 1;
        }
        let mut outcomes = BTreeMap::new();
        for trial in trials {
            *outcomes.entry(Outcome::recorded(trial)).or_insert(0) += 1;
        }
        Self {
            n: trials.len(),
            score: bootstrap(&scores, seed),
            right: wilson(n_right, trials.len()),
            tokens: trials.iter().map(|trial| trial.tokens_used() as f64).collect(),
            calls: mean(&calls),
            wall_ms: quantile(&walls, 500),
            cost_microusd: trials.iter().map(|trial| trial.cost_microusd).sum(),
            n_right,
            off: (!offs.is_empty()).then(|| quantile(&offs, 500)),
            failures,
            outcomes,
        }
    }

    /// Tokens spent per fully right answer; `None` if there is no such answer.
    #[expect(clippy::cast_precision_loss, reason = "trials are few")]
    pub fn tokens_per_right(&self) -> Option<f64> {
        (self.n_right > 0).then(|| self.tokens.iter().sum::<f64>() / self.n_right as f64)
    }

    /// Millionths of a dollar spent per fully right answer.
    #[expect(clippy::cast_precision_loss, reason = "costs are far below 2^52")]
    pub fn microusd_per_right(&self) -> Option<f64> {
        (self.n_right > 0 && self.cost_microusd > 0).then(|| self.cost_microusd as f64 / self.n_right as f64)
    }
}

/// The figures of one way of answering: overall and by group.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The way of answering.
    pub way: Way,
    /// Over all trials.
    pub all: Figures,
    /// By size, ascending.
    pub by_size: BTreeMap<u64, Figures>,
    /// By kind.
    pub by_kind: BTreeMap<String, Figures>,
    /// By kind and variant, of trials whose variant is known.
    pub by_variant: BTreeMap<Vec<String>, Figures>,
    /// By the question's language, if it is known.
    pub by_language: BTreeMap<Vec<String>, Figures>,
}

/// All ways.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Sorted by name.
    pub rows: Vec<Row>,
    /// Trials that ended in an outage; they are not part of any figure.
    pub n_outages: usize,
    /// Trials that could not be scored, because their task is unknown.
    pub n_unscored: usize,
}

impl Summary {
    /// Of these trials.
    pub fn of(trials: &[Trial]) -> Self {
        let mut groups: BTreeMap<Way, Vec<&Trial>> = BTreeMap::new();
        let (mut n_outages, mut n_unscored) = (0, 0);
        for trial in trials {
            if trial.status == Status::Outage {
                n_outages += 1;
            } else if trial.score.is_none() {
                n_unscored += 1;
            } else {
                groups.entry(Way::of(trial)).or_default().push(trial);
            }
        }
        let rows = groups.into_iter().map(|(way, trials)| Row::of(way, &trials)).collect();
        Self { rows, n_outages, n_unscored }
    }
}

impl Row {
    fn of(way: Way, trials: &[&Trial]) -> Self {
        let seed = format!("{way:?}");
        Self {
            all: Figures::of(trials, &seed),
            by_size: grouped(trials, &seed, |trial| Some(trial.tokens)),
            by_kind: grouped(trials, &seed, |trial| Some(trial.kind.clone())),
            by_variant: grouped(trials, &seed, |trial| {
                (!trial.variant.is_empty()).then(|| vec![trial.kind.clone(), trial.variant.clone()])
            }),
            by_language: grouped(trials, &seed, |trial| {
                (!trial.language.is_empty()).then(|| vec![trial.language.clone()])
            }),
            way,
        }
    }
}

fn grouped<K: Ord>(trials: &[&Trial], seed: &str, key: fn(&Trial) -> Option<K>) -> BTreeMap<K, Figures> {
    let mut groups: BTreeMap<K, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        if let Some(key) = key(trial) {
            groups.entry(key).or_default().push(trial);
        }
    }
    groups.into_iter().map(|(key, group)| (key, Figures::of(&group, seed))).collect()
}
