//! Turns a client's conversation into a question and documents. A long text becomes a document, which is read as far as
//! the question needs it; the last user message is the question, and short texts are included in it.

use spelunk_app::asking::excerpt;

/// The maximum number of documents per conversation; further texts are appended to the last.
const DOCUMENTS_MAX: usize = 100;
/// The maximum length, per kind, of text included in a question; if there is more, all of it becomes a document.
const INCLUDED_CHARS_MAX: usize = 20_000;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The developer of the client.
    System,
    User,
    Assistant,
}

impl Speaker {
    fn name(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::User => "User",
            Self::Assistant => "Assistant",
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MessagePart {
    Text(String),
    /// A text that the client marks as a document, whatever its length.
    Document {
        title: Option<String>,
        text: String,
    },
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) speaker: Speaker,
    pub(super) parts: Vec<MessagePart>,
}

/// A question and its documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Question {
    pub(super) text: String,
    /// Names and texts.
    pub(super) documents: Vec<(String, String)>,
}

/// Why there is no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoQuestion {
    /// There is no user message.
    NoUser,
    /// The user message is empty.
    Empty,
}

impl Question {
    /// `long_chars` is the length from which a text is long.
    pub(super) fn of(messages: &[Message], long_chars: usize) -> Result<Self, NoQuestion> {
        let is_asked = |message: &Message| message.speaker == Speaker::User;
        let asked_at = messages.iter().rposition(is_asked).ok_or(NoQuestion::NoUser)?;
        let mut sorted = SortedTexts { long_chars, documents: Vec::new() };
        let (mut instructions, mut before, mut asked) = (Vec::new(), Vec::new(), String::new());
        for (idx, message) in messages.iter().enumerate() {
            let short = sorted.take(idx + 1, message, idx == asked_at);
            if idx == asked_at {
                asked = short;
            } else if short.is_empty() {
            } else if message.speaker == Speaker::System {
                instructions.push(short);
            } else {
                before.push(format!("{}: {short}", message.speaker.name()));
            }
        }
        if asked.is_empty() {
            let is_document = |part: &MessagePart| matches!(part, MessagePart::Document { .. });
            let has_document = messages.iter().flat_map(|message| &message.parts).any(is_document);
            if !has_document {
                return Err(NoQuestion::Empty);
            }
            "Read the documents and say what matters in them.".clone_into(&mut asked);
        }
        let mut text = Vec::new();
        if !instructions.is_empty() {
            text.push(sorted.include("instructions.md", instructions.join("\n\n")));
        }
        if !before.is_empty() {
            let before = sorted.include("conversation.md", before.join("\n"));
            text.push(format!("The conversation so far:\n{before}"));
        }
        text.push(sorted.include("question.md", asked));
        Ok(Self { text: text.join("\n\n"), documents: sorted.documents })
    }
}

/// Separates long texts from messages.
struct SortedTexts {
    long_chars: usize,
    documents: Vec<(String, String)>,
}

impl SortedTexts {
    /// The short texts of a message. A long question is included in part.
    fn take(&mut self, number: usize, message: &Message, is_question: bool) -> String {
        let mut short: Vec<String> = Vec::new();
        let n_texts = message.parts.len();
        for (idx, part) in message.parts.iter().enumerate() {
            let kind = if message.speaker == Speaker::System { "system" } else { "message" };
            let nth = if n_texts == 1 { String::new() } else { format!("-{}", idx + 1) };
            let name = format!("{kind}-{number}{nth}.md");
            match part {
                MessagePart::Document { title, text } => {
                    self.keep(&title.as_deref().and_then(safe_name).unwrap_or(name), text);
                }
                MessagePart::Text(text) if text.trim().is_empty() => {}
                MessagePart::Text(text) if is_longer(text, self.long_chars) => {
                    self.keep(&name, text);
                    if is_question && !has_short(&message.parts, self.long_chars) {
                        short.push(excerpt(&name, text));
                    }
                }
                MessagePart::Text(text) => short.push(text.trim().to_owned()),
            }
        }
        short.join("\n\n")
    }

    /// A text to include in the question, up to the limit.
    fn include(&mut self, name: &str, text: String) -> String {
        if !is_longer(&text, INCLUDED_CHARS_MAX) {
            return text;
        }
        self.keep(name, &text);
        format!("[the whole is in `{name}`; it ends:]\n{}", tail(&text, INCLUDED_CHARS_MAX))
    }

    fn keep(&mut self, name: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.documents.len() >= DOCUMENTS_MAX
            && let Some((_, last)) = self.documents.last_mut()
        {
            last.push_str("\n\n");
            last.push_str(text);
            return;
        }
        let mut unique = name.to_owned();
        let mut number = 2;
        while self.documents.iter().any(|(known, _)| *known == unique) {
            unique = format!("{number}-{name}");
            number += 1;
        }
        self.documents.push((unique, text.to_owned()));
    }
}

fn is_longer(text: &str, chars: usize) -> bool {
    // The byte length is an upper bound on the character count, and free.
    text.len() > chars && text.chars().nth(chars).is_some()
}

fn has_short(parts: &[MessagePart], long_chars: usize) -> bool {
    parts.iter().any(|part| match part {
        MessagePart::Text(text) => !text.trim().is_empty() && !is_longer(text, long_chars),
        MessagePart::Document { .. } => false,
    })
}

fn tail(text: &str, chars: usize) -> &str {
    let from = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or_default()
}

/// A title as a safe document name, without path components.
fn safe_name(title: &str) -> Option<String> {
    let is_good = |c: char| c.is_alphanumeric() || " .-_()".contains(c);
    let name: String = title.chars().map(|c| if is_good(c) { c } else { '_' }).take(100).collect();
    let name = name.trim().trim_start_matches('.').to_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests;
