//! The budget: what a run may still spend, one for the whole tree. Spending is reserved before a request is sent, so
//! that fifty parallel calls cannot overspend together; a dropped reservation is returned. Every request counts as a
//! call, answered or not. Failed attempts are charged at once and never refunded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use spelunk_types::{ErrorCode, Explain, Limits, Usage};

use crate::sync::lock;

/// A limit that a run has reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", limit_reached(limit, *value))]
pub struct BudgetExceeded {
    /// The limit's name.
    pub limit: &'static str,
    /// Its value.
    pub value: u64,
}

impl Explain for BudgetExceeded {
    fn code(&self) -> ErrorCode {
        code_of(self.limit)
    }

    fn hint(&self) -> Option<String> {
        let higher = self.value.saturating_mul(2).max(1);
        Some(format!("raise it with `--set limits.{}={higher}`", self.limit))
    }
}

pub(crate) fn code_of(limit: &str) -> ErrorCode {
    match limit {
        "calls_max" => ErrorCode::CallsExhausted,
        "tokens_max" => ErrorCode::TokensExhausted,
        "cost_microusd_max" => ErrorCode::CostExhausted,
        _ => ErrorCode::TimeExhausted,
    }
}

pub(crate) fn is_about_spending(code: ErrorCode) -> bool {
    [
        ErrorCode::CallsExhausted,
        ErrorCode::TokensExhausted,
        ErrorCode::CostExhausted,
        ErrorCode::TimeExhausted,
    ]
    .contains(&code)
}

/// `call limit reached (5)`.
pub fn limit_reached(limit: &str, value: u64) -> String {
    match limit {
        "calls_max" => format!("call limit reached ({value})"),
        "tokens_max" => format!("token limit reached ({value})"),
        "cost_microusd_max" => format!("cost limit reached (${})", dollars(value)),
        "run_ms_max" => format!("time limit reached ({} s)", decimal(value, 1_000, 3)),
        _ => format!("limit `limits.{limit}` reached ({value})"),
    }
}

fn dollars(microusd: u64) -> String {
    decimal(microusd, 1_000_000, 6)
}

fn decimal(value: u64, unit: u64, digits: usize) -> String {
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The flag that doubles a limit, as a user would type it.
pub fn raising_flag(limit: &str, value: u64) -> String {
    let higher = value.saturating_mul(2).max(1);
    match limit {
        "calls_max" => format!("--max-calls {higher}"),
        "tokens_max" => format!("--max-tokens {higher}"),
        "cost_microusd_max" => format!("--max-cost {}", dollars(higher)),
        "run_ms_max" => format!("--max-time {}s", higher.div_ceil(1000)),
        _ => format!("--set limits.{limit}={higher}"),
    }
}

/// What is spent and what is reserved.
#[derive(Debug)]
pub struct Budget {
    calls_max: u64,
    tokens_max: u64,
    cost_microusd_max: u64,
    held: Mutex<Spending>,
}

/// Budget that sub-calls must leave, so that a frame above them can still report its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct KeptBudget {
    pub(crate) calls: u64,
    pub(crate) usage: Usage,
}

#[derive(Debug, Default)]
struct Spending {
    /// Settled and reserved.
    calls: u64,
    tokens: u64,
    cost_microusd: u64,
    /// The first refusal. Everything after it is refused too, so that nothing recorded later depends on timing.
    refused: Option<BudgetExceeded>,
}

impl Budget {
    /// A budget of which `n_calls` calls with this usage are already paid.
    pub fn new(limits: &Limits, n_calls: u64, spent: Usage) -> Arc<Self> {
        let held = Spending {
            calls: n_calls,
            tokens: spent.tokens(),
            cost_microusd: spent.cost_microusd,
            refused: None,
        };
        Arc::new(Self {
            calls_max: limits.calls_max,
            tokens_max: limits.tokens_max,
            cost_microusd_max: limits.cost_microusd_max,
            held: Mutex::new(held),
        })
    }

    /// Reserves the estimate of one call, or refuses the call.
    pub fn reserve(self: &Arc<Self>, estimate: Usage) -> Result<Reservation, BudgetExceeded> {
        self.set_aside(estimate, None)
    }

    /// Reserves the estimate of one sub-call if `kept` remains for the frames above to conclude. A refusal applies
    /// only to this call: a smaller one may still fit.
    pub(crate) fn reserve_leaving(
        self: &Arc<Self>,
        estimate: Usage,
        kept: &KeptBudget,
    ) -> Result<Reservation, BudgetExceeded> {
        self.set_aside(estimate, Some(*kept))
    }

