//! The checks between a model's answer and the user. An answer is returned to the model with the reason if it
//! is empty, was given before the data was touched, is only code or a tool call, or violates the schema.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use std::sync::Arc;

use spelunk_sandbox::Value;
use spelunk_types::Citation;

use crate::environment::{Preview, Refusal, json_of_value, text_of_value};
use crate::plain_answer::{self, CodeAlone};
use crate::schema::{extract_json, listed};
use crate::tools::ExternalTool;
use crate::{Answer, Frame, Result, Schema, Task, evidence};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GivenAnswer {
    pub(crate) text: String,
    pub(crate) claims: Vec<Citation>,
}

#[derive(Debug, Clone)]
pub(super) struct AnswerCheck {
    schema: Option<Arc<Schema>>,
    code: CodeAlone,
    /// Whether any code referred to the context, or all of it was shown.
    has_looked: bool,
    shown: String,
    /// Set after the first refusal: a second attempt is accepted, because the question may not need the text.
    has_refused_unseen: bool,
    /// Set after the first refusal: a second placeholder is accepted, because it may be the answer.
    has_refused_placeholder: bool,
}

/// Names with which code accesses the data.
const TOUCHES: [&str; 9] =
    ["context", "rlm_query", "grep", "search", "lines", "peek", "chunk", "outline", "query_rows"];

const PLACEHOLDERS: [&str; 7] = ["...", "…", "todo", "tbd", "answer", "your answer", "final answer"];

impl AnswerCheck {
    pub(super) fn new(schema: Option<Arc<Schema>>, code: CodeAlone, preview: Preview) -> Self {
        let (has_looked, shown) = (preview.is_whole, preview.text);
        Self { schema, code, has_looked, shown, has_refused_unseen: false, has_refused_placeholder: false }
    }

    /// Whether the answer is in the text that the model was shown.
    fn was_shown(&self, value: &Value) -> bool {
        let answer = text_of_value(value).unwrap_or_default();
        let (answer, is_word) = (answer.trim(), |c: char| c.is_alphanumeric());
        !answer.is_empty()
            && self.shown.match_indices(answer).any(|(at, found)| {
                let before = self.shown.get(..at).unwrap_or_default();
                let after = self.shown.get(at + found.len()..).unwrap_or_default();
                !before.ends_with(is_word) && !after.starts_with(is_word)
            })
    }

    pub(super) fn saw_code(&mut self, code: &str, tools: &[ExternalTool]) {
        self.has_looked |= TOUCHES.iter().any(|word| code.contains(word));
        self.has_looked |= tools.iter().any(|tool| code.contains(&tool.name));
    }

    #[expect(clippy::needless_pass_by_value, reason = "the value is given away")]
    pub(super) fn admit(&mut self, value: Value, cite: Option<Value>) -> Result<GivenAnswer, Refusal> {
        if !self.has_looked && !self.has_refused_unseen && !self.was_shown(&value) {
            self.has_refused_unseen = true;
            return Err(Refusal::value("you have not looked at `context` yet: look first, then answer"));
        }
        let text = match &self.schema {
            Some(schema) => typed(schema, &value)?,
            None => text_of_value(&value).unwrap_or_default(),
        };
        if let Some(fault) = plain_answer::fault(&text, self.code).filter(|_| self.schema.is_none()) {
            return Err(Refusal::value(format!("the answer is {}: give the answer itself", fault.what())));
        }
        if is_placeholder(&text) && !self.has_refused_placeholder {
            self.has_refused_placeholder = true;
            return Err(Refusal::value("the answer is a placeholder: give the answer itself"));
        }
        Ok(GivenAnswer { text, claims: claims(cite)? })
    }
}

fn is_placeholder(text: &str) -> bool {
    let bare = text.trim().trim_matches(['<', '>', '[', ']', '"', '\'']).to_lowercase();
    PLACEHOLDERS.contains(&bare.as_str())
}

fn typed(schema: &Schema, value: &Value) -> Result<String, Refusal> {
    let as_given = json_of_value(value);
    let read = value.as_str().and_then(extract_json);
    let fits = |json: &serde_json::Value| schema.check(json).is_ok();
    let json = match read {
        // Text may be the value itself, or the value written as JSON.
        Some(read) if fits(&read) || !fits(&as_given) => read,
        Some(_) | None => as_given,
    };
    match schema.check(&json) {
        Ok(()) => Ok(serde_json::to_string_pretty(&json).unwrap_or_default()),
        Err(violations) => {
            Err(Refusal::value(format!("the answer does not match the schema:\n{}", listed(&violations))))
        }
    }
}

/// Parses a reply that must be JSON of this schema, and formats it for people.
pub(crate) fn read_typed(schema: &Schema, reply: &str) -> Result<String, String> {
    Ok(serde_json::to_string_pretty(&schema.read(reply)?).unwrap_or_default())
}

/// Evidence as code passes it: a `grep` hit, a tuple, a line of text, or a list of these.
fn claims(cite: Option<Value>) -> Result<Vec<Citation>, Refusal> {
    let one = |value: &Value| {
        claim(value).ok_or_else(|| {
            let found = value.type_name();
            Refusal::value(format!(
                "`cite` takes hits of grep, (doc, line, words) tuples or 'doc:line: words' strings, not {found}"
            ))
        })
    };
    match cite {
        None | Some(Value::None) => Ok(Vec::new()),
        Some(Value::List(items)) => items.iter().map(one).collect(),
        Some(Value::Tuple(items)) if claim(&Value::Tuple(items.clone())).is_none() => {
            items.iter().map(one).collect()
        }
        Some(value) => Ok(vec![one(&value)?]),
    }
}

fn claim(value: &Value) -> Option<Citation> {
    let line_of = |value: &Value| match value {
        Value::Int(line) => u64::try_from(*line).ok(),
        _ => None,
    };
    match value {
        Value::Str(text) => evidence::claim(text),
        Value::Tuple(parts) | Value::List(parts) => match parts.as_slice() {
            [document, line, quote] => Some(Citation {
                document: document.as_str()?.to_owned(),
                line: line_of(line)?,
                quote: quote.as_str()?.trim().to_owned(),
            }),
            _ => None,
        },
        Value::Dict(fields) => {
            let field = |name: &str| {
                fields.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
            };
            let quote = field("text")?.as_str()?.trim().lines().next()?.to_owned();
            Some(Citation {
                document: field("doc")?.as_str()?.to_owned(),
                line: line_of(field("line")?)?,
                quote,
            })
        }
        _ => None,
    }
}

pub(crate) async fn settle(frame: &Frame, task: &Task, given: GivenAnswer) -> Result<Answer> {
    evidence::check_claims(frame, &task.view, &given.text, given.claims).await
}

#[cfg(test)]
mod tests;
