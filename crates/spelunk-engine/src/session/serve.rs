//! Serves the host calls of a cell: sub-models, children, answers and the budget. The environment
//! serves calls that look at text.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

pub(super) mod desk;
mod files;
pub(super) mod images;
mod tools;

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt, join_all, ready};
use serde_json::json;
use spelunk_model::{Model, Prompt, Reply};
use spelunk_sandbox::{HostCall, HostFunction, HostReply, Value};
use spelunk_types::{Blame, ErrorCode, Explain};

use super::Session;
use crate::environment::{Arguments, Environment, Refusal, json_of_value, value_of_json};
use crate::models::ModelLookupError;
use crate::sync::watched;
use crate::{Answer, FrameError, Result, Schema, Stop, Task};

const SCHEMA_LINE: &str = "\n\nReply only with JSON that matches this schema:\n";

const NAME_CHARS_MAX: usize = 60;

pub(super) struct StartedCall {
    pub(super) reply: Replying,
    /// Whether repeating the call would cost money or return something else.
    pub(super) is_effect: bool,
}

pub(super) fn functions() -> Vec<HostFunction> {
    let ask = [
        (
            "llm_query",
            "llm_query(prompt, model=None, schema=None, images=None) -> str\n\nAsks a sub-model.",
            true,
        ),
        ("_llm_batch", "", false),
        (
            "rlm_query",
            "rlm_query(prompt, context=None, model=None, schema=None) -> str\n\nAsks a child with its own session.",
            true,
        ),
        ("_rlm_batch", "", false),
        ("_tool_batch", "", false),
        ("FINAL", "FINAL(answer, cite=None)\n\nEnds the session with this answer.", false),
        ("budget", "budget() -> dict\n\nThe remaining calls, tokens, dollars and depth.", false),
    ];
    ask.map(|(name, doc, is_awaitable)| HostFunction { name: name.into(), doc: doc.into(), is_awaitable })
        .to_vec()
}

/// Begins a call. Its id is assigned now.
pub(super) fn begin(session: &mut Session<'_>, mut call: HostCall) -> StartedCall {
    if let Some(looking) = look(session, &call) {
        return StartedCall { reply: looking.map(Ok).boxed(), is_effect: false };
    }
    if let Some(reply) = look_outside(session, &call) {
        return StartedCall { reply, is_effect: true };
    }
    if let Some(begun) = desk::begin(session, &mut call) {
        return begun;
    }
    if let Some(tool) = session.frame.tools().iter().find(|tool| tool.name == call.name) {
        return StartedCall { reply: tools::act(session, tool, call), is_effect: true };
    }
    let begun = match call.name.as_str() {
        "llm_query" => llm_query(session, &mut call),
        "_llm_batch" => llm_batch(session, &mut call),
        "rlm_query" => rlm_query(session, &mut call),
        "_rlm_batch" => rlm_batch(session, &mut call),
        "_tool_batch" => tools::act_batch(session, &mut call),
        "budget" => Ok(budget(session)),
        "FINAL" => Ok(ready(Ok(finish(session, &mut call))).boxed()),
        other => Err(Refusal::new("NameError", format!("there is no function '{other}'")).into()),
    };
    let reply = begun.unwrap_or_else(|refused| match refused {
        Refused::Now(refusal) => ready(Ok(HostReply::from(refusal))).boxed(),
        Refused::Recorded(reply) => reply,
    });
    StartedCall { reply, is_effect: true }
}

enum Refused {
    /// The arguments are wrong, now and on every replay.
    Now(Refusal),
    /// The model is unavailable for now, so the outcome is recorded.
    Recorded(Replying),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Now(refusal)
    }
}

