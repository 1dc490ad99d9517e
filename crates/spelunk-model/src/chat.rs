//! Chat formats of local models: a conversation is written as marks, which are single tokens, with text between them. A
//! mark inside a text stays text, so that a document cannot end its message and impersonate another speaker.

#[cfg(any(feature = "embedded", test))]
mod conversation;

#[cfg(any(feature = "embedded", test))]
pub(crate) use conversation::ChatPiece;

/// A chat format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatForm {
    /// `<|im_start|>user … <|im_end|>`: Qwen and many others.
    ChatMl,
    /// `<|start_header_id|>user<|end_header_id|> … <|eot_id|>`: Llama 3.
    Llama3,
}

impl ChatForm {
    /// The format of a file's chat template; `None` if it is unknown.
    pub fn of_template(template: &str) -> Option<Self> {
        let has = |marks: &[&str]| marks.iter().all(|mark| template.contains(mark));
        if has(&["<|im_start|>", "<|im_end|>"]) {
            return Some(Self::ChatMl);
        }
        has(&["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]).then_some(Self::Llama3)
    }
}

#[cfg(test)]
mod tests;
