//! A question from a program: text or a conversation, its sources, how to answer it, and its budget.

use std::path::PathBuf;

use serde_json::{Value, json};
use spelunk_context::{ScanOptions, SecretFiles, SourceInput};
use spelunk_engine::Conversation;
use spelunk_types::{Focus, Limits, truncate};

use crate::app::App;
use crate::asking::{Attachments, QuestionInput};
use crate::config::StrategyChoice;
use crate::failure::{Result, Usage};
use crate::sources::{context_source, contexts, source};

/// A question, its sources and its options.
#[derive(Debug, Clone)]
#[must_use = "`Spelunk::ask` makes something of it"]
pub struct Question {
    words: QuestionText,
    paths: Vec<PathBuf>,
    contexts: Vec<String>,
    texts: Vec<(String, Vec<u8>)>,
    attachments: Vec<(String, Vec<u8>)>,
    options: AnswerOptions,
}

#[derive(Debug, Clone)]
enum QuestionText {
    Question(String),
    Conversation { system: Option<String>, messages: Vec<Message> },
}

#[derive(Debug, Clone, Default)]
pub(super) struct AnswerOptions {
    /// `None` means the configured strategy.
    pub(super) strategy: Option<StrategyChoice>,
    pub(super) focus: Focus,
    pub(super) schema: Option<String>,
    pub(super) budget: Budget,
    pub(super) scan: ScanOptions,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The author: `user`, `assistant` or another role.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Message {
    /// A user message.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: "user".into(), content: content.into() }
    }

    /// An assistant message.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: "assistant".into(), content: content.into() }
    }
}

/// Limits of one run. Unset limits come from the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Model calls, over the whole tree.
    pub calls_max: Option<u64>,
    /// Input and output tokens, over the whole tree.
    pub tokens_max: Option<u64>,
    /// Cost in millionths of a US dollar.
    pub cost_microusd_max: Option<u64>,
    /// Wall-clock time in milliseconds.
    pub run_ms_max: Option<u64>,
}

impl Budget {
    pub(super) fn apply(self, limits: &mut Limits) {
        let Self { calls_max, tokens_max, cost_microusd_max, run_ms_max } = self;
        limits.calls_max = calls_max.unwrap_or(limits.calls_max);
        limits.tokens_max = tokens_max.unwrap_or(limits.tokens_max);
        limits.cost_microusd_max = cost_microusd_max.unwrap_or(limits.cost_microusd_max);
        limits.run_ms_max = run_ms_max.unwrap_or(limits.run_ms_max);
    }
}

impl Question {
    /// A question as text.
    pub fn new(question: impl Into<String>) -> Self {
        Self::of(QuestionText::Question(question.into()))
    }

    /// A conversation instead of a question; the run answers its last message.
    pub fn messages(messages: impl IntoIterator<Item = Message>) -> Self {
        Self::of(QuestionText::Conversation { system: None, messages: messages.into_iter().collect() })
    }

    fn of(words: QuestionText) -> Self {
        let options = AnswerOptions::default();
        let (paths, contexts, texts, attachments) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { words, paths, contexts, texts, attachments, options }
    }

    /// The system instructions of a conversation; a plain question has none.
    pub fn system(mut self, instructions: impl Into<String>) -> Self {
        if let QuestionText::Conversation { system, .. } = &mut self.words {
            *system = Some(instructions.into());
        }
        self
    }

    /// A file or directory to answer from; may be called several times. Secret files and
    /// secrets in text are left out.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// A text to answer from, cited by this name.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        self.texts.push((name.into(), text.into()));
        self
    }

    /// A registered context to answer from, cited by its id.
    pub fn context(mut self, id: impl Into<String>) -> Self {
        self.contexts.push(id.into());
        self
    }

    /// A file that belongs to the question, cited as `attachments/NAME`. The name is sanitized.
    pub fn attach(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.attachments.push((name.into(), bytes.into()));
        self
    }

    /// Reads only matching files, such as `*.rs`; may be called several times.
    pub fn include(mut self, glob: impl Into<String>) -> Self {
        self.options.scan.include.push(glob.into());
        self
    }

    /// Skips matching files; may be called several times.
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.options.scan.exclude.push(glob.into());
        self
    }

    /// The strategy; by default that of the settings.
    pub fn strategy(mut self, strategy: StrategyChoice) -> Self {
        self.options.strategy = Some(strategy);
        self
    }

    /// What an analysis looks for first.
    pub fn focus(mut self, focus: Focus) -> Self {
        self.options.focus = focus;
        self
    }

    /// The JSON Schema of the answer.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.options.schema = Some(schema.into());
        self
    }

    /// The limits of the run.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.options.budget = budget;
        self
    }

    /// The question as text, with all of its material as sources.
    pub(super) fn read(self, app: &App) -> Result<(QuestionInput, AnswerOptions)> {
        let mut named: Vec<SourceInput> = self.paths.iter().map(|path| source(app, path)).collect();
        if !self.contexts.is_empty() {
            let store = contexts(app, SecretFiles::Refused)?;
            for id in &self.contexts {
                named.push(context_source(&store, id, &|path| Ok(path.to_path_buf()))?);
            }
        }
        let texts = self.texts.into_iter().map(|(name, bytes)| SourceInput::Text { name, bytes });
        named.extend(texts);
        let mut attachments = Attachments::beside(named);
        for (name, bytes) in self.attachments {
            attachments.attach(&name, bytes).map_err(|error| Usage {
                message: format!("could not attach `{}`: {error}", truncate(&name, 100)),
                hint: "pass large files as paths".into(),
            })?;
        }
        let question = match self.words {
            QuestionText::Question(question) => attachments.request(question)?,
            QuestionText::Conversation { system, messages } => {
                attachments.converse(conversation(system.as_deref(), &messages)?)?
            }
        };
        Ok((QuestionInput { question, attachments: attachments.into_inputs() }, self.options))
    }
}

fn conversation(system: Option<&str>, messages: &[Message]) -> Result<Conversation, Usage> {
    let of = |message: &Message| json!({ "role": message.role, "content": message.content });
    let messages: Vec<Value> = messages.iter().map(of).collect();
    let whole = json!({ "system": system, "messages": messages });
    Conversation::read(&whole.to_string()).map_err(|error| Usage {
        message: format!("the messages are not a valid conversation: {error}"),
        hint: "pass at least one message, and give every message a role".into(),
    })
}