/// A call that only looks at text: its result is the same each time.
pub(super) fn look(session: &Session<'_>, call: &HostCall) -> Option<BoxFuture<'static, HostReply>> {
    let is_looking = Environment::serves(call) && !session.environment.asks_outside(call);
    is_looking.then(|| serve_look(session, call))
}

/// A search of the index or a query of a database. Either may give another result when the run is resumed.
fn look_outside(session: &Session<'_>, call: &HostCall) -> Option<Replying> {
    if !session.environment.asks_outside(call) {
        return None;
    }
    let here = session.environment.clone();
    let reading = serve_look(session, call).map(move |found| match here.take_lost() {
        Some(lost) => Err(lost.into()),
        None => Ok(written(&found).to_string()),
    });
    let observed = session.frame.observe(&asked(call), reading);
    Some(observed.map(|found| Ok(read_reply(&found?))).boxed())
}

fn asked(call: &HostCall) -> String {
    let args: Vec<_> = call.args.iter().map(json_of_value).collect();
    let named = call.kwargs.iter().map(|(name, value)| (name.clone(), json_of_value(value)));
    format!("{} {}", call.name, json!([args, named.collect::<serde_json::Map<_, _>>()]))
}

/// A reply as recorded. A live one is read back too, so that both are identical to the last digit.
fn written(reply: &HostReply) -> serde_json::Value {
    match reply {
        HostReply::Return(value) => json!({ "return": json_of_value(value) }),
        HostReply::Raise { kind, message } => json!({ "raise": [kind, message] }),
        HostReply::Finish => json!({}),
    }
}

fn read_reply(written: &str) -> HostReply {
    let mut written: serde_json::Value = serde_json::from_str(written).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    match written.get("raise") {
        Some(raised) => HostReply::Raise { kind: text(&raised[0]), message: text(&raised[1]) },
        None => HostReply::Return(value_of_json(written["return"].take())),
    }
}

fn serve_look(session: &Session<'_>, call: &HostCall) -> BoxFuture<'static, HostReply> {
    let (environment, call, frame) = (session.environment.clone(), call.clone(), session.frame.clone());
    let here = environment.clone();
    // Lazy, so that a recorded search is not repeated.
    Box::pin(async move {
        let ms_max = environment.query_ms_max();
        let looked = watched(ms_max, move |watch| environment.watched(watch).serve(call)).await;
        for notice in here.take_untold() {
            // If the journal cannot be written, the next call ends the run.
            drop(frame.warn_of(&notice).await);
        }
        looked.map_or_else(HostReply::from, HostReply::Return)
    })
}

type Replying = BoxFuture<'static, Result<HostReply>>;

fn llm_query(session: &mut Session<'_>, call: &mut HostCall) -> Result<Replying, Refused> {
    let mut arguments = Arguments::of(call, &["prompt", "model", "schema", "images"])?;
    let prompt = arguments.need("prompt")?;
    let images = images::named(&mut arguments)?;
    let options = CallOptions { images, ..options(session, &mut arguments)? };
    let asking = ask(session, &prompt, options)?;
    Ok(asking.map(|answered| answered.map(reply)).boxed())
}

fn llm_batch(session: &mut Session<'_>, call: &mut HostCall) -> Result<Replying, Refused> {
    let mut arguments = Arguments::of(call, &["prompts", "model", "schema"])?;
    let prompts = arguments.need_items("prompts")?;
    let options = options(session, &mut arguments)?;
    check_calls(session, prompts.len())?;
    let asking =
        prompts.iter().map(|prompt| ask(session, prompt, options.clone())).collect::<Result<Vec<_>, _>>()?;
    Ok(join_all(asking).map(batch_reply).boxed())
}

fn rlm_query(session: &mut Session<'_>, call: &mut HostCall) -> Result<Replying, Refused> {
    let mut arguments = Arguments::of(call, &["prompt", "context", "model", "schema"])?;
    let prompt = arguments.need_text("prompt")?;
    let context = arguments.take("context");
    let options = options(session, &mut arguments)?;
    let descending = descend(session, prompt, context, options)?;
    Ok(descending.map(|answered| answered.map(reply)).boxed())
}

fn rlm_batch(session: &mut Session<'_>, call: &mut HostCall) -> Result<Replying, Refused> {
    let mut arguments = Arguments::of(call, &["prompts", "contexts", "model", "schema"])?;
    let prompts = arguments.need_items("prompts")?;
    let contexts = arguments.need_items("contexts")?;
    let options = options(session, &mut arguments)?;
    check_calls(session, prompts.len())?;
    if contexts.len() != prompts.len() {
        let (n_contexts, n_prompts) = (contexts.len(), prompts.len());
        return Err(Refusal::value(format!(
            "{n_prompts} prompts, but {n_contexts} contexts: give one context per prompt"
        ))
        .into());
    }
    let mut descending = Vec::new();
    for (prompt, context) in prompts.into_iter().zip(contexts) {
        let prompt = prompt_text(session, &prompt)?;
        let context = Some(context).filter(|context| *context != Value::None);
        descending.push(descend(session, prompt, context, options.clone())?);
    }
    Ok(join_all(descending).map(batch_reply).boxed())
}

fn budget(session: &Session<'_>) -> Replying {
    let frame = session.frame.clone();
    let observed = session.frame.observe("budget", async move { Ok(frame.budget_left().to_string()) });
    Box::pin(async move {
        let left = serde_json::from_str(&observed.await?).map_or(Value::None, value_of_json);
        Ok(HostReply::Return(left))
    })
}

fn finish(session: &mut Session<'_>, call: &mut HostCall) -> HostReply {
    let bound = Arguments::of(call, &["answer", "cite"]);
    let admitted = bound.and_then(|mut arguments| {
        let (value, cite) = (arguments.need("answer")?, arguments.take("cite"));
        session.check.admit(value, cite)
    });
    match admitted {
        Ok(given) => {
            session.given = Some(given);
            HostReply::Finish
        }
        Err(refusal) => refusal.into(),
    }
}

/// The result of one sub-call: a value, or an exception for the code. The error ends the run.
type SubCallResult = Result<Result<Value, Refusal>>;

#[derive(Clone, Default)]
struct CallOptions {
    model: Option<Arc<dyn Model>>,
    schema: Option<Arc<Schema>>,
    images: Vec<String>,
}

fn ask(
    session: &mut Session<'_>,
    prompt: &Value,
    options: CallOptions,
) -> Result<BoxFuture<'static, SubCallResult>, Refusal> {
    let limits = session.frame.limits();
    let mut text = prompt_text(session, prompt)?;
    check_length(&text, limits.query_chars_max)?;
    check_calls(session, 1)?;
    session.n_calls += 1;
    let CallOptions { model, schema, images } = options;
    if let Some(schema) = &schema {
        text += SCHEMA_LINE;
        text += &schema.text;
    }
    let mut prompt = Prompt::single("", text, limits.sub_output_tokens_max);
    prompt.schema = schema.as_ref().and_then(|schema| schema.json());
    let call = session.frame.take_call();
    let correction = schema.as_ref().and_then(|_| session.frame.take_correction());
    let frame = session.frame.clone();
    let shown = (!images.is_empty()).then(|| frame.show_images(&session.task.view, images, model.clone()));
    // Without images, the call is started before anything is awaited.
    let first = shown.is_none().then(|| frame.ask_sub_at(call.clone(), prompt.clone(), model.clone()));
    Ok(Box::pin(async move {
        if let Some(shown) = shown
            && let Err(refusal) = images::add(&mut prompt, shown.await?)
        {
            return Ok(Err(refusal));
        }
        let first = first.unwrap_or_else(|| frame.ask_sub_at(call, prompt.clone(), model.clone()));
        let reply = match first.await {
            Ok(reply) => reply,
            Err(error) => return refused(error).map(Err),
        };
        match schema {
            None => Ok(Ok(Value::Str(reply.text))),
            Some(schema) => {
                let again = |prompt| match correction {
                    Some(call) => frame.ask_sub_at(call, prompt, model),
                    None => frame.ask_sub_of(prompt, model),
                };
                typed(&schema, prompt, reply, again).await
            }
        }
    }))
}

/// Parses a typed reply; if it is invalid, asks for one correction.
async fn typed(
    schema: &Schema,
    mut prompt: Prompt,
    reply: Reply,
    again: impl FnOnce(Prompt) -> BoxFuture<'static, Result<Reply>>,
) -> SubCallResult {
    let fault = match schema.read(&reply.text) {
        Ok(value) => return Ok(Ok(value_of_json(value))),
        Err(fault) => fault,
    };
    if let Some(asked) = prompt.messages.last_mut() {
        asked.text += &format!("\n\nAn earlier reply was not accepted:\n{fault}");
    }
    match again(prompt).await {
        Ok(reply) => Ok(schema.read(&reply.text).map(value_of_json).map_err(|fault| {
            Refusal::new("ModelError", format!("the reply does not match the schema: {fault}"))
        })),
        Err(error) => refused(error).map(Err),
    }
}

/// Opens a child with its own loop; at the maximum depth, asks a plain question that includes the text.
fn descend(
    session: &mut Session<'_>,
    question: String,
    context: Option<Value>,
    options: CallOptions,
) -> Result<BoxFuture<'static, SubCallResult>, Refusal> {
    let limits = session.frame.limits();
    let is_deepest = u64::from(session.frame.id().depth()) >= limits.depth_max;
    if is_deepest {
        let prompt = match context.as_ref().and_then(crate::environment::text_of_value) {
            Some(text) => format!("{question}\n\n{text}"),
            None => question,
        };
        return ask(session, &Value::Str(prompt), options);
    }
    let (view, note) = match context {
        // A long prompt is both question and text, as in the reference engine.
        None if question.chars().count() as u64 > limits.inline_chars_max => {
            (session.task.view.clone(), Some(Arc::from(question.as_str())))
        }
        context => session.environment.part(context)?,
    };
    let question = if note.as_deref() == Some(question.as_str()) {
        "Do what the text in `context` asks for.".to_owned()
    } else {
        question
    };
    let CallOptions { model, schema, images: _ } = options;
    let task = Task { note, schema, model, ..Task::new(question, view, session.task.strategy) };
    let has_schema = task.schema.is_some();
    let descending = session.frame.descend(task);
    Ok(Box::pin(async move {
        match descending.await {
            Ok(Answer { text, .. }) if has_schema => {
                Ok(Ok(serde_json::from_str(&text).map_or(Value::Str(text), value_of_json)))
            }
            Ok(Answer { text, .. }) => Ok(Ok(Value::Str(text))),
            Err(error) => refused(error).map(Err),
        }
    }))
}

