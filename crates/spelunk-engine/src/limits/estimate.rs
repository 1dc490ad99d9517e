//! The cost of calls: an upper bound beforehand, the reported usage afterwards, and an estimate if
//! the provider reports none. The size of a transcript is not estimated here but by the transcript,
//! since it affects the course of a run.

use spelunk_model::{
    Message, Model, Part, Prompt, Reply, estimate_tokens, estimate_tokens_high, image_tokens,
};
use spelunk_types::Usage;

type Estimate = fn(&str) -> u64;

pub(crate) fn at_most(model: &dyn Model, prompt: &Prompt) -> Usage {
    dearest(model, input_tokens(model, prompt, estimate_tokens_high), prompt.output_tokens_max)
}

pub(crate) fn dearest(model: &dyn Model, input_tokens: u64, output_tokens: u64) -> Usage {
    let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
    // Writing to a provider's cache costs more than plain input; the provider decides whether to do so.
    let written = Usage { cache_written_tokens: input_tokens, ..usage };
    let cost = |usage: &Usage| model.facts().price.map_or(0, |price| price.cost_microusd(usage));
    Usage { cost_microusd: cost(&usage).max(cost(&written)), ..usage }
}

/// The cost of a call. If the provider reports no token counts, they are estimated.
pub(crate) fn usage_of(model: &dyn Model, prompt: &Prompt, reply: &Reply) -> Usage {
    let usage = reply.usage.unwrap_or_else(|| {
        let of_calls = reply.tool_calls.iter().map(|call| [call.name.as_str(), &call.arguments]);
        let said = std::iter::once(reply.text.as_str()).chain(of_calls.flatten());
        Usage {
            input_tokens: input_tokens(model, prompt, estimate_tokens),
            output_tokens: said.map(estimate_tokens).fold(0, u64::saturating_add),
            ..Usage::default()
        }
    });
    priced(model, usage)
}

/// The cost of the tokens that a provider reported. If we know no price, the charge that the provider reports counts.
pub(crate) fn priced(model: &dyn Model, usage: Usage) -> Usage {
    if model.facts().price.is_none() && usage.cost_microusd > 0 {
        return usage;
    }
    let cost_microusd = model.facts().price.map_or(0, |price| price.cost_microusd(&usage));
    Usage { cost_microusd, ..usage }
}

/// The charge for a request without a reply: its whole prompt, and the output that arrived.
pub(crate) fn wasted(model: &dyn Model, prompt: &Prompt, seen_tokens: u64) -> Usage {
    dearest(model, input_tokens(model, prompt, estimate_tokens), seen_tokens)
}

fn input_tokens(model: &dyn Model, prompt: &Prompt, estimate: Estimate) -> u64 {
    let of_tools = prompt.tools.iter().map(|tool| {
        let said = estimate(&tool.name).saturating_add(estimate(&tool.description));
        said.saturating_add(estimate(&tool.schema.to_string()))
    });
    let of_schema = prompt.schema.iter().map(|schema| estimate(&schema.to_string()));
    let of_messages = prompt.messages.iter().map(|message| message_tokens(message, estimate));
    let parts = prompt.messages.iter().flat_map(|message| &message.parts);
    let of_images = parts.map(|part| match part {
        Part::Image(image) => image_tokens(model.reference(), image),
        Part::ToolCall(_) | Part::ToolResult(_) => 0,
    });
    of_messages
        .chain(of_tools)
        .chain(of_schema)
        .chain(of_images)
        .fold(estimate(&prompt.system), u64::saturating_add)
}

/// The tokens of a message, including its tool calls and results. Images depend on the model.
pub(crate) fn message_tokens(message: &Message, estimate: Estimate) -> u64 {
    let of_part = |part: &Part| match part {
        Part::ToolCall(call) => estimate(&call.name).saturating_add(estimate(&call.arguments)),
        Part::ToolResult(result) => estimate(&result.text),
        Part::Image(_) => 0,
    };
    message.parts.iter().map(of_part).fold(estimate(&message.text), u64::saturating_add)
}

#[cfg(test)]
mod tests;
