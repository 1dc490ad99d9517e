//! Estimated sizes of prompts and messages. They affect the course of a run, so they do not depend on the model.

use spelunk_model::{Message, Part, Prompt, estimate_tokens};

/// Estimates the tokens of a prompt.
pub(crate) fn prompt_tokens(prompt: &Prompt) -> u64 {
    let of_messages: u64 = prompt.messages.iter().map(message_tokens).sum();
    let of_tools =
        prompt.tools.iter().map(|tool| estimate_tokens(&tool.description) + TOOL_TOKENS).sum::<u64>();
    estimate_tokens(&prompt.system).saturating_add(of_messages).saturating_add(of_tools)
}

/// Rough size of a tool's schema: the same few fields each time.
const TOOL_TOKENS: u64 = 100;

/// Estimates the tokens of a message, including its tool calls and results.
pub(crate) fn message_tokens(message: &Message) -> u64 {
    let of_part = |part: &Part| match part {
        Part::ToolCall(call) => estimate_tokens(&call.name) + estimate_tokens(&call.arguments),
        Part::ToolResult(result) => estimate_tokens(&result.text),
    };
    message.parts.iter().map(of_part).fold(estimate_tokens(&message.text), u64::saturating_add)
}
