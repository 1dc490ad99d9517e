//! Compares two sets of results, trial by trial: same task, strategy and repeat. Pairs are more informative than two
//! means, because tasks differ more than engines do.

use std::collections::BTreeMap;

use crate::stats::{Interval, bootstrap, mean};
use crate::wire::{Status, Trial};

/// What changed for one strategy.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Difference {
    /// The strategy and model.
    pub label: String,
    pub n: usize,
    pub before: f64,
    pub after: f64,
    pub score: Interval,
    /// The change in total tokens, as a factor.
    pub tokens_factor: Option<f64>,
    /// Tasks that are fully right now and were not before.
    pub won: usize,
    /// Tasks that were fully right before and are not now.
    pub lost: usize,
}

/// How trials are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// By task, strategy, label, model and repeat, to compare two versions.
    SameWay,
    /// By task and repeat alone, to compare two strategies.
    AnyWay,
}

/// What changed between two sets of results.
pub fn compare(before: &[Trial], after: &[Trial], pairing: Pairing) -> Vec<Difference> {
    let counts = |trial: &&Trial| trial.score.is_some() && trial.status != Status::Outage;
    let mut earlier: BTreeMap<(String, u64, String), Vec<&Trial>> = BTreeMap::new();
    for trial in before.iter().filter(counts) {
        earlier.entry(key(trial, pairing)).or_default().push(trial);
    }
    let mut pairs: BTreeMap<String, Vec<(&Trial, &Trial)>> = BTreeMap::new();
    for new in after.iter().filter(counts) {
        for old in earlier.get(&key(new, pairing)).into_iter().flatten() {
            let label = match pairing {
                Pairing::SameWay => way(new),
                Pairing::AnyWay => format!("{} → {}", way(old), way(new)),
            };
            pairs.entry(label).or_default().push((*old, new));
        }
    }
    pairs.into_iter().map(|(label, pairs)| Difference::of(label, &pairs)).collect()
}

fn way(trial: &Trial) -> String {
    let label = trial.label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
    format!("{} {}{label} {}", trial.engine, trial.strategy, trial.model)
}

fn key(trial: &Trial, pairing: Pairing) -> (String, u64, String) {
    let how = match pairing {
        Pairing::SameWay => way(trial),
        Pairing::AnyWay => String::new(),
    };
    (trial.task.clone(), trial.repeat, how)
}

impl Difference {
    #[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
    fn of(label: String, pairs: &[(&Trial, &Trial)]) -> Self {
        let score = |trial: &Trial| trial.score.unwrap_or_default();
        let before: Vec<f64> = pairs.iter().map(|(old, _)| score(old)).collect();
        let after: Vec<f64> = pairs.iter().map(|(_, new)| score(new)).collect();
        let differences: Vec<f64> = before.iter().zip(&after).map(|(old, new)| new - old).collect();
        let sum = |of: fn(&(&Trial, &Trial)) -> u64| pairs.iter().map(of).sum::<u64>();
        let (old, new) = (sum(|pair| pair.0.tokens_used()), sum(|pair| pair.1.tokens_used()));
        Self {
            n: pairs.len(),
            before: mean(&before),
            after: mean(&after),
            score: bootstrap(&differences, &label),
            tokens_factor: (old > 0).then(|| new as f64 / old as f64),
            won: pairs.iter().filter(|(old, new)| !old.is_right() && new.is_right()).count(),
            lost: pairs.iter().filter(|(old, new)| old.is_right() && !new.is_right()).count(),
            label,
        }
    }
}
