//! A prompt: everything one request says to a model. Transcripts only grow at their end, so providers can cache the
//! common beginning.

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The engine, on behalf of the user.
    User,
    /// The model, earlier.
    Assistant,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who wrote it.
    pub speaker: Speaker,
    /// What it says.
    pub text: String,
}

/// Everything one request says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The standing instruction.
    pub system: String,
    /// The conversation, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// How many tokens the model may write.
    pub output_tokens_max: u64,
}

impl Prompt {
    /// A prompt with one user message.
    pub fn single(system: impl Into<String>, user: impl Into<String>, output_tokens_max: u64) -> Self {
        let message = Message { speaker: Speaker::User, text: user.into() };
        Self { system: system.into(), messages: vec![message], output_tokens_max }
    }
}
