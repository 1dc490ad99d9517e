//! Thoughts: the agent's reasoning in a session, stored as a context of the workspace so that it can be
//! explored and queried. A query may include the thoughts of this session in full and summaries of the last
//! three sessions. The answer is then stored with the thought that led to it, the model and the time.

use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_context::{ContextId, ContextKind, NewContext, NewSource, SourceInput, redact};
use spelunk_engine::{Clock as _, SystemClock};
use spelunk_types::RunId;

use super::{ClientModelName, Ended, Failure, State, ToolAnswer, Usage, cut, model_name};

const PREFIX: &str = "thoughts/";
const THOUGHT_CHARS_MAX: usize = 50_000;
const THOUGHTS_MAX: usize = 1000;
const SESSION_BYTES_MAX: usize = 2_000_000;
const ANSWER_CHARS_MAX: usize = 20_000;
/// How many characters of an earlier session, and of one thought in it, are shown.
const EARLIER_CHARS_MAX: usize = 2000;
const LINE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub(super) struct Session {
    /// Contains the start time, so that ids sort by time.
    id: String,
    thoughts: Vec<Thought>,
}

#[derive(Debug, Clone)]
struct Thought {
    at_ms: u64,
    text: String,
    answers: Vec<ThoughtAnswer>,
}

#[derive(Debug, Clone)]
struct ThoughtAnswer {
    run: RunId,
    model: String,
    at_ms: u64,
    text: String,
}

impl Session {
    pub(super) fn new(now_ms: u64) -> Self {
        Self { id: format!("{PREFIX}{now_ms:013}"), thoughts: Vec::new() }
    }

    fn render(&self) -> String {
        let mut text = String::new();
        for (idx, thought) in self.thoughts.iter().enumerate() {
            text += &format!(
                "## Thought {}, at {} ms\n\n{}\n\n",
                idx + 1,
                thought.at_ms,
                thought.text.trim_end()
            );
            for answer in &thought.answers {
                let ThoughtAnswer { run, model, at_ms, text: said } = answer;
                text += &format!(
                    "### Answer of {model}, run {}, at {at_ms} ms\n\n{}\n\n",
                    run.short(),
                    said.trim_end()
                );
            }
        }
        text
    }

    fn json(&self) -> Vec<Value> {
        let of_answer = |answer: &ThoughtAnswer| json!({ "run": answer.run, "model": answer.model, "at_ms": answer.at_ms, "answer": answer.text });
        let of_thought = |(idx, thought): (usize, &Thought)| {
            let answers: Vec<Value> = thought.answers.iter().map(of_answer).collect();
            json!({ "thought": idx + 1, "at_ms": thought.at_ms, "text": thought.text, "answers": answers })
        };
        self.thoughts.iter().enumerate().map(of_thought).collect()
    }
}

fn save(state: &State, id: &str, text: String) -> Result<(), Failure> {
    drop(state.app.workspace()?);
    let mut new = NewContext::new(ContextId::new(id)?, ContextKind::Memory, NewSource::Inline(text));
    "thoughts of a session".clone_into(&mut new.name);
    state.store().replace(new)?;
    Ok(())
}

pub(super) fn add(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let text = arguments.needed("text", THOUGHT_CHARS_MAX)?;
    arguments.finish()?;
    if text.trim().is_empty() {
        return Err(wrong("text", "is empty").into());
    }
    let (id, rendered, n_thoughts) = {
        let mut session = state.session();
        if session.thoughts.len() >= THOUGHTS_MAX || session.render().len() + text.len() > SESSION_BYTES_MAX {
            let hint = "start another session of the server";
            return Err(Usage::new("the session has too many thoughts", hint).into());
        }
        let text = redact(&text).0.into_owned();
        session.thoughts.push(Thought { at_ms: SystemClock.now_ms(), text, answers: Vec::new() });
        (session.id.clone(), session.render(), session.thoughts.len())
    };
    save(state, &id, rendered)?;
    let text = format!("thought {n_thoughts}, in the context {id}");
    Ok(ToolAnswer::new(text, json!({ "thought": n_thoughts, "context_id": id })))
}

