//! What a frame may know of the purse.

use std::time::Duration;

use serde_json::json;
use spelunk_model::Prompt;
use spelunk_types::ErrorCode;

use super::Frame;
use crate::{FrameError, estimate};

impl Frame {
    /// What is left, for the model to read. Not the same each time: go through [`Frame::observe`].
    pub(crate) fn budget_left(&self) -> serde_json::Value {
        let (calls, tokens, cost_microusd) = self.run().purse.left();
        let limits = self.limits();
        // Micro-dollars stay far below the precision of a float.
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

    /// Whether so little time is left that the frame should come to its end.
    pub(crate) fn is_time_short(&self) -> bool {
        let run = self.run();
        let reserve = Duration::from_millis(self.limits().run_ms_max / 10);
        tokio::time::Instant::now() + reserve >= run.ends_at
    }

    /// Why the next call must be the last, where money or time is nearly spent. The decision is recorded, so a resumed
    /// run concludes in the same place and for the same reason.
    pub(crate) async fn must_conclude(&self, next: &Prompt) -> Result<Option<ErrorCode>, FrameError> {
        const WHAT: &str = "concludes";
        let code = match self.next_call_was(next) {
            Some(true) => return Ok(None),
            // Older journals do not say why.
            Some(false) if !self.observes_next(WHAT) => return Ok(Some(ErrorCode::CallsExhausted)),
            Some(false) => ErrorCode::CallsExhausted,
            None if self.observes_next(WHAT) || !self.affords_calls(2, next) => ErrorCode::CallsExhausted,
            None if self.is_time_short() => ErrorCode::TimeExhausted,
            None => return Ok(None),
        };
        let recorded = self.observe(WHAT, async move { Ok(code.to_string()) }).await?;
        let is_time = recorded == ErrorCode::TimeExhausted.to_string();
        Ok(Some(if is_time { ErrorCode::TimeExhausted } else { ErrorCode::CallsExhausted }))
    }

    /// Refuses planned work where there is no time for it: what is left is for putting the rest together. A call on
    /// record was made, whatever the clock says now.
    pub(crate) fn require_time(&self, prompt: &Prompt) -> Result<(), FrameError> {
        if self.next_call_was(prompt).is_some() || !self.is_time_short() {
            return Ok(());
        }
        let message = format!("`limits.run_ms_max` is {}", self.limits().run_ms_max);
        Err(FrameError::Child { frame: self.id().clone(), code: ErrorCode::TimeExhausted, message })
    }

    /// Whether that many calls as long as this prompt could still be paid.
    pub(crate) fn affords_calls(&self, n_calls: u64, prompt: &Prompt) -> bool {
        let (calls, tokens, cost_microusd) = self.run().purse.left();
        let one = estimate::at_most(self.model().as_ref(), prompt);
        calls >= n_calls
            && tokens >= one.tokens().saturating_mul(n_calls)
            && cost_microusd >= one.cost_microusd.saturating_mul(n_calls)
    }
}