    fn set_aside(
        self: &Arc<Self>,
        estimate: Usage,
        kept: Option<KeptBudget>,
    ) -> Result<Reservation, BudgetExceeded> {
        let mut held = lock(&self.held);
        if let Some(refused) = &held.refused {
            return Err(refused.clone());
        }
        let calls = held.calls.saturating_add(1);
        let tokens = held.tokens.saturating_add(estimate.tokens());
        let cost_microusd = held.cost_microusd.saturating_add(estimate.cost_microusd);
        if let Some(exceeded) = self.exceeded((calls, tokens, cost_microusd), kept) {
            if kept.is_none() {
                held.refused = Some(exceeded.clone());
            }
            return Err(exceeded);
        }
        (held.calls, held.tokens, held.cost_microusd) = (calls, tokens, cost_microusd);
        let (budget, is_sent) = (Arc::clone(self), AtomicBool::new(false));
        Ok(Reservation { budget, estimate, kept, is_sent, is_settled: false })
    }

    /// The first limit that these calls, tokens and micro-dollars plus `kept` would exceed.
    fn exceeded(
        &self,
        (calls, tokens, cost_microusd): (u64, u64, u64),
        kept: Option<KeptBudget>,
    ) -> Option<BudgetExceeded> {
        let kept = kept.unwrap_or_default();
        let wanted = [
            ("calls_max", calls.saturating_add(kept.calls), self.calls_max),
            ("tokens_max", tokens.saturating_add(kept.usage.tokens()), self.tokens_max),
            (
                "cost_microusd_max",
                cost_microusd.saturating_add(kept.usage.cost_microusd),
                self.cost_microusd_max,
            ),
        ];
        let (limit, _, value) = wanted.into_iter().find(|(_, wanted, max)| wanted > max)?;
        Some(BudgetExceeded { limit, value })
    }

    pub(crate) fn left(&self) -> (u64, u64, u64) {
        let (calls, tokens, cost) = self.held();
        (
            self.calls_max.saturating_sub(calls),
            self.tokens_max.saturating_sub(tokens),
            self.cost_microusd_max.saturating_sub(cost),
        )
    }

    /// Calls, tokens and micro-dollars spent or reserved.
    pub fn held(&self) -> (u64, u64, u64) {
        let held = lock(&self.held);
        (held.calls, held.tokens, held.cost_microusd)
    }

    fn exchange(&self, estimate: Usage, paid: Usage) {
        let mut held = lock(&self.held);
        held.tokens = held.tokens.saturating_sub(estimate.tokens()).saturating_add(paid.tokens());
        held.cost_microusd =
            held.cost_microusd.saturating_sub(estimate.cost_microusd).saturating_add(paid.cost_microusd);
    }
}

/// Budget reserved for the next request of one call.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    pub(crate) estimate: Usage,
    kept: Option<KeptBudget>,
    is_sent: AtomicBool,
    is_settled: bool,
}

impl Reservation {
    /// Charges the actual usage, which may exceed the reservation.
    pub fn settle(mut self, actual: Usage) {
        self.is_settled = true;
        self.budget.exchange(self.estimate, actual);
    }

    /// Marks a request as sent; true for the first one.
    pub(crate) fn send(&self) -> bool {
        !self.is_sent.swap(true, Ordering::Relaxed)
    }

    /// Charges a request that got no reply. The reservation stays, for the next attempt.
    pub(crate) fn spend(&self, wasted: Usage) {
        let mut held = lock(&self.budget.held);
        held.tokens = held.tokens.saturating_add(wasted.tokens());
        held.cost_microusd = held.cost_microusd.saturating_add(wasted.cost_microusd);
    }

    /// Takes another call for a retry, or refuses it.
    pub(crate) fn again(&self) -> Result<(), BudgetExceeded> {
        let mut held = lock(&self.budget.held);
        let wanted = (held.calls.saturating_add(1), held.tokens, held.cost_microusd);
        let Some(exceeded) = self.budget.exceeded(wanted, self.kept) else {
            held.calls = wanted.0;
            return Ok(());
        };
        if self.kept.is_none() {
            held.refused.get_or_insert_with(|| exceeded.clone());
        }
        Err(exceeded)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        self.budget.exchange(self.estimate, Usage::default());
        if !self.is_sent.load(Ordering::Relaxed) {
            let mut held = lock(&self.budget.held);
            held.calls = held.calls.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