fn prompt_text(session: &Session<'_>, prompt: &Value) -> Result<String, Refusal> {
    match prompt {
        Value::Str(text) => Ok(text.clone()),
        Value::Handle(handle) => session.environment.text_of(handle).ok_or_else(|| not_a_prompt(prompt)),
        _ => Err(not_a_prompt(prompt)),
    }
}

fn not_a_prompt(value: &Value) -> Refusal {
    Refusal::of_type(format!("a prompt must be a str, not {}", value.type_name()))
}

fn check_length(prompt: &str, chars_max: u64) -> Result<(), Refusal> {
    let n_chars = prompt.chars().count() as u64;
    if n_chars > chars_max {
        return Err(Refusal::value(format!(
            "the prompt has {n_chars} characters; the maximum is {chars_max} (`limits.query_chars_max`): split the text and ask about each part"
        )));
    }
    Ok(())
}

/// Refuses calls beyond the limit of one cell; a batch is refused as a whole, before any of it is sent.
fn check_calls(session: &Session<'_>, n: usize) -> Result<(), Refusal> {
    let limits = session.frame.limits();
    let (max, setting) = match session.agent {
        Some(_) => (limits.script_calls_max, "script_calls_max"),
        None => (limits.cell_calls_max, "cell_calls_max"),
    };
    if session.n_calls + n as u64 <= max {
        return Ok(());
    }
    let message = format!(
        "a block can make at most {max} calls (`limits.{setting}`), and this would be {}: put more text into each prompt, or continue in the next block",
        session.n_calls + n as u64
    );
    Err(Refusal::new("BudgetError", message))
}

