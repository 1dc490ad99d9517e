//! An external program as a model: the prompt goes to its standard input, the reply comes from its standard output.
//! There is no shell, and dropping a reply kills the program.

mod running;

use std::sync::Arc;

use futures_util::stream;
use spelunk_types::{CallId, ModelRef};

use crate::error_mapping::RequestContext;
use crate::price::Price;
use crate::wire::command as wire;
use crate::wire::tool::{images, sorted};
use crate::{Model, ModelError, ModelFacts, ModelStream, Prompt, Tool};
use running::Running;

/// The output format of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOutput {
    /// The answer and nothing else; trailing newlines are dropped.
    Text,
    /// A JSON document per line: `{"text": …}`, `{"reasoning": …}`, `{"tool_call": …}`, `{"done": …}`, `{"error": …}`.
    JsonLines,
}

/// Which program to run.
#[derive(Debug, Clone)]
pub struct CommandOptions {
    /// The program.
    pub program: String,
    /// Its arguments, passed unchanged: nothing is expanded.
    pub arguments: Vec<String>,
    /// The name of the model.
    pub name: String,
    /// Its output format.
    pub output: CommandOutput,
    /// What it costs; free unless set.
    pub price: Option<Price>,
}

/// A model provided by a program.
#[derive(Debug, Clone)]
pub struct CommandModel {
    options: Arc<CommandOptions>,
    reference: ModelRef,
    /// The program's name in error messages.
    shown: String,
}

impl CommandModel {
    /// Starts nothing. The program, its arguments and its output format are part of the reference: another
    /// command is another model. Arguments may contain secrets, so only their digest is included.
    pub fn new(options: CommandOptions) -> Result<Self, ModelError> {
        let shown = format!("command:{}", options.program);
        if options.program.trim().is_empty() {
            let detail = "no program is set".to_owned();
            return Err(ModelError::Unreachable { base_url: shown, detail });
        }
        let base_url = format!("{shown}#{}", manner(&options));
        let reference = ModelRef { provider: "command".to_owned(), name: options.name.clone(), base_url };
        Ok(Self { options: Arc::new(options), reference, shown })
    }

    /// Whether a URL without a digest, as earlier versions wrote it, refers to this program.
    pub fn is_of_program(base_url: &str, without_digest: &str) -> bool {
        base_url.rsplit_once('#').is_some_and(|(program, _)| program == without_digest)
    }

    fn input(&self, prompt: &Prompt) -> Vec<u8> {
        let request = wire::Request {
            model: &self.reference.name,
            system: &prompt.system,
            messages: prompt.messages.iter().map(message).collect(),
            output_tokens_max: prompt.output_tokens_max,
            schema: prompt.schema.as_deref(),
            tools: prompt.tools.iter().map(tool).collect(),
            must_call: prompt.must_call,
            temperature: prompt.temperature(),
        };
        serde_json::to_vec(&request).expect("strings, numbers and JSON are JSON")
    }
}

impl Model for CommandModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts { price: self.options.price, ..ModelFacts::default() }
    }

    fn stream(&self, prompt: &Prompt, _call: &CallId) -> ModelStream {
        let context = RequestContext::new(self.shown.clone(), self.reference.name.clone(), Vec::new());
        let running =
            Running::new(Arc::clone(&self.options), self.input(prompt), context.with_features(prompt));
        Box::pin(stream::try_unfold(running, Running::advance))
    }
}

/// A short digest of how the program is called: long enough to distinguish commands, too short to reveal their content.
fn manner(options: &CommandOptions) -> String {
    let mut bytes = match options.output {
        CommandOutput::Text => b"text".to_vec(),
        CommandOutput::JsonLines => b"json-lines".to_vec(),
    };
    // An argument cannot contain a zero byte.
    for argument in &options.arguments {
        bytes.push(0);
        bytes.extend_from_slice(argument.as_bytes());
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    let short = digest.as_ref().iter().take(6).fold(0_u64, |short, byte| short << 8 | u64::from(*byte));
    format!("{short:012x}")
}

fn message(message: &crate::Message) -> wire::RequestMessage<'_> {
    let (calls, results) = sorted(&message.parts);
    let called = |call: &crate::ToolCall| wire::Call {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.object(),
    };
    wire::RequestMessage {
        role: message.speaker.role(),
        content: &message.text,
        images: images(&message.parts)
            .map(|image| wire::RequestImage { media_type: image.media_type, data: image.base64() })
            .collect(),
        tool_calls: calls.into_iter().map(called).collect(),
        tool_results: results
            .into_iter()
            .map(|result| wire::RequestResult {
                call_id: &result.call_id,
                name: &result.name,
                text: &result.text,
                is_error: result.is_error,
            })
            .collect(),
    }
}

fn tool(tool: &Tool) -> wire::RequestTool<'_> {
    wire::RequestTool { name: &tool.name, description: &tool.description, schema: &tool.schema }
}
