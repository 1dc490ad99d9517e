//! The scripted model of the demo: fixed replies, streamed at the speed of a fast model.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use spelunk_model::{Model, ModelDelta, ModelError, ModelFacts, ModelStream, Price, Prompt, estimate_tokens};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

/// The provider name that distinguishes a scripted model from a real one.
pub(super) const PROVIDER: &str = "scripted";

const PIECES: usize = 6;

const DELAY: Duration = Duration::from_millis(60);

const REPLIES: [(&str, &str); 5] = [
    (
        "0#0",
        "I look for errors first.\n\n```repl\nerrors = grep(\"ERROR\")\nfor hit in errors:\n    print(hit[\"doc\"], hit[\"line\"], hit[\"text\"])\n```",
    ),
    (
        "0#1",
        "Billing refuses the gateway's tokens. A child reads the deployments.\n\n```repl\nchange = rlm_query(\"What was deployed when the errors began at 09:42, and what ended them?\", \"deploys.csv\")\nprint(change)\n```",
    ),
    (
        "0.0#0",
        "```repl\nfor line in context.splitlines():\n    if \"2026-03-03\" in line:\n        print(line)\n```",
    ),
    (
        "0.0#1",
        "```repl\nFINAL(\"Billing 2.0.0 dropped the v1 token audience at 09:42; the gateway followed only at 10:17.\", cite=grep(\"token audience\"))\n```",
    ),
    (
        "0#2",
        "```repl\nevidence = errors[:1] + grep(\"token audience\", doc=\"deploys.csv\") + grep(\"other way round\")\nFINAL(\"Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.\", cite=evidence)\n```",
    ),
];

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
    fn facts(&self) -> ModelFacts {
        let (input, cached, output) = (1_000_000, 100_000, 5_000_000);
        let price = Some(Price {
            input_microusd_per_mtok: input,
            cached_microusd_per_mtok: cached,
            cache_write_microusd_per_mtok: input,
            output_microusd_per_mtok: output,
            above: None,
        });
        ModelFacts { price, ..ModelFacts::default() }
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let call = call.to_string();
        let Some((_, reply)) = REPLIES.iter().find(|(known, _)| *known == call) else {
            let refused = ModelError::RequestRefused { status: 418, detail: "not in the script".into() };
            return Box::pin(stream::iter([Err(refused)]));
        };
        let asked = prompt.messages.iter().map(|message| estimate_tokens(&message.text)).sum::<u64>();
        let usage = Usage {
            input_tokens: estimate_tokens(&prompt.system) + asked,
            output_tokens: estimate_tokens(reply),
            ..Usage::default()
        };
        let done = ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) };
        let deltas = pieces(reply).into_iter().map(ModelDelta::Text).chain([done]);
        Box::pin(stream::iter(deltas.collect::<Vec<_>>()).then(|delta| async move {
            tokio::time::sleep(DELAY).await;
            Ok(delta)
        }))
    }
}

fn pieces(reply: &str) -> Vec<String> {
    let words: Vec<&str> = reply.split_inclusive(' ').collect();
    words.chunks(words.len().div_ceil(PIECES).max(1)).map(<[&str]>::concat).collect()
}
