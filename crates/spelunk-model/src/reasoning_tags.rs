//! `<think>` tags: local models write their reasoning between these tags, before the answer. They count only at the
//! very beginning; later they are ordinary text.

use crate::ModelDelta;

/// More leading whitespace than this is text.
const BLANK_BYTES_MAX: usize = 1_000;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Separates reasoning from the answer, however the text is split.
#[derive(Debug, Default)]
pub(crate) struct ReasoningTags {
    state: TagState,
    /// Text that may still become a tag.
    held: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TagState {
    /// Only whitespace and perhaps a partial tag so far.
    #[default]
    Beginning,
    Thinking,
    /// After the closing tag: whitespace before the answer is dropped.
    AfterThinking,
    Answer,
}

impl ReasoningTags {
    pub(crate) fn push(&mut self, text: String) -> Vec<ModelDelta> {
        if self.state == TagState::Answer {
            return delta(ModelDelta::Text, text);
        }
        self.held.push_str(&text);
        let mut deltas = Vec::new();
        loop {
            let before = self.state;
            deltas.extend(self.step());
            if self.state == before {
                return deltas;
            }
        }
    }

    /// Flushes the held text when the reply ends.
    pub(crate) fn finish(&mut self) -> Vec<ModelDelta> {
        let held = std::mem::take(&mut self.held);
        match self.state {
            TagState::Thinking => delta(ModelDelta::Reasoning, held),
            TagState::Beginning | TagState::Answer => delta(ModelDelta::Text, held),
            TagState::AfterThinking => Vec::new(),
        }
    }

    fn step(&mut self) -> Vec<ModelDelta> {
        match self.state {
            TagState::Beginning => {
                let begun = self.held.trim_start();
                let is_too_blank = self.held.len() - begun.len() > BLANK_BYTES_MAX;
                if let Some(rest) = begun.strip_prefix(OPEN).filter(|_| !is_too_blank) {
                    self.held = rest.to_owned();
                    self.state = TagState::Thinking;
                } else if !OPEN.starts_with(begun) || is_too_blank {
                    self.state = TagState::Answer;
                    return delta(ModelDelta::Text, std::mem::take(&mut self.held));
                }
                Vec::new()
            }
            TagState::Thinking => match self.held.split_once(CLOSE) {
                Some((thought, rest)) => {
                    let thought = thought.to_owned();
                    self.held = rest.to_owned();
                    self.state = TagState::AfterThinking;
                    delta(ModelDelta::Reasoning, thought)
                }
                None => {
                    let half_tag = self.held.split_off(self.held.len() - half_tag_len(&self.held));
                    let thought = std::mem::replace(&mut self.held, half_tag);
                    delta(ModelDelta::Reasoning, thought)
                }
            },
            TagState::AfterThinking => {
                let answer = self.held.trim_start();
                if answer.is_empty() {
                    self.held.clear();
                    return Vec::new();
                }
                let answer = answer.to_owned();
                self.held.clear();
                self.state = TagState::Answer;
                delta(ModelDelta::Text, answer)
            }
            TagState::Answer => Vec::new(),
        }
    }
}

/// The length of a possible partial closing tag at the end of the text.
fn half_tag_len(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|len| CLOSE.get(..*len).is_some_and(|half| text.ends_with(half))).unwrap_or(0)
}

fn delta(kind: impl Fn(String) -> ModelDelta, text: String) -> Vec<ModelDelta> {
    if text.is_empty() { Vec::new() } else { vec![kind(text)] }
}

#[cfg(test)]
mod tests;
