//! Attempts: single requests with timeouts, and the only retry policy. Adapters never retry.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use spelunk_model::{
    CallPlace, Feature, Model, ModelDelta, ModelError, ModelStream, Prompt, Reply, collect, estimate_tokens,
};
use spelunk_types::{CallId, Limits, RunId};
use tokio::time::timeout;

/// A wait requested by a provider is extended by up to a fifth, so that calls refused together do
/// not return together.
const SPREAD_SHARE: u64 = 5;

/// How much of a reply has arrived, including reasoning and tool calls: all of it is charged, even
/// if the rest does not arrive.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReceivedTokens(Arc<AtomicU64>);

impl ReceivedTokens {
    pub(crate) fn tokens(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn see(&self, delta: &ModelDelta) {
        let tokens = match delta {
            ModelDelta::Text(text) | ModelDelta::Reasoning(text) => estimate_tokens(text),
            ModelDelta::ToolCall(call) => estimate_tokens(&call.name) + estimate_tokens(&call.arguments),
            ModelDelta::Certainty(_) | ModelDelta::Done { .. } => 0,
        };
        self.0.fetch_add(tokens, Ordering::Relaxed);
    }
}

/// How long to wait before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// No call is sent to the model during this time.
    pub(crate) pause_ms: u64,
    /// This call waits a little longer, with jitter.
    pub(crate) wait_ms: u64,
}

/// Sends one request and reads the whole reply; times out after `call_ms_max` or `call_idle_ms_max`. A model in this
/// process has only the idle timeout, because its speed depends on the machine.
pub(crate) async fn attempt(
    (model, place): (&dyn Model, Option<CallPlace>),
    prompt: &Prompt,
    call: &CallId,
    limits: &Limits,
    seen: &ReceivedTokens,
    on_text: impl FnMut(&str),
) -> Result<Reply, ModelError> {
    let deltas = match place {
        Some(place) => place(model, prompt, call),
        None => model.stream(prompt, call),
    };
    let patient = bound_idle(deltas, limits.call_idle_ms_max, seen.clone());
    let whole = collect(patient, limits.reply_bytes_max, on_text);
    if model.facts().computes_here {
        return whole.await;
    }
    match timeout(Duration::from_millis(limits.call_ms_max), whole).await {
        Ok(reply) => reply,
        Err(_) => Err(ModelError::TimedOut { after_ms: limits.call_ms_max }),
    }
}

pub(crate) fn refuses_schema(error: &ModelError) -> bool {
    matches!(error, ModelError::FeatureRefused { feature: Feature::Schema, .. })
}

/// Whether a request without a reply may be charged: the provider had begun to answer.
pub(crate) fn may_cost(error: &ModelError, seen: &ReceivedTokens) -> bool {
    let has_answered = matches!(
        error,
        ModelError::StreamCut
            | ModelError::ReplyMalformed { .. }
            | ModelError::ReplyEmpty { .. }
            | ModelError::ReplyTooLong { .. }
    );
    has_answered || seen.tokens() > 0
}

/// How long to wait before the next attempt; `None` to give up. `n_failed` counts from 1.
pub(crate) fn wait(
    error: &ModelError,
    (run, call): (&RunId, &CallId),
    n_failed: u32,
    limits: &Limits,
) -> Option<Wait> {
    if !error.is_transient() || u64::from(n_failed) > limits.retries_max {
        return None;
    }
    let (from_ms, to_ms) = match asked_ms(error) {
        // The provider requests a longer wait than we allow, so only the jitter remains.
        Some(asked_ms) if asked_ms >= limits.retry_wait_ms_max => {
            let ms_max = limits.retry_wait_ms_max;
            (ms_max - ms_max / SPREAD_SHARE, ms_max)
        }
        Some(asked_ms) => (asked_ms, asked_ms.saturating_add(asked_ms / SPREAD_SHARE)),
        None => {
            let doubled = limits.retry_wait_ms_min.saturating_mul(1 << (n_failed - 1).min(20));
            (doubled / 2, doubled)
        }
    };
    let (from_ms, to_ms) = (from_ms.min(limits.retry_wait_ms_max), to_ms.min(limits.retry_wait_ms_max));
    Some(Wait { pause_ms: from_ms, wait_ms: between(from_ms, to_ms, &format!("{run} {call} {n_failed}")) })
}

/// For how long nothing is sent to an overloaded model.
pub(crate) fn pause_ms(error: &ModelError, limits: &Limits) -> u64 {
    asked_ms(error).unwrap_or(limits.retry_wait_ms_min).min(limits.retry_wait_ms_max)
}

fn asked_ms(error: &ModelError) -> Option<u64> {
    error.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

/// A time between the two, derived from the name: parallel calls and other runs are spread out, while tests stay
/// deterministic.
fn between(from_ms: u64, to_ms: u64, name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    let [high, low, ..] = *hash.as_bytes();
    let share = u64::from(u16::from_be_bytes([high, low]));
    let spread = u128::from(to_ms.saturating_sub(from_ms)) * u128::from(share) / u128::from(u16::MAX);
    from_ms.saturating_add(u64::try_from(spread).unwrap_or(u64::MAX))
}

fn bound_idle(deltas: ModelStream, idle_ms_max: u64, seen: ReceivedTokens) -> ModelStream {
    let idle = Duration::from_millis(idle_ms_max);
    Box::pin(stream::unfold(Some((deltas, seen)), move |left| async move {
        let (mut deltas, seen) = left?;
        match timeout(idle, deltas.next()).await {
            Ok(delta) => delta.map(|delta| {
                if let Ok(delta) = &delta {
                    seen.see(delta);
                }
                (delta, Some((deltas, seen)))
            }),
            Err(_) => Some((Err(ModelError::TimedOut { after_ms: idle_ms_max }), None)),
        }
    }))
}

#[cfg(test)]
mod tests;