/// An exception for the code, unless the run must end.
fn refused(error: FrameError) -> Result<Refusal> {
    match &error {
        FrameError::Stopped(_) => Err(error),
        FrameError::Call { .. } | FrameError::Child { .. } | FrameError::Refused { .. } => {
            let kind = if error.code().blame() == Blame::Limit { "BudgetError" } else { "ModelError" };
            let advice = match error.code() {
                ErrorCode::ModelPromptTooLong => ": split the text and ask about each part".to_owned(),
                code if kind == "BudgetError" => {
                    code.hint().map(|hint| format!(" ({hint})")).unwrap_or_default()
                }
                _ => String::new(),
            };
            Ok(Refusal::new(kind, format!("{}: {error}{advice}", error.code())))
        }
    }
}

fn reply(asked: Result<Value, Refusal>) -> HostReply {
    asked.map_or_else(HostReply::from, HostReply::Return)
}

/// One failed item does not fail the batch: each is `(failed, value or message)`.
fn batch_reply(asked: Vec<SubCallResult>) -> Result<HostReply> {
    let mut items = Vec::new();
    for answered in asked {
        items.push(match answered? {
            Ok(value) => Value::Tuple(vec![Value::Bool(false), value]),
            Err(refusal) => Value::Tuple(vec![Value::Bool(true), Value::Str(refusal.message)]),
        });
    }
    Ok(HostReply::Return(Value::List(items)))
}

