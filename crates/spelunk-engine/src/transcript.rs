//! The conversation of a frame that takes turns. It is append-only, because providers cache the beginning of
//! a prompt, except for a compaction or halving, which keeps the system prompt and the first message. A turn
//! is a reply and the message after it. Speakers alternate, and every message is bounded.

mod halve;

use spelunk_model::{Message, Part, Prompt, Speaker, Tool, ToolCall, estimate_tokens};
use spelunk_types::Limits;

use crate::limits::estimate;

/// How many of the last turns a compaction keeps, if they fit.
const KEPT_TURNS_MAX: usize = 3;
/// The most cell outputs that one message to the model may contain.
const OUTPUTS_MAX: u64 = 8;
/// Messages are never truncated below this.
const MESSAGE_CHARS_MIN: u64 = 2_000;

/// Rough size of a tool's schema: the same few fields each time.
const TOOL_TOKENS: u64 = 100;

const SUMMARY_HEAD: &str = "Summary of my earlier turns:\n";
const SUMMARY_REPLY: &str =
    "Your summary replaces the turns before this point. All variables keep their values. Continue.";
/// Providers reject a message without text.
const NOTHING: &str = "(nothing)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TranscriptLimits {
    /// Estimated tokens of the whole prompt above which it is compacted.
    pub(crate) prompt_tokens_max: u64,
    pub(crate) output_chars_max: u64,
}

impl TranscriptLimits {
    /// The limits of the run, reduced to what fits next to the rest of a prompt.
    pub(crate) fn within(limits: &Limits, room_tokens: u64) -> Self {
        let prompt_tokens_max = limits.transcript_tokens_max.min(room_tokens);
        let bounds = Self { prompt_tokens_max, output_chars_max: limits.stdout_chars_max };
        if room_tokens < limits.transcript_tokens_max { bounds.narrowed() } else { bounds }
    }

