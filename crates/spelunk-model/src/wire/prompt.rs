//! A prompt: everything in one request to a model. Transcripts only grow at the end, so that
//! providers can cache the common prefix.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::tool::images;
use crate::{Part, Tool};

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Speaker {
    /// The engine, on behalf of the user.
    User,
    /// The model, in an earlier turn.
    Assistant,
}

impl Speaker {
    pub(crate) fn role(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl From<bool> for Speaker {
    fn from(is_of_model: bool) -> Self {
        if is_of_model { Self::Assistant } else { Self::User }
    }
}

impl From<Speaker> for bool {
    fn from(speaker: Speaker) -> Self {
        speaker == Speaker::Assistant
    }
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who wrote it.
    #[serde(rename = "is_of_model")]
    pub speaker: Speaker,
    /// Its text.
    pub text: String,
    /// Tool calls (from the model), their results or images (from the user); nearly always empty.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message from the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::User, text: text.into(), parts: Vec::new() }
    }

    /// A message from the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::Assistant, text: text.into(), parts: Vec::new() }
    }

    /// The same message with these parts.
    #[must_use]
    pub fn with_parts(mut self, parts: impl IntoIterator<Item = Part>) -> Self {
        self.parts.extend(parts);
        self
    }
}

/// How long a reasoning model may think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// As briefly as possible.
    Low,
    /// In between.
    Medium,
    /// As long as it takes.
    High,
}

impl Effort {
    /// The words in the settings, which the providers use too.
    pub const WORDS: &[&str] = &["low", "medium", "high"];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The effort with this word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|effort| effort.word() == word)
    }
}

/// Everything in one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first; the last message is the user's.
    pub messages: Vec<Message>,
    /// How many tokens the model may write.
    pub output_tokens_max: u64,
    /// The JSON Schema for the answer, if the provider can enforce one.
    #[serde(serialize_with = "write_schema", deserialize_with = "read_schema")]
    pub schema: Option<Arc<Value>>,
    /// The tools the model may call.
    pub tools: Vec<Tool>,
    /// Whether it has to call one of them.
    pub must_call: bool,
    /// How long it may think, if the model's settings say so.
    pub effort: Option<Effort>,
    /// Whether to report how certain the model was of its reply. It does not change the reply.
    pub wants_certainty: bool,
    /// The sampling temperature in thousandths; `None` leaves it to the provider.
    pub temperature_millis: Option<u32>,
}

impl Prompt {
    /// A prompt with one user message.
    pub fn single(system: impl Into<String>, user: impl Into<String>, output_tokens_max: u64) -> Self {
        let messages = vec![Message::user(user)];
        Self { system: system.into(), messages, output_tokens_max, ..Self::default() }
    }

    /// The sampling temperature as providers write it.
    pub fn temperature(&self) -> Option<f64> {
        self.temperature_millis.map(|millis| f64::from(millis) / 1000.0)
    }

    pub(crate) fn has_images(&self) -> bool {
        self.messages.iter().any(|message| images(&message.parts).next().is_some())
    }

    /// The messages that end a prefix worth caching: the last two of the user in a conversation. A prompt of one
    /// message is sent once, and caching it would only cost more.
    pub(crate) fn cached_messages(&self) -> [Option<usize>; 2] {
        if self.messages.len() < 2 {
            return [None, None];
        }
        let users = self.messages.iter().enumerate().rev();
        let mut users = users.filter(|(_, message)| message.speaker == Speaker::User).map(|(idx, _)| idx);
        [users.next(), users.next()]
    }
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn write_schema<S: Serializer>(schema: &Option<Arc<Value>>, to: S) -> Result<S::Ok, S::Error> {
    schema.as_ref().map(ToString::to_string).serialize(to)
}

fn read_schema<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<Value>>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| serde_json::from_str(&text).map(Arc::new)).transpose().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_messages_of_the_user_end_what_is_cached() {
        let cached = |n_messages: usize| {
            let said =
                |idx: usize| if idx.is_multiple_of(2) { Message::user("u") } else { Message::assistant("a") };
            Prompt { messages: (0..n_messages).map(said).collect(), ..Prompt::default() }.cached_messages()
        };
        assert_eq!(cached(0), [None, None]);
        assert_eq!(cached(1), [None, None]);
        assert_eq!(cached(3), [Some(2), Some(0)]);
        assert_eq!(cached(7), [Some(6), Some(4)]);
    }
}
