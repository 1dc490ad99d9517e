//! Attempts: one request at a time, bounded in time, and the one policy for trying again. Adapters never retry.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use spelunk_model::{Feature, Model, ModelError, ModelStream, Prompt, Reply, collect};
use spelunk_types::{CallId, Limits};
use tokio::time::timeout;

/// Sends one request and reads its whole reply, or gives up at `call_ms_max` or `call_idle_ms_max`. A model inside this
/// process is only held to the second, and gives signs of life: how long it takes depends on the machine.
pub(crate) async fn attempt(
    model: &dyn Model,
    prompt: &Prompt,
    call: &CallId,
    limits: &Limits,
    on_text: impl FnMut(&str),
) -> Result<Reply, ModelError> {
    let patient = bound_idle(model.stream(prompt, call), limits.call_idle_ms_max);
    let whole = collect(patient, limits.reply_bytes_max, on_text);
    if model.computes_here() {
        return whole.await;
    }
    match timeout(Duration::from_millis(limits.call_ms_max), whole).await {
        Ok(reply) => reply,
        Err(_) => Err(ModelError::TimedOut { after_ms: limits.call_ms_max }),
    }
}

/// Whether the provider says that it cannot hold this model to a schema.
pub(crate) fn refuses_schema(error: &ModelError) -> bool {
    matches!(error, ModelError::FeatureRefused { feature: Feature::Schema, .. })
}

/// How long to wait before another attempt; `None` if there is to be none. `n_failed` counts from 1.
pub(crate) fn wait_ms(error: &ModelError, call: &CallId, n_failed: u32, limits: &Limits) -> Option<u64> {
    if !error.is_transient() || u64::from(n_failed) > limits.retries_max {
        return None;
    }
    let asked = error.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    let doubled = limits.retry_wait_ms_min.saturating_mul(1 << (n_failed - 1).min(20));
    let wait = asked.unwrap_or_else(|| jittered(doubled, call, n_failed));
    Some(wait.min(limits.retry_wait_ms_max))
}

/// Between half and all of `wait_ms`, spread by call so that parallel calls do not return together, and the same for
/// the same call, so that tests need no dice.
fn jittered(wait_ms: u64, call: &CallId, n_failed: u32) -> u64 {
    let hash = blake3::hash(format!("{call} {n_failed}").as_bytes());
    let share = u64::from(hash.as_bytes()[0]);
    wait_ms / 2 + (wait_ms / 2).saturating_mul(share) / 255
}

fn bound_idle(deltas: ModelStream, idle_ms_max: u64) -> ModelStream {
    let idle = Duration::from_millis(idle_ms_max);
    Box::pin(stream::unfold(Some(deltas), move |deltas| async move {
        let mut deltas = deltas?;
        match timeout(idle, deltas.next()).await {
            Ok(delta) => delta.map(|delta| (delta, Some(deltas))),
            Err(_) => Some((Err(ModelError::TimedOut { after_ms: idle_ms_max }), None)),
        }
    }))
}

#[cfg(test)]
mod tests;
