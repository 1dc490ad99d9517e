//! A frame's view of the budget.

use std::time::Duration;

use serde_json::json;
use spelunk_model::Prompt;
use spelunk_types::{ErrorCode, Explain};

use super::Frame;
use crate::limits::estimate;
use crate::{BudgetExceeded, Result};

impl Frame {
    /// The remaining budget, for the model. It varies between processes, so use it through [`Frame::observe`].
    pub(crate) fn budget_left(&self) -> serde_json::Value {
        let (calls, tokens, cost_microusd) = self.run().budget.left();
        let limits = self.limits();
        // Amounts in micro-dollars are far below the precision limit of a float.
        #[expect(clippy::cast_precision_loss, reason = "an amount to read, not to count with")]
        let dollars = cost_microusd as f64 / 1e6;
        json!({
            "calls": calls,
            "tokens": tokens,
            "dollars": dollars,
            "depth": limits.depth_max.saturating_sub(u64::from(self.id().depth())),
            "cell_calls_max": limits.cell_calls_max,
            "query_chars_max": limits.query_chars_max,
        })
    }

    /// Whether so little time is left that the frame should conclude.
    fn is_time_short(&self) -> Option<BudgetExceeded> {
        let value = self.limits().run_ms_max;
        let is_short = tokio::time::Instant::now() + Duration::from_millis(value / 10) >= self.run().ends_at;
        is_short.then_some(BudgetExceeded { limit: "run_ms_max", value })
    }

    /// Why the next call must be the last, if budget or time is nearly exhausted. On replay the
    /// recorded decision is repeated.
    pub(crate) async fn must_conclude(&self, next: &Prompt) -> Result<Option<ErrorCode>> {
        if let Some(was_turn) = self.next_call_was(next) {
            let recorded = || self.run().replay.limited(self.id()).unwrap_or(ErrorCode::CallsExhausted);
            return Ok((!was_turn).then(recorded));
        }
        let Some(exceeded) = self.unaffordable(2, next).or_else(|| self.is_time_short()) else {
            return Ok(None);
        };
        self.post_limit(&exceeded).written().await?;
        Ok(Some(exceeded.code()))
    }

    /// Refuses planned work if there is no time for it: the rest is for merging results. A recorded
    /// call is never refused, whatever the clock says now.
    pub(crate) async fn require_time(&self, prompt: &Prompt) -> Result<()> {
        if self.next_call_was(prompt).is_some() {
            return Ok(());
        }
        let Some(exceeded) = self.is_time_short() else { return Ok(()) };
        self.tell_limit(&exceeded).await?;
        let message = format!("`limits.run_ms_max` is {}", exceeded.value);
        Err(self.failure(ErrorCode::TimeExhausted, message))
    }

    fn unaffordable(&self, n_calls: u64, prompt: &Prompt) -> Option<BudgetExceeded> {
        let (calls, tokens, cost_microusd) = self.run().budget.left();
        let (limits, one) = (self.limits(), estimate::at_most(self.model().as_ref(), prompt));
        let wanted = [
            ("calls_max", limits.calls_max, n_calls, calls),
            ("tokens_max", limits.tokens_max, one.tokens().saturating_mul(n_calls), tokens),
            (
                "cost_microusd_max",
                limits.cost_microusd_max,
                one.cost_microusd.saturating_mul(n_calls),
                cost_microusd,
            ),
        ];
        let (limit, value, ..) = wanted.into_iter().find(|(_, _, wanted, left)| wanted > left)?;
        Some(BudgetExceeded { limit, value })
    }
}
