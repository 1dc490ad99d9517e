//! The conversation of a frame that takes turns. It only grows at its end, because providers keep the beginning of a prompt they have
//! seen before; the exception is a compaction (or a halving), which leaves the standing instruction and the first message as they
//! were. A turn is a reply and what was said to it. Speakers alternate, and no message is unbounded.

mod halve;

use spelunk_model::{Message, Part, Prompt, Speaker, ToolCall, estimate_tokens};
use spelunk_types::Limits;

use crate::frame::message_tokens;

/// How many of the last turns a compaction keeps, if they fit.
const KEPT_TURNS_MAX: usize = 3;
/// Outputs of cells that one message to the model may hold.
const OUTPUTS_MAX: u64 = 8;
/// Messages are never cut shorter than this.
const MESSAGE_CHARS_MIN: u64 = 2_000;

const SUMMARY_HEAD: &str = "Summary of my earlier turns:\n";
const SUMMARY_REPLY: &str =
    "Your summary stands in for the turns before this point. All variables keep their values. Go on.";
/// Providers refuse a message without text.
const NOTHING: &str = "(nothing)";

/// How large a transcript may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TranscriptLimits {
    /// Estimated tokens of the whole prompt, above which it is compacted.
    pub(crate) prompt_tokens_max: u64,
    /// Characters that are shown of the output of one cell.
    pub(crate) output_chars_max: u64,
}

impl TranscriptLimits {
    /// What the limits of a run say, and no more than fits beside everything else of a prompt.
    pub(crate) fn within(limits: &Limits, room_tokens: u64) -> Self {
        let prompt_tokens_max = limits.transcript_tokens_max.min(room_tokens);
        let bounds = Self { prompt_tokens_max, output_chars_max: limits.stdout_chars_max };
        if room_tokens < limits.transcript_tokens_max { bounds.narrowed() } else { bounds }
    }

    /// Everything that is said at once takes at most half of the prompt; a token is about four characters.
    fn narrowed(self) -> Self {
        let share =
            (self.prompt_tokens_max.saturating_mul(2) / OUTPUTS_MAX).max(MESSAGE_CHARS_MIN / OUTPUTS_MAX);
        Self { output_chars_max: self.output_chars_max.min(share), ..self }
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    system: String,
    first_user: Message,
    /// ReplyCache and what was said to them, in turn.
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

    /// Gives another standing instruction, before the first turn.
    pub(crate) fn set_system(&mut self, system: String) {
        debug_assert!(self.turns.is_empty(), "a conversation has begun");
        self.system = system;
    }

    /// Adds what the model said.
    pub(crate) fn push_reply(&mut self, text: &str) {
        let text = cut(text, self.reply_chars_max());
        self.push(Speaker::Assistant, text);
    }

    /// Adds what the model said, with the tools it called.
    pub(crate) fn push_calls(&mut self, text: &str, calls: Vec<Part>) {
        let text = cut(text, self.reply_chars_max());
        let chars_max = self.reply_chars_max();
        let bounded = |part| match part {
            Part::ToolCall(call) => Part::ToolCall(bounded_call(call, chars_max)),
            part @ Part::ToolResult(_) => part,
        };
        self.turns.push(Message::assistant(text).with_parts(calls.into_iter().map(bounded)));
    }

    /// Adds what came of the tools, and what else is said. Their texts are bounded by whoever ran them.
    pub(crate) fn push_results(&mut self, results: Vec<Part>, text: String) {
        self.turns.push(Message::user(text).with_parts(results));
    }

    /// Adds what is said to the model.
    pub(crate) fn push_user(&mut self, text: String) {
        let chars_max = self.limits.output_chars_max.saturating_mul(OUTPUTS_MAX).max(MESSAGE_CHARS_MIN);
        let text = if text.len() as u64 > chars_max { cut(&text, chars_max) } else { text };
        self.push(Speaker::User, text);
    }

    /// The messages, oldest first.
    pub(crate) fn messages(&self) -> Vec<Message> {
        std::iter::once(&self.first_user).chain(&self.turns).cloned().collect()
    }

    /// Everything the next request says.
    pub(crate) fn prompt(&self, output_tokens_max: u64) -> Prompt {
        Prompt {
            system: self.system.clone(),
            messages: self.messages(),
            output_tokens_max,
            ..Prompt::default()
        }
    }

    /// The tokens of the next prompt, estimated.
    pub(crate) fn tokens(&self) -> u64 {
        let fixed = estimate_tokens(&self.system).saturating_add(estimate_tokens(&self.first_user.text));
        fixed.saturating_add(tokens_of(&self.turns))
    }

    /// Whether it is too long and a compaction would drop a turn that was not summarised before.
    pub(crate) fn needs_compaction(&self) -> bool {
        let n_new = self.kept_from().saturating_sub(if self.is_compacted { 2 } else { 0 });
        self.tokens() > self.limits.prompt_tokens_max && n_new > 0
    }

    /// Puts a summary in the place of all turns but the last ones. The instruction and the first message stay, so the
    /// provider's cache still knows the beginning.
    pub(crate) fn compact(&mut self, summary: &str) {
        let kept = self.turns.split_off(self.kept_from());
        let summary = format!("{SUMMARY_HEAD}{}", cut(summary.trim(), self.reply_chars_max()));
        self.turns.clear();
        self.turns.push(Message::assistant(summary));
        self.turns.push(Message::user(SUMMARY_REPLY));
        self.turns.extend(kept);
        self.is_compacted = true;
    }

    /// Where the turns begin that a compaction keeps: the last one, and those before it while half of the room is left.
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

/// The text, or a word for none.
pub(crate) fn worded(text: String) -> String {
    if text.trim().is_empty() { NOTHING.to_owned() } else { text }
}

/// Where the turn begins that ends at `end`.
fn previous_turn(turns: &[Message], end: usize) -> usize {
    let before = turns.get(..end).unwrap_or_default();
    before.iter().rposition(|message| message.speaker == Speaker::Assistant).unwrap_or(0)
}

/// A call whose arguments are not too long. What it wrote is in its file: the conversation need not hold all of it.
fn bounded_call(mut call: ToolCall, chars_max: u64) -> ToolCall {
    if call.arguments.len() as u64 > chars_max {
        call.arguments = serde_json::json!({ "cut": cut(&call.arguments, chars_max.min(500)) }).to_string();
    }
    call
}

fn tokens_of(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

/// The beginning and the end of a text that is too long, two thirds and one third of what may be shown.
fn cut(text: &str, chars_max: u64) -> String {
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