fn options(session: &Session<'_>, arguments: &mut Arguments<'_>) -> Result<CallOptions, Refused> {
    let schema = schema(arguments.take("schema"))?;
    let Some(name) = arguments.text("model")? else {
        return Ok(CallOptions { schema, ..CallOptions::default() });
    };
    let frame = &session.frame;
    let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
    let asked = format!("model {shown}");
    let why = match frame.run().models.named.model(&name) {
        Ok(model) if !frame.observes_next(&asked) => {
            return Ok(CallOptions { model: Some(model), schema, ..CallOptions::default() });
        }
        // It was unavailable before; the journal has the message that the code got.
        Ok(_) => String::new(),
        Err(ModelLookupError::Unknown { known }) if known.is_empty() => {
            let message =
                format!("there is no model '{shown}', and no other one is available: leave out 'model'");
            return Err(Refusal::value(message).into());
        }
        Err(ModelLookupError::Unknown { known }) => {
            let message = format!("there is no model '{shown}'; the models are {known}");
            return Err(Refusal::value(message).into());
        }
        Err(ModelLookupError::Closed { why }) if frame.is_replaying() && !frame.observes_next(&asked) => {
            let stop = Stop::ModelClosed { name: shown, why };
            return Err(Refused::Recorded(ready(Err(stop.into())).boxed()));
        }
        Err(ModelLookupError::Closed { why }) => why,
    };
    let observed = frame.observe(&asked, ready(Ok(why)));
    let refused = async move {
        let message = format!("the model '{shown}' cannot be used: {}", observed.await?);
        Ok(HostReply::from(Refusal::new("ModelError", message)))
    };
    Err(Refused::Recorded(refused.boxed()))
}

fn schema(value: Option<Value>) -> Result<Option<Arc<Schema>>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    let text = match value {
        Value::Str(text) => text,
        other => json_of_value(&other).to_string(),
    };
    let parsed = Schema::parse(&text).map_err(|error| Refusal::value(error.to_string()))?;
    Ok(Some(Arc::new(parsed)))
}
