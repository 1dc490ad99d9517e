//! Turns a client's conversation into a question and documents. A long text becomes a document, of which only what the
//! question needs is read; the last user message is the question, and short texts are included in it.

use spelunk_app::asking::excerpt;
use spelunk_engine::CallerTurn;
use spelunk_model::{self as model, Part, ToolCall, ToolResult};

/// The maximum number of documents per conversation; further texts are appended to the last.
const DOCUMENTS_MAX: usize = 100;
/// How many characters of the beginning and the end of a document are shown in a conversation with tools.
const SHOWN_CHARS: usize = 1_000;
/// The maximum length, per kind, of text included in a question; if there is more, all of it becomes a document.
const INCLUDED_CHARS_MAX: usize = 20_000;
/// Longer instructions of a client with tools become a document too.
const SYSTEM_CHARS_MAX: usize = 200_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MessagePart {
    Text(String),
    /// A text that the client marks as a document, whatever its length.
    Document {
        title: Option<String>,
        text: String,
        /// Whether the client wants citations of it.
        is_cited: bool,
    },
    Call(ToolCall),
    Result(ToolResult),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) speaker: Speaker,
    pub(super) parts: Vec<MessagePart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Question {
    pub(super) text: String,
    /// Names and texts.
    pub(super) documents: Vec<(String, String)>,
    pub(super) marked: Vec<MarkedDocument>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkedDocument {
    pub(super) name: String,
    pub(super) title: Option<String>,
    /// Its text, if the client wants citations of it.
    pub(super) cited: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolConversation {
    pub(super) question: Question,
    pub(super) system: String,
    pub(super) messages: Vec<model::Message>,
    pub(super) has_documents: bool,
}

/// Why there is no question.
const NO_USER: &str = "contains no user message";
const EMPTY: &str = "ends with an empty message";

impl Question {
    /// A text is long from `long_chars` characters on.
    pub(super) fn of(messages: &[Message], long_chars: usize) -> Result<Self, &'static str> {
        let asked_at = messages.iter().rposition(is_asked).ok_or(NO_USER)?;
        let mut sorted = SortedTexts::new(long_chars);
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
                return Err(EMPTY);
            }
            "Read the documents and report what is important in them.".clone_into(&mut asked);
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
        Ok(Self { text: text.join("\n\n"), documents: sorted.documents, marked: sorted.marked })
    }
}

impl ToolConversation {
    /// As for a question, but messages stay messages, and instructions stay whole: hosts write long ones.
    pub(super) fn of(
        messages: &[Message],
        long_chars: usize,
        has_material: bool,
    ) -> Result<Self, &'static str> {
        let asked_at = messages.iter().rposition(is_asked).ok_or(NO_USER)?;
        let mut sorted = SortedTexts::new(long_chars);
        let (mut system, mut said, mut asked) = (Vec::new(), Vec::new(), String::new());
        for (idx, message) in messages.iter().enumerate() {
            if message.speaker == Speaker::System {
                sorted.long_chars = SYSTEM_CHARS_MAX;
                system.push(sorted.shown(idx + 1, message).text);
                sorted.long_chars = long_chars;
                continue;
            }
            let shown = sorted.shown(idx + 1, message);
            if idx == asked_at {
                asked.clone_from(&shown.text);
            }
            push(&mut said, shown);
        }
        if asked.is_empty() {
            return Err(EMPTY);
        }
        let has_documents = has_material || !sorted.documents.is_empty();
        sorted.keep(CallerTurn::DOCUMENT, &shown_transcript(&said));
        let text = sorted.include("question.md", asked);
        let question = Question { text, documents: sorted.documents, marked: sorted.marked };
        Ok(Self { question, system: system.join("\n\n"), messages: said, has_documents })
    }
}

/// Whether a message asks something. In some APIs, tool results are messages of the user.
fn is_asked(message: &Message) -> bool {
    let is_said = |part: &MessagePart| matches!(part, MessagePart::Text(_) | MessagePart::Document { .. });
    message.speaker == Speaker::User && (message.parts.is_empty() || message.parts.iter().any(is_said))
}

/// Appends a message to the one before it if the speaker is the same, as providers require.
fn push(said: &mut Vec<model::Message>, message: model::Message) {
    match said.last_mut() {
        Some(last) if last.speaker == message.speaker => {
            let gap = if last.text.is_empty() || message.text.is_empty() { "" } else { "\n\n" };
            last.text += &format!("{gap}{}", message.text);
            last.parts.extend(message.parts);
        }
        Some(_) | None => said.push(message),
    }
}

fn shown_transcript(said: &[model::Message]) -> String {
    let mut text = String::new();
    for message in said {
        let speaker = match message.speaker {
            model::Speaker::User => Speaker::User,
            model::Speaker::Assistant => Speaker::Assistant,
        };
        let parts = message.parts.iter().map(|part| match part {
            Part::ToolCall(call) => called(call),
            Part::ToolResult(result) => returned(result),
            // Callers send no images.
            Part::Image(_) => String::new(),
        });
        for said in std::iter::once(message.text.clone()).chain(parts).filter(|said| !said.is_empty()) {
            text += &format!("{}:\n\n{said}\n\n", speaker.name());
        }
    }
    text
}

fn called(call: &ToolCall) -> String {
    format!("[calls {} with {}]", call.name, call.arguments)
}

fn returned(result: &ToolResult) -> String {
    let how = if result.is_error { "failed with" } else { "gave" };
    format!("[{} {how}]\n{}", result.name, result.text.trim())
}

struct SortedTexts {
    long_chars: usize,
    documents: Vec<(String, String)>,
    marked: Vec<MarkedDocument>,
}

