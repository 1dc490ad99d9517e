//! The auto strategy: looks at the text first, answers cheaply where the evidence settles the question, and climbs
//! otherwise. Rows are queried with SQL. For other text, one short call decides how much of it has to be read, and what
//! to search for: all of it is read by `map`, a fact is looked up by `search`, and what a search does not settle is left
//! to `repl`. Each step is recorded with its reason. No word of the question is interpreted by code.

use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_model::Prompt;
use spelunk_types::{EventKind, Strategy};

use super::one_call::Answered;
use super::search;
use crate::plain_answer::empty_reply;
use crate::rows::query_rows;
use crate::{Answer, Frame, FrameError, Task};

const SYSTEM: &str = include_str!("../prompts/auto-first.md");
pub(super) const PROMPTS: [&str; 1] = [SYSTEM];

const FIRST_TOKENS_MAX: u64 = 200;
const QUERIES_MAX: usize = 4;
const QUERY_CHARS_MAX: usize = 200;
/// Names of documents that the model is shown.
const NAMES_MAX: usize = 12;

/// What the first steps came to.
pub(super) enum Outcome {
    /// An answer that the evidence settles, or the best that this model can give.
    Answered(Answer),
    /// This strategy has to answer.
    Climb(Strategy),
}

/// The first steps.
pub(super) async fn solve(frame: &Frame, task: &Task) -> Result<Outcome, FrameError> {
    if task.note.is_none()
        && let Some(answer) = query_rows(frame, task).await?
    {
        return Ok(Outcome::Answered(answer));
    }
    // A small model calls almost every question one about everything: it is not asked.
    let first =
        if frame.reader().is_small() { FirstLook::default() } else { first_look(frame, task).await? };
    if first.reads_everything {
        return climb(frame, Strategy::Map, "the question is about all of the text").await;
    }
    choose(frame, Strategy::Search, "the answer is in a few places of the text").await?;
    match search::answer(frame, task, first.queries).await? {
        Answered { answer, is_settled } if is_settled || frame.reader().is_small() => {
            Ok(Outcome::Answered(answer))
        }
        Answered { .. } => {
            climb(frame, Strategy::Repl, "the passages that were found do not settle the question").await
        }
    }
}

async fn climb(frame: &Frame, strategy: Strategy, why: &str) -> Result<Outcome, FrameError> {
    choose(frame, strategy, why).await?;
    Ok(Outcome::Climb(strategy))
}

async fn choose(frame: &Frame, strategy: Strategy, why: &str) -> Result<(), FrameError> {
    frame.note(EventKind::StrategyChosen { strategy, why: why.to_owned() }).await
}

/// What the model makes of a question before it has seen the text.
#[derive(Debug, Default, PartialEq, Eq)]
struct FirstLook {
    reads_everything: bool,
    queries: Vec<String>,
}

async fn first_look(frame: &Frame, task: &Task) -> Result<FirstLook, FrameError> {
    let question = task.question_shown();
    let names: Vec<&str> =
        task.view.documents().take(NAMES_MAX).map(|document| document.name.as_str()).collect();
    let n_documents = task.view.documents().len();
    let more = if n_documents > names.len() { ", …" } else { "" };
    let user = format!(
        "The text: {n_documents} documents, {} kB: {}{more}\n\nQuestion: {question}",
        task.view.bytes() / 1000 + 1,
        names.join(", ").replace(['\n', '\r'], " "),
    );
    let mut prompt = Prompt::single(SYSTEM, user, FIRST_TOKENS_MAX);
    prompt.schema = Some(Arc::new(json!({
        "type": "object",
        "properties": {
            "read": {"type": "string", "enum": ["a few places", "everything"]},
            "queries": {"type": "array", "items": {"type": "string"}, "maxItems": QUERIES_MAX},
        },
        "required": ["read", "queries"],
        "additionalProperties": false,
    })));
    let reply = match frame.ask_sub(prompt).await {
        Err(error @ FrameError::Stopped(_)) => return Err(error),
        // The question itself can be searched for.
        Err(_) => return Ok(FirstLook::default()),
        asked => empty_reply::said(asked)?,
    };
    Ok(reply.map(|reply| FirstLook::read(&reply.text)).unwrap_or_default())
}

impl FirstLook {
    /// Parses a reply; what cannot be parsed is a question for a few places.
    fn read(reply: &str) -> Self {
        let object = reply.find('{').zip(reply.rfind('}')).and_then(|(start, end)| reply.get(start..=end));
        let Some(said) = object.and_then(|object| serde_json::from_str::<Value>(object).ok()) else {
            return Self::default();
        };
        let queries =
            said.get("queries").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let short = |query: &str| query.trim().chars().take(QUERY_CHARS_MAX).collect::<String>();
        Self {
            reads_everything: said.get("read").and_then(Value::as_str) == Some("everything"),
            queries: queries.map(short).filter(|query| !query.is_empty()).take(QUERIES_MAX).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_look_is_parsed_as_far_as_it_goes() {
        let looked = |reads_everything, queries: &[&str]| FirstLook {
            reads_everything,
            queries: queries.iter().map(|&query| query.to_owned()).collect(),
        };
        let cases = [
            (
                r#"{"read": "a few places", "queries": ["port", " ", "listen address"]}"#,
                looked(false, &["port", "listen address"]),
            ),
            ("```json\n{\"read\": \"everything\", \"queries\": []}\n```", looked(true, &[])),
            (r#"{"read": 7, "queries": "port"}"#, looked(false, &[])),
            ("I would search for the port.", looked(false, &[])),
            ("", looked(false, &[])),
        ];
        for (reply, expected) in cases {
            assert_eq!(FirstLook::read(reply), expected, "{reply}");
        }
    }
}
