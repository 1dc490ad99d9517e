//! `<think>` tags: local models write their reasoning between these tags, before the answer. They count only at the
//! very beginning; later they are ordinary text.

use crate::ModelDelta;

/// More leading whitespace than this is text.
const BLANK_BYTES_MAX: usize = 1_000;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Separates reasoning from the answer, however the text is split.
#[derive(Debug)]
pub(crate) struct ReasoningTags {
    place: Place,
    /// Text that may still become a tag.
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Only whitespace and perhaps a partial tag so far.
    Beginning,
    /// Between the tags.
    Thinking,
    /// After the closing tag: whitespace before the answer is dropped.
    AfterThinking,
    /// In the answer.
    Answer,
}

impl ReasoningTags {
    pub(crate) fn new() -> Self {
        Self { place: Place::Beginning, held: String::new() }
    }

    /// Parses more text.
    pub(crate) fn push(&mut self, text: String) -> Vec<ModelDelta> {
        if self.place == Place::Answer {
            return delta(ModelDelta::Text, text);
        }
        self.held.push_str(&text);
        let mut deltas = Vec::new();
        loop {
            let before = self.place;
            deltas.extend(self.step());
            if self.place == before {
                return deltas;
            }
        }
    }

    /// Flushes the held text when the reply ends.
    pub(crate) fn finish(&mut self) -> Vec<ModelDelta> {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Thinking => delta(ModelDelta::Reasoning, held),
            Place::Beginning | Place::Answer => delta(ModelDelta::Text, held),
            Place::AfterThinking => Vec::new(),
        }
    }

    fn step(&mut self) -> Vec<ModelDelta> {
        match self.place {
            Place::Beginning => {
                let begun = self.held.trim_start();
                let is_too_blank = self.held.len() - begun.len() > BLANK_BYTES_MAX;
                if let Some(rest) = begun.strip_prefix(OPEN).filter(|_| !is_too_blank) {
                    self.held = rest.to_owned();
                    self.place = Place::Thinking;
                } else if !OPEN.starts_with(begun) || is_too_blank {
                    self.place = Place::Answer;
                    return delta(ModelDelta::Text, std::mem::take(&mut self.held));
                }
                Vec::new()
            }
            Place::Thinking => match self.held.split_once(CLOSE) {
                Some((thought, rest)) => {
                    let thought = thought.to_owned();
                    self.held = rest.to_owned();
                    self.place = Place::AfterThinking;
                    delta(ModelDelta::Reasoning, thought)
                }
                None => {
                    let half_tag = self.held.split_off(self.held.len() - half_tag_len(&self.held));
                    let thought = std::mem::replace(&mut self.held, half_tag);
                    delta(ModelDelta::Reasoning, thought)
                }
            },
            Place::AfterThinking => {
                let answer = self.held.trim_start();
                if answer.is_empty() {
                    self.held.clear();
                    return Vec::new();
                }
                let answer = answer.to_owned();
                self.held.clear();
                self.place = Place::Answer;
                delta(ModelDelta::Text, answer)
            }
            Place::Answer => Vec::new(),
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
