//! A conversation in the format of a local model.

use super::ChatForm;
use crate::{Feature, ModelError, Prompt};

/// A piece of a conversation, for the tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChatPiece {
    /// A mark, which is one token.
    Mark(&'static str),
    /// Text, in which nothing is parsed as a mark.
    Text(String),
}

impl ChatForm {
    /// Formats the prompt up to where the model continues. A longer conversation begins with the same pieces.
    pub(crate) fn write(self, prompt: &Prompt) -> Result<Vec<ChatPiece>, ModelError> {
        if prompt.has_images() {
            let detail = "a model that runs inside this program sees none".to_owned();
            return Err(ModelError::FeatureRefused { feature: Feature::Images, detail });
        }
        let has_tools = !prompt.tools.is_empty() || prompt.messages.iter().any(|said| !said.parts.is_empty());
        if has_tools {
            let detail = "models that run inside this program cannot call tools".to_owned();
            return Err(ModelError::FeatureRefused { feature: Feature::Tools, detail });
        }
        let mut pieces = Vec::new();
        if self == Self::Llama3 {
            pieces.push(ChatPiece::Mark("<|begin_of_text|>"));
        }
        if !prompt.system.trim().is_empty() {
            self.message(&mut pieces, "system", &prompt.system);
        }
        for message in &prompt.messages {
            self.message(&mut pieces, message.speaker.role(), &message.text);
        }
        self.open(&mut pieces, "assistant");
        Ok(pieces)
    }

    fn message(self, pieces: &mut Vec<ChatPiece>, role: &'static str, text: &str) {
        self.open(pieces, role);
        match self {
            Self::ChatMl => {
                pieces.push(ChatPiece::Text(text.to_owned()));
                pieces.push(ChatPiece::Mark("<|im_end|>"));
                pieces.push(ChatPiece::Text("\n".to_owned()));
            }
            Self::Llama3 => {
                pieces.push(ChatPiece::Text(text.trim().to_owned()));
                pieces.push(ChatPiece::Mark("<|eot_id|>"));
            }
        }
    }

    fn open(self, pieces: &mut Vec<ChatPiece>, role: &'static str) {
        match self {
            Self::ChatMl => {
                pieces.push(ChatPiece::Mark("<|im_start|>"));
                pieces.push(ChatPiece::Text(format!("{role}\n")));
            }
            Self::Llama3 => {
                pieces.push(ChatPiece::Mark("<|start_header_id|>"));
                pieces.push(ChatPiece::Text(role.to_owned()));
                pieces.push(ChatPiece::Mark("<|end_header_id|>"));
                pieces.push(ChatPiece::Text("\n\n".to_owned()));
            }
        }
    }
}