pub(super) fn list(state: &State, arguments: Arguments) -> Result<ToolAnswer, Failure> {
    arguments.finish()?;
    let earlier = earlier(state);
    let session = state.session();
    let mut text = session.render();
    if session.thoughts.is_empty() {
        text.push_str("no thoughts in this session\n");
    }
    for (id, summary) in &earlier {
        text += &format!("\n# Earlier: {id}\n\n{summary}\n");
    }
    let earlier: Vec<Value> =
        earlier.iter().map(|(id, summary)| json!({ "context_id": id, "beginning": summary })).collect();
    let data = json!({ "context_id": session.id, "thoughts": session.json(), "earlier": earlier });
    Ok(ToolAnswer::new(text, data))
}

/// A summary of a session: the first line of each thought and answer; if too long, only the last ones.
fn summary(text: &str) -> String {
    let (mut lines, mut wants_line) = (Vec::new(), false);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let is_heading = line.starts_with("## Thought ") || line.starts_with("### Answer of ");
        if is_heading || wants_line {
            lines.push(cut(line, LINE_CHARS_MAX).0);
        }
        wants_line = is_heading;
    }
    let mut n_chars = 0;
    let is_within = |line: &&String| {
        n_chars += line.chars().count() + 1;
        n_chars <= EARLIER_CHARS_MAX
    };
    let mut kept: Vec<&String> = lines.iter().rev().take_while(is_within).collect();
    kept.reverse();
    kept.into_iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// The earlier sessions as summaries, newest first.
fn earlier(state: &State) -> Vec<(String, String)> {
    let own = state.session().id.clone();
    let n_max = usize::try_from(state.app.settings.limits.prior_sessions_max).unwrap_or(usize::MAX);
    let mut ids: Vec<String> = state.store().list().iter().map(|context| context.id.to_string()).collect();
    ids.retain(|id| id.starts_with(PREFIX) && *id != own);
    ids.sort_unstable_by(|a, b| b.cmp(a));
    let text = |id: String| {
        // An unreadable session is skipped.
        let text = state.store().load(&id).ok()?;
        Some((id, summary(&text)))
    };
    ids.into_iter().take(n_max).filter_map(text).collect()
}

/// The thoughts as sources of a run, and the number of the thought the answer belongs to. Blocking.
pub(super) fn sources(state: &State) -> Result<(Vec<SourceInput>, usize), Usage> {
    let text_input = |name: &str, text: &str| SourceInput::Text {
        name: format!("{name}.md"),
        bytes: text.as_bytes().to_vec(),
    };
    let (current, number) = {
        let session = state.session();
        (text_input(&session.id, &session.render()), session.thoughts.len())
    };
    if number == 0 {
        return Err(Usage::new("there are no thoughts in this session", "add one with `thought_add`"));
    }
    let earlier = earlier(state);
    let earlier = earlier.iter().map(|(id, summary)| text_input(id, summary));
    Ok((std::iter::once(current).chain(earlier).collect(), number))
}

/// Blocking.
pub(super) fn answered(
    state: &Arc<State>,
    number: usize,
    ended: &Ended,
    name: &ClientModelName,
) -> Result<(), Failure> {
    let Some(answer) = &ended.result.answer else { return Ok(()) };
    let (id, rendered) = {
        let mut session = state.session();
        let Some(thought) = session.thoughts.get_mut(number.wrapping_sub(1)) else { return Ok(()) };
        thought.answers.push(ThoughtAnswer {
            run: ended.result.run.clone(),
            model: model_name(name)
                .or_else(|| ended.view.model.as_ref().map(ToString::to_string))
                .unwrap_or_default(),
            at_ms: SystemClock.now_ms(),
            text: cut(&answer.text, ANSWER_CHARS_MAX).0,
        });
        (session.id.clone(), session.render())
    };
    save(state, &id, rendered)
}