    /// One message may take at most half of the prompt; a token is about four characters.
    fn narrowed(self) -> Self {
        let share =
            (self.prompt_tokens_max.saturating_mul(2) / OUTPUTS_MAX).max(MESSAGE_CHARS_MIN / OUTPUTS_MAX);
        Self { output_chars_max: self.output_chars_max.min(share), ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    system: String,
    first_user: Message,
    /// Replies and the messages after them, alternating.
    turns: Vec<Message>,
    /// Whether the first turn is a summary.
    is_compacted: bool,
    limits: TranscriptLimits,
}

impl Transcript {
    pub(crate) fn new(system: String, first_user: String, limits: TranscriptLimits) -> Self {
        let first_user = Message::user(first_user);
        Self { system, first_user, turns: Vec::new(), is_compacted: false, limits }
    }

    pub(crate) fn set_system(&mut self, system: String) {
        debug_assert!(self.turns.is_empty(), "a conversation has begun");
        self.system = system;
    }

    pub(crate) fn push_reply(&mut self, text: &str) {
        let text = cut(text, self.reply_chars_max());
        self.push(Speaker::Assistant, text);
    }

    pub(crate) fn push_calls(&mut self, text: &str, calls: Vec<Part>) {
        let text = cut(text, self.reply_chars_max());
        let chars_max = self.reply_chars_max();
        let bounded = |part| match part {
            Part::ToolCall(call) => Part::ToolCall(bounded_call(call, chars_max)),
            part @ (Part::ToolResult(_) | Part::Image(_)) => part,
        };
        self.turns.push(Message::assistant(text).with_parts(calls.into_iter().map(bounded)));
    }

    /// Appends tool results and a message. The caller bounds the length of the results.
    pub(crate) fn push_results(&mut self, results: Vec<Part>, text: String) {
        self.turns.push(Message::user(text).with_parts(results));
    }

    pub(crate) fn push_user(&mut self, text: String) {
        let chars_max = self.limits.output_chars_max.saturating_mul(OUTPUTS_MAX).max(MESSAGE_CHARS_MIN);
        let text = if text.len() as u64 > chars_max { cut(&text, chars_max) } else { text };
        self.push(Speaker::User, text);
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        std::iter::once(&self.first_user).chain(&self.turns).cloned().collect()
    }

    pub(crate) fn prompt(&self, output_tokens_max: u64) -> Prompt {
        Prompt {
            system: self.system.clone(),
            messages: self.messages(),
            output_tokens_max,
            ..Prompt::default()
        }
    }

    pub(crate) fn tokens(&self) -> u64 {
        let fixed = estimate_tokens(&self.system).saturating_add(estimate_tokens(&self.first_user.text));
        fixed.saturating_add(tokens_of(&self.turns))
    }

    /// Whether it is too long and a compaction would drop a turn that was not summarised before.
    pub(crate) fn needs_compaction(&self) -> bool {
        let n_new = self.kept_from().saturating_sub(if self.is_compacted { 2 } else { 0 });
        self.tokens() > self.limits.prompt_tokens_max && n_new > 0
    }

    /// Replaces all turns but the last ones by a summary. The system prompt and the first message
    /// stay, so that the provider's cache still matches.
    pub(crate) fn compact(&mut self, summary: &str) {
        let kept = self.turns.split_off(self.kept_from());
        let summary = format!("{SUMMARY_HEAD}{}", cut(summary.trim(), self.reply_chars_max()));
        self.turns.clear();
        self.turns.push(Message::assistant(summary));
        self.turns.push(Message::user(SUMMARY_REPLY));
        self.turns.extend(kept);
        self.is_compacted = true;
    }

    /// The first turn that a compaction keeps: the last turn, and those before it while half of the room is left.
    fn kept_from(&self) -> usize {
        let room = self.limits.prompt_tokens_max / 2;
        let mut from = self.turns.len();
        let mut tokens = 0_u64;
        for n_kept in 0..KEPT_TURNS_MAX {
            let start = previous_turn(&self.turns, from);
            tokens = tokens.saturating_add(tokens_of(self.turns.get(start..from).unwrap_or_default()));
            if n_kept > 0 && tokens > room {
                break;
            }
            from = start;
        }
        from
    }

    fn push(&mut self, speaker: Speaker, text: String) {
        let text = worded(text);
        match self.turns.last_mut() {
            Some(last) if last.speaker == speaker => last.text += &format!("\n\n{text}"),
            None if speaker == Speaker::User => self.first_user.text += &format!("\n\n{text}"),
            Some(_) | None => self.turns.push(Message { speaker, text, parts: Vec::new() }),
        }
    }

    /// A reply may take a quarter of the prompt; a token is about four characters.
    fn reply_chars_max(&self) -> u64 {
        self.limits.prompt_tokens_max.max(MESSAGE_CHARS_MIN)
    }
}

/// A prompt with one more message, which does not become part of the conversation.
pub(crate) fn with_message(mut prompt: Prompt, said: &str) -> Prompt {
    match prompt.messages.last_mut() {
        Some(last) if last.speaker == Speaker::User => {
            let gap = if last.text.is_empty() { "" } else { "\n\n" };
            last.text += &format!("{gap}{said}");
        }
        Some(_) | None => prompt.messages.push(Message::user(said)),
    }
    prompt
}

pub(crate) fn worded(text: String) -> String {
    if text.trim().is_empty() { NOTHING.to_owned() } else { text }
}

/// The start of the turn that ends at `end`.
fn previous_turn(turns: &[Message], end: usize) -> usize {
    let before = turns.get(..end).unwrap_or_default();
    before.iter().rposition(|message| message.speaker == Speaker::Assistant).unwrap_or(0)
}

/// Truncates the arguments of a call. What it wrote is in a file, so the conversation need not contain all of it.
fn bounded_call(mut call: ToolCall, chars_max: u64) -> ToolCall {
    if call.arguments.len() as u64 > chars_max {
        call.arguments = serde_json::json!({ "cut": cut(&call.arguments, chars_max.min(500)) }).to_string();
    }
    call
}

pub(crate) fn tool_tokens(tools: &[Tool]) -> u64 {
    tools.iter().map(|tool| estimate_tokens(&tool.description) + TOOL_TOKENS).sum()
}

fn tokens_of(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

/// Sizes affect the course of a run, so they do not depend on the model.
fn message_tokens(message: &Message) -> u64 {
    estimate::message_tokens(message, estimate_tokens)
}

/// Truncates the middle of a text: keeps two thirds of the limit from the beginning and one third from the end.
pub(crate) fn cut(text: &str, chars_max: u64) -> String {
    let n_chars = text.chars().count();
    let n_shown = usize::try_from(chars_max).unwrap_or(usize::MAX);
    if n_chars <= n_shown {
        return text.to_owned();
    }
    let n_tail = n_shown / 3;
    let head: String = text.chars().take(n_shown - n_tail).collect();
    let tail: String = text.chars().skip(n_chars - n_tail).collect();
    format!("{head}\n... [{} of {n_chars} characters not shown] ...\n{tail}", n_chars - n_shown)
}

#[cfg(test)]
mod tests;