impl SortedTexts {
    fn new(long_chars: usize) -> Self {
        Self { long_chars, documents: Vec::new(), marked: Vec::new() }
    }

    /// A message as the model sees it: the names of documents replace long texts.
    fn shown(&mut self, number: usize, message: &Message) -> model::Message {
        let (mut said, mut parts) = (Vec::new(), Vec::new());
        for (idx, part) in message.parts.iter().enumerate() {
            let name = format!("message-{number}-{}.md", idx + 1);
            match part {
                MessagePart::Text(text) => said.push(self.stand_in(&name, text)),
                MessagePart::Document { text, .. } => {
                    let name = self.keep_document(name, part);
                    said.push(named_in_place(&name, text));
                }
                MessagePart::Call(call) => {
                    let mut call = call.clone();
                    if is_longer(&call.arguments, self.long_chars) {
                        let name = self.keep(&name, &call.arguments);
                        call.arguments = serde_json::json!({ "document": name }).to_string();
                    }
                    parts.push(Part::ToolCall(call));
                }
                MessagePart::Result(result) => {
                    let text = self.stand_in(&name, &result.text);
                    parts.push(Part::ToolResult(ToolResult { text, ..result.clone() }));
                }
            }
        }
        said.retain(|text| !text.is_empty());
        let text = said.join("\n\n");
        let message = match message.speaker {
            Speaker::System | Speaker::User => model::Message::user(text),
            Speaker::Assistant => model::Message::assistant(text),
        };
        message.with_parts(parts)
    }

    fn stand_in(&mut self, name: &str, text: &str) -> String {
        if !is_longer(text, self.long_chars) {
            return text.trim().to_owned();
        }
        let name = self.keep(name, text);
        named_in_place(&name, text)
    }

    /// The short texts of a message. A long question is included in part.
    fn take(&mut self, number: usize, message: &Message, is_question: bool) -> String {
        let mut short: Vec<String> = Vec::new();
        let n_texts = message.parts.len();
        for (idx, part) in message.parts.iter().enumerate() {
            let kind = if message.speaker == Speaker::System { "system" } else { "message" };
            let nth = if n_texts == 1 { String::new() } else { format!("-{}", idx + 1) };
            let name = format!("{kind}-{number}{nth}.md");
            match part {
                MessagePart::Document { .. } => drop(self.keep_document(name, part)),
                MessagePart::Call(call) => short.push(called(call)),
                MessagePart::Result(result) if is_longer(&result.text, self.long_chars) => {
                    let name = self.keep(&name, &result.text);
                    short.push(format!("[{} returned `{name}`]", result.name));
                }
                MessagePart::Result(result) => short.push(returned(result)),
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

    fn include(&mut self, name: &str, text: String) -> String {
        if !is_longer(&text, INCLUDED_CHARS_MAX) {
            return text;
        }
        self.keep(name, &text);
        format!("[the full text is in `{name}`; it ends:]\n{}", tail(&text, INCLUDED_CHARS_MAX))
    }

    /// Keeps a part that is a document, under its title or else this name.
    fn keep_document(&mut self, name: String, part: &MessagePart) -> String {
        let MessagePart::Document { title, text, is_cited } = part else { return name };
        let name = self.keep(&title.as_deref().and_then(safe_name).unwrap_or(name), text);
        let cited = is_cited.then(|| text.clone());
        self.marked.push(MarkedDocument { name: name.clone(), title: title.clone(), cited });
        name
    }

    fn keep(&mut self, name: &str, text: &str) -> String {
        if text.trim().is_empty() {
            return name.to_owned();
        }
        if self.documents.len() >= DOCUMENTS_MAX
            && let Some((name, last)) = self.documents.last_mut()
        {
            last.push_str("\n\n");
            last.push_str(text);
            return name.clone();
        }
        let mut unique = name.to_owned();
        let mut number = 2;
        while self.documents.iter().any(|(known, _)| *known == unique) {
            unique = format!("{number}-{name}");
            number += 1;
        }
        self.documents.push((unique.clone(), text.to_owned()));
        unique
    }
}

fn named_in_place(name: &str, text: &str) -> String {
    let n_chars = text.chars().count();
    if n_chars <= SHOWN_CHARS {
        return format!("[document `{name}`]\n{}", text.trim());
    }
    let (head, tail): (String, &str) = (text.chars().take(SHOWN_CHARS).collect(), tail(text, SHOWN_CHARS));
    format!(
        "[document `{name}`, {n_chars} characters; it begins:]\n{}\n[…]\n[and ends:]\n{}",
        head.trim(),
        tail.trim()
    )
}

fn is_longer(text: &str, chars: usize) -> bool {
    // The byte length is an upper bound on the character count, and free.
    text.len() > chars && text.chars().nth(chars).is_some()
}

fn has_short(parts: &[MessagePart], long_chars: usize) -> bool {
    parts.iter().any(|part| match part {
        MessagePart::Text(text) => !text.trim().is_empty() && !is_longer(text, long_chars),
        MessagePart::Document { .. } | MessagePart::Call(_) | MessagePart::Result(_) => false,
    })
}

fn tail(text: &str, chars: usize) -> &str {
    let from = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or_default()
}

/// A title as a document name without path components.
fn safe_name(title: &str) -> Option<String> {
    let is_good = |c: char| c.is_alphanumeric() || " .-_()".contains(c);
    let name: String = title.chars().map(|c| if is_good(c) { c } else { '_' }).take(100).collect();
    let name = name.trim().trim_start_matches('.').to_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests;
