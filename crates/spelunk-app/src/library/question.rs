//! A question as a program asks it: words or a conversation, the text it is about, how to answer and how far to go.

use std::path::PathBuf;

use serde_json::{Value, json};
use spelunk_context::{ScanOptions, SourceInput};
use spelunk_engine::Conversation;
use spelunk_types::{Focus, Limits};

use crate::app::App;
use crate::asking::{Attachments, QuestionInput};
use crate::config::StrategyChoice;
use crate::failure::{Failure, Usage};
use crate::sources::source;

/// What is asked, of what, and how.
#[derive(Debug, Clone)]
#[must_use = "`Spelunk::ask` makes something of it"]
pub struct Question {
    words: Words,
    paths: Vec<PathBuf>,
    texts: Vec<(String, Vec<u8>)>,
    attachments: Vec<(String, Vec<u8>)>,
    manner: Manner,
}

#[derive(Debug, Clone)]
enum Words {
    Question(String),
    Conversation { system: Option<String>, messages: Vec<Message> },
}

/// How to answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Manner {
    /// What the settings say, unless it is named.
    pub(super) strategy: Option<StrategyChoice>,
    pub(super) focus: Focus,
    pub(super) schema: Option<String>,
    pub(super) budget: Budget,
    pub(super) scan: ScanOptions,
}

/// Something that was said in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who said it: `user`, `assistant` or another role.
    pub role: String,
    /// What.
    pub content: String,
}

impl Message {
    /// A message of the person who asks.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: "user".into(), content: content.into() }
    }

    /// A message of the one who answers.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: "assistant".into(), content: content.into() }
    }
}

/// How far one run may go; what is not said is as the settings have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Calls, over the whole tree.
    pub calls_max: Option<u64>,
    /// Tokens in both directions, over the whole tree.
    pub tokens_max: Option<u64>,
    /// Money, in millionths of a dollar.
    pub cost_microusd_max: Option<u64>,
    /// Time.
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
    /// A question in words.
    pub fn new(question: impl Into<String>) -> Self {
        Self::of(Words::Question(question.into()))
    }

    /// A conversation in the place of a question; its last message is what is to be answered.
    pub fn messages(messages: impl IntoIterator<Item = Message>) -> Self {
        Self::of(Words::Conversation { system: None, messages: messages.into_iter().collect() })
    }

    fn of(words: Words) -> Self {
        let manner = Manner::default();
        Self { words, paths: Vec::new(), texts: Vec::new(), attachments: Vec::new(), manner }
    }

    /// The instructions that a conversation stands under; a question in words has none.
    pub fn system(mut self, instructions: impl Into<String>) -> Self {
        if let Words::Conversation { system, .. } = &mut self.words {
            *system = Some(instructions.into());
        }
        self
    }

    /// A file or a directory to answer from; may be called several times. Secrets stay out.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// A text to answer from, cited under this name.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        self.texts.push((name.into(), text.into()));
        self
    }

    /// A file that belongs to the question, cited as `attachments/NAME`. Whatever the name is, it is made harmless.
    pub fn attach(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.attachments.push((name.into(), bytes.into()));
        self
    }

    /// Only files that match, such as `*.rs`; may be called several times.
    pub fn include(mut self, glob: impl Into<String>) -> Self {
        self.manner.scan.include.push(glob.into());
        self
    }

    /// No files that match; may be called several times.
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.manner.scan.exclude.push(glob.into());
        self
    }

    /// How to answer; else as the settings say.
    pub fn strategy(mut self, strategy: StrategyChoice) -> Self {
        self.manner.strategy = Some(strategy);
        self
    }

    /// What an analysis looks for first.
    pub fn focus(mut self, focus: Focus) -> Self {
        self.manner.focus = focus;
        self
    }

    /// The JSON Schema of the answer, as text.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.manner.schema = Some(schema.into());
        self
    }

    /// How far it may go.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.manner.budget = budget;
        self
    }

    /// The question in words with everything that it is about, as sources.
    pub(super) fn read(self, app: &App) -> Result<(QuestionInput, Manner), Failure> {
        let paths = self.paths.iter().map(|path| source(app, path));
        let texts = self.texts.into_iter().map(|(name, bytes)| SourceInput::Text { name, bytes });
        let mut along = Attachments::beside(paths.chain(texts).collect());
        for (name, bytes) in self.attachments {
            along.attach(&name, bytes).map_err(|error| Usage {
                message: format!(
                    "could not attach `{}`: {error}",
                    name.chars().take(100).collect::<String>()
                ),
                hint: "name large files as paths".into(),
            })?;
        }
        let question = match self.words {
            Words::Question(question) => question,
            Words::Conversation { system, messages } => {
                along.converse(&conversation(system.as_deref(), &messages)?)
            }
        };
        let along = along.into_inputs();
        if along.is_empty() {
            let message = "the question is about nothing".to_owned();
            return Err(Usage { message, hint: "name paths or texts, or attach files".into() }.into());
        }
        Ok((QuestionInput { question, along }, self.manner))
    }
}

fn conversation(system: Option<&str>, messages: &[Message]) -> Result<Conversation, Usage> {
    let of = |message: &Message| json!({ "role": message.role, "content": message.content });
    let messages: Vec<Value> = messages.iter().map(of).collect();
    let whole = json!({ "system": system, "messages": messages });
    Conversation::read(&whole.to_string()).map_err(|error| Usage {
        message: format!("the messages are no conversation: {error}"),
        hint: "give every message a role, and at least one message".into(),
    })
}
