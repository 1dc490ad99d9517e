//! Halving: used when a model's window turns out to be shorter than assumed. The oldest turns are
//! dropped, then the middles of long messages; no summary is requested, because that prompt would
//! not fit either. The data itself remains in variables, files and documents.

use spelunk_model::{Message, Part, Speaker};

use super::{
    MESSAGE_CHARS_MIN, SUMMARY_HEAD, Transcript, TranscriptLimits, cut, message_tokens, previous_turn,
    tokens_of,
};

/// Messages are not truncated below this: the rest would be meaningless.
const CUT_CHARS_MIN: u64 = 200;
/// Minimum tokens for turns, whatever the window.
const TURNS_TOKENS_MIN: u64 = 1_000;

const LEFT_OUT: &str = "(They no longer fit and were dropped.)";
const LEFT_OUT_REPLY: &str = "Turns before this point were dropped: they exceeded your context window. Variables and files are unchanged. Print less from now on, and continue.";

impl Transcript {
    /// Halves the transcript and its limits from then on. False if nothing is left to remove.
    pub(crate) fn halve(&mut self) -> bool {
        let n_before = self.tokens();
        let tokens_max = n_before / 2;
        self.leave_out_turns(tokens_max);
        self.cut_turns(tokens_max);
        self.cut_first(tokens_max);
        let n_fixed = self.tokens().saturating_sub(tokens_of(&self.turns));
        let floor = n_fixed.saturating_add(TURNS_TOKENS_MIN);
        let prompt_tokens_max = self.limits.prompt_tokens_max.min(tokens_max.max(floor));
        self.limits = TranscriptLimits { prompt_tokens_max, ..self.limits }.narrowed();
        self.tokens() < n_before
    }

    /// Drops the oldest turns until it fits; a summary and the last turn stay.
    fn leave_out_turns(&mut self, tokens_max: u64) {
        let first = if self.is_compacted { 2 } else { 0 };
        let last = previous_turn(&self.turns, self.turns.len());
        let n_fixed = self.tokens().saturating_sub(tokens_of(&self.turns));
        let n_kept = |from: usize| {
            let kept = self.turns.iter().take(first).chain(self.turns.iter().skip(from));
            kept.map(message_tokens).fold(n_fixed, u64::saturating_add)
        };
        let is_start =
            |idx: &usize| self.turns.get(*idx).is_some_and(|message| message.speaker == Speaker::Assistant);
        let from = (first..=last).filter(is_start).find(|from| *from >= last || n_kept(*from) <= tokens_max);
        let Some(from) = from.filter(|from| *from > first) else { return };
        let kept = self.turns.split_off(from);
        self.turns.truncate(first);
        if !self.is_compacted {
            self.turns.push(Message::assistant(format!("{SUMMARY_HEAD}{LEFT_OUT}")));
            self.turns.push(Message::user(""));
            self.is_compacted = true;
        }
        if let Some(reply) = self.turns.last_mut() {
            LEFT_OUT_REPLY.clone_into(&mut reply.text);
        }
        self.turns.extend(kept);
    }

    fn cut_turns(&mut self, tokens_max: u64) {
        let whole = self.turns.clone();
        let mut chars_max = whole.iter().map(chars_of).max().unwrap_or_default();
        while self.tokens() > tokens_max && chars_max > CUT_CHARS_MIN {
            chars_max = (chars_max / 2).max(CUT_CHARS_MIN);
            self.turns = whole.iter().map(|message| shortened(message, chars_max)).collect();
        }
    }

    fn cut_first(&mut self, tokens_max: u64) {
        let whole = self.first_user.clone();
        let mut chars_max = chars_of(&whole);
        while self.tokens() > tokens_max && chars_max > MESSAGE_CHARS_MIN {
            chars_max = (chars_max / 2).max(MESSAGE_CHARS_MIN);
            self.first_user = shortened(&whole, chars_max);
        }
    }
}

/// Upper bound on the characters of the longest item in a message: its bytes.
fn chars_of(message: &Message) -> u64 {
    let of_part = |part: &Part| match part {
        Part::ToolCall(call) => call.arguments.len(),
        Part::ToolResult(result) => result.text.len(),
        Part::Image(_) => 0,
    };
    message.parts.iter().map(of_part).fold(message.text.len(), usize::max) as u64
}

fn shortened(message: &Message, chars_max: u64) -> Message {
    let of_part = |part: &Part| match part {
        Part::ToolCall(call) => Part::ToolCall(super::bounded_call(call.clone(), chars_max)),
        Part::ToolResult(result) => {
            let mut result = result.clone();
            result.text = cut(&result.text, chars_max);
            Part::ToolResult(result)
        }
        Part::Image(image) => Part::Image(image.clone()),
    };
    let parts = message.parts.iter().map(of_part).collect();
    Message { speaker: message.speaker, text: cut(&message.text, chars_max), parts }
}

#[cfg(test)]
mod tests;
