//! The scripted model of the demo: fixed replies, streamed at the speed of a fast model.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use spelunk_model::{Model, ModelDelta, ModelError, ModelStream, Price, Prompt, estimate_tokens};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

/// The provider name that distinguishes a scripted model from a real one.
pub(super) const PROVIDER: &str = "scripted";

const PIECES: usize = 6;

/// The replies, by call and document, and the delay of each piece.
const REPLIES: [(&str, &str, u64); 4] = [
    (
        "name=\"deploys.csv\"",
        "Billing 2.0.0 dropped the v1 token audience at 09:42; the gateway followed only at 10:17.\n\n```evidence\ndeploys.csv:3: drop v1 token audience\ndeploys.csv:4: use v2 token audience\n```",
        40,
    ),
    (
        "name=\"gateway.log\"",
        "From 09:42 to 10:17 billing-v2 refused the gateway's tokens, because their audience was still billing-v1.\n\n```evidence\ngateway.log:3: token audience \"billing-v1\" not accepted\ngateway.log:7: config reloaded: billing.audience=billing-v2\n```",
        60,
    ),
    (
        "name=\"runbook.md\"",
        "The runbook asks for the gateway first and billing second.\n\n```evidence\nrunbook.md:10: Doing it the other way round breaks every checkout until the gateway follows.\n```",
        120,
    ),
    (
        "Findings:",
        "Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.",
        60,
    ),
];

/// A model that returns fixed replies.
pub(super) struct ScriptedModel {
    reference: ModelRef,
}

impl ScriptedModel {
    pub(super) fn new() -> Self {
        let (provider, name) = (PROVIDER.to_owned(), "demo".to_owned());
        Self { reference: ModelRef { provider, name, base_url: "inside the program".into() } }
    }
}

impl Model for ScriptedModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    /// A made-up price, so that the demo shows costs.
    fn price(&self) -> Option<Price> {
        let (input, cached, output) = (1_000_000, 100_000, 5_000_000);
        Some(Price {
            input_microusd_per_mtok: input,
            cached_microusd_per_mtok: cached,
            cache_write_microusd_per_mtok: input,
            output_microusd_per_mtok: output,
            above: None,
        })
    }

    fn stream(&self, prompt: &Prompt, _call: &CallId) -> ModelStream {
        let asked = prompt.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
        let Some((_, reply, delay_ms)) = REPLIES.iter().find(|(mark, ..)| asked.contains(mark)) else {
            let refused = ModelError::RequestRefused { status: 418, detail: "not in the script".into() };
            return Box::pin(stream::iter([Err(refused)]));
        };
        let usage = Usage {
            input_tokens: estimate_tokens(&prompt.system) + estimate_tokens(asked),
            output_tokens: estimate_tokens(reply),
            ..Usage::default()
        };
        let done = ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) };
        let deltas = pieces(reply).into_iter().map(ModelDelta::Text).chain([done]);
        let delay = Duration::from_millis(*delay_ms);
        Box::pin(stream::iter(deltas.collect::<Vec<_>>()).then(move |delta| async move {
            tokio::time::sleep(delay).await;
            Ok(delta)
        }))
    }
}

fn pieces(reply: &str) -> Vec<String> {
    let words: Vec<&str> = reply.split_inclusive(' ').collect();
    words.chunks(words.len().div_ceil(PIECES).max(1)).map(<[&str]>::concat).collect()
}
