//! Conversations: a list of messages instead of a question. The rendered text becomes the question; the messages and
//! their attachments become documents of the run, so that they can be searched and cited.

use serde_json::{Map, Value, json};

pub(crate) const ATTACHMENTS: &str = "attachments/";

const MESSAGES_MAX: usize = 10_000;
const ROLE_CHARS_MAX: usize = 40;

/// A list of messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    system: Option<String>,
    messages: Vec<(String, Value)>,
}

/// Why a text is not a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ConversationError {
    #[error("it is not JSON: {why}")]
    NotJson { why: String },
    #[error("it is neither a list of messages nor an object with `messages`")]
    NotMessages,
    #[error("it has no messages")]
    Empty,
    #[error("it has {n_messages} messages; the maximum is {MESSAGES_MAX}")]
    TooMany { n_messages: usize },
    #[error("message {number} has no `role` and `content`")]
    Malformed { number: usize },
}

impl Conversation {
    /// The document that contains the messages.
    pub const DOCUMENT: &str = "messages.json";

    /// Parses `[{role, content}, …]` or `{system, messages: […]}`. Content is text or a list of blocks.
    pub fn read(text: &str) -> Result<Self, ConversationError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| ConversationError::NotJson { why: error.to_string() })?;
        let (system, list) = match value {
            Value::Array(list) => (None, list),
            Value::Object(mut fields) => {
                let system = fields.get("system").map(words).filter(|text| !text.is_empty());
                match fields.remove("messages") {
                    Some(Value::Array(list)) => (system, list),
                    Some(_) | None => return Err(ConversationError::NotMessages),
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(ConversationError::NotMessages);
            }
        };
        match list.len() {
            0 => return Err(ConversationError::Empty),
            n_messages if n_messages > MESSAGES_MAX => return Err(ConversationError::TooMany { n_messages }),
            _ => {}
        }
        let mut messages = Vec::with_capacity(list.len());
        for (idx, message) in list.into_iter().enumerate() {
            messages.push(said(message).ok_or(ConversationError::Malformed { number: idx + 1 })?);
        }
        Ok(Self { system, messages })
    }

    /// The conversation as text, with a heading for each speaker. Images and other blocks appear as
    /// `[image]`, `[type]`.
    pub fn rendered(&self) -> String {
        let system = self.system.iter().map(|text| format!("## system\n{}\n", text.trim()));
        let messages =
            self.messages.iter().map(|(role, content)| format!("## {role}\n{}\n", words(content).trim()));
        system.chain(messages).collect::<Vec<_>>().join("\n")
    }

    /// Replaces each long text by what `shown` makes of its name and text, and returns the long texts as
    /// named documents. The last argument of `shown` says whether the text is the whole last message.
    pub fn take_long<E>(
        &mut self,
        is_long: impl Fn(&str) -> bool,
        mut shown: impl FnMut(&str, &str, bool) -> Result<String, E>,
    ) -> Result<Vec<(String, String)>, E> {
        let (mut documents, n_messages) = (Vec::new(), self.messages.len());
        let mut take = |name: String, text: &mut String, is_request: bool| {
            if is_long(text) {
                let shown = shown(&name, text, is_request)?;
                documents.push((name, std::mem::replace(text, shown)));
            }
            Ok(())
        };
        if let Some(system) = &mut self.system {
            take("system.md".to_owned(), system, false)?;
        }
        for (idx, (_, content)) in self.messages.iter_mut().enumerate() {
            let (name, is_last) = (format!("message-{}", idx + 1), idx + 1 == n_messages);
            match content {
                Value::String(text) => take(format!("{name}.md"), text, is_last)?,
                Value::Array(blocks) => {
                    let mut texts: Vec<&mut String> = blocks.iter_mut().filter_map(block_text).collect();
                    let is_request =
                        is_last && texts.iter().all(|text| text.trim().is_empty() || is_long(text));
                    for (block_idx, text) in texts.iter_mut().enumerate() {
                        take(format!("{name}-{}.md", block_idx + 1), text, is_request)?;
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
            }
        }
        Ok(documents)
    }

    /// The messages in normalised form, for the document that contains them.
    pub fn json(&self) -> String {
        let message = |(role, content): &(String, Value)| json!({ "role": role, "content": content });
        let messages: Vec<Value> = self.messages.iter().map(message).collect();
        format!("{:#}\n", json!({ "system": self.system, "messages": messages }))
    }

    /// The document name of an attachment. Whatever the file name is, it stays inside the attachments folder.
    pub fn attachment(given: &str, taken: &std::collections::BTreeSet<String>) -> (String, String) {
        let name = spelunk_desk::sanitised_name(given, taken);
        (format!("{ATTACHMENTS}{name}"), name)
    }
}

fn said(message: Value) -> Option<(String, Value)> {
    let Value::Object(mut fields) = message else { return None };
    let role: String = fields.get("role")?.as_str()?.chars().take(ROLE_CHARS_MAX).collect();
    let role = role.replace(['\n', '\r', '#'], " ");
    let content = fields.remove("content")?;
    let is_content = content.is_string() || content.is_array();
    (is_content && !role.trim().is_empty()).then(|| (role.trim().to_owned(), content))
}

fn words(content: &Value) -> String {
    let block = |block: &Value| match block {
        Value::String(text) => text.clone(),
        Value::Object(fields) => block_words(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => "[unknown]".to_owned(),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

fn block_text(block: &mut Value) -> Option<&mut String> {
    let text = if block.is_string() { block } else { block.get_mut("text")? };
    if let Value::String(text) = text { Some(text) } else { None }
}

fn block_words(fields: &Map<String, Value>) -> String {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or("unknown");
    match (kind, fields.get("text").and_then(Value::as_str)) {
        ("text" | "input_text" | "output_text", Some(text)) => text.to_owned(),
        ("image" | "image_url" | "input_image", _) => "[image]".to_owned(),
        (other, _) => format!("[{}]", other.chars().take(ROLE_CHARS_MAX).collect::<String>()),
    }
}

#[cfg(test)]
mod tests;
