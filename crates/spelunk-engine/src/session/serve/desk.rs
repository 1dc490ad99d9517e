//! Serves the host calls of an agent's script: sub-models, chunks, evidence, budgets and files.

use futures_util::future::{BoxFuture, FutureExt, join_all, ready};
use serde_json::json;
use spelunk_desk::{Desk, DeskPath, NO_HEADINGS, index_path, run_tool};
use spelunk_model::{Message, Prompt, Reply};
use spelunk_sandbox::{FILES, HostCall, HostFunction, HostReply, Value};
use spelunk_types::{CallId, Explain};

use super::{Replying, StartedCall, check_length, files, not_a_prompt};
use crate::environment::{Arguments, Refusal, dict, int, json_of_value, value_of_json};
use crate::session::{AgentState, Session};
use crate::{Frame, FrameError, Result};

/// The largest file that is chunked for a script, which also holds it in memory.
const CUT_BYTES_MAX: usize = 16_000_000;
const SHOWN_CHARS_MAX: usize = 80;

/// The host functions that the modules of `tools` call. `_files` handles all file access of scripts.
pub(in crate::session) fn functions() -> Vec<HostFunction> {
    let names =
        "_agent_call _agent_batch _agent_budget _agent_chunk _agent_headings _agent_lines _agent_evidence";
    let function = |name: &str| HostFunction { name: name.into(), doc: String::new(), is_awaitable: false };
    names.split(' ').chain([FILES]).map(function).collect()
}

/// Begins a script's host call, if it is one of these. Its call id is taken now.
pub(super) fn begin(session: &mut Session<'_>, call: &mut HostCall) -> Option<StartedCall> {
    let (frame, agent) = (session.frame, session.agent.as_mut()?);
    let asked = |asking: Result<Replying, Refusal>| asking.unwrap_or_else(|refusal| at_once(Err(refusal)));
    let reply = match call.name.as_str() {
        "_agent_call" => asked(ask_one(frame, agent, call)),
        "_agent_batch" => asked(ask_many(frame, agent, call)),
        "_agent_budget" => at_once(Ok(budget(frame, agent))),
        "_agent_chunk" => at_once(chunk(&mut agent.desk, call)),
        "_agent_headings" => at_once(headings(&mut agent.desk, call)),
        "_agent_lines" => at_once(lines(&agent.desk, call)),
        "_agent_evidence" => at_once(evidence(&mut agent.desk, call)),
        FILES => at_once(files::serve(&mut agent.desk, call)),
        _ => return None,
    };
    // File changes of a script are not repeated when its session is rebuilt.
    Some(StartedCall { reply, is_effect: true })
}

fn at_once(value: Result<Value, Refusal>) -> Replying {
    ready(Ok(value.map_or_else(HostReply::from, HostReply::Return))).boxed()
}

struct Question {
    prompt: Prompt,
    /// The reply must not come from the cache.
    is_fresh: bool,
}

impl Question {
    /// What several questions have in common.
    fn template(frame: &Frame, arguments: &mut Arguments<'_>) -> Result<Self, Refusal> {
        let tokens = arguments.count("max_tokens")?.filter(|tokens| *tokens > 0).unwrap_or(u64::MAX);
        let temperature = arguments.count("temperature_millis")?;
        let system = arguments.text("system")?.unwrap_or_default();
        let mut prompt = Prompt::single(system, "", tokens.min(frame.limits().sub_output_tokens_max));
        prompt.temperature_millis = temperature.map(u32::try_from).transpose().map_err(refused)?;
        Ok(Self { prompt, is_fresh: arguments.flag("use_cache")? == Some(false) })
    }

    fn about(&self, frame: &Frame, text: &str) -> Result<Self, Refusal> {
        check_length(text, frame.limits().query_chars_max)?;
        let prompt = Prompt { messages: vec![Message::user(text)], ..self.prompt.clone() };
        Ok(Self { prompt, is_fresh: self.is_fresh })
    }
}

fn ask_one(frame: &Frame, agent: &mut AgentState, call: &mut HostCall) -> Result<Replying, Refusal> {
    const PARAMS: &[&str] = &["prompt", "system", "max_tokens", "temperature_millis", "use_cache"];
    let mut arguments = Arguments::of(call, PARAMS)?;
    let prompt = arguments.need_text("prompt")?;
    let question = Question::template(frame, &mut arguments)?.about(frame, &prompt)?;
    Ok(ask(frame, agent, question)?.map(|asked| asked.map(HostReply::Return)).boxed())
}

fn ask_many(frame: &Frame, agent: &mut AgentState, call: &mut HostCall) -> Result<Replying, Refusal> {
    const PARAMS: &[&str] = &["prompts", "system", "max_tokens", "temperature_millis", "use_cache"];
    let mut arguments = Arguments::of(call, PARAMS)?;
    let prompts = arguments.need_items("prompts")?;
    let template = Question::template(frame, &mut arguments)?;
    let mut questions = Vec::new();
    for prompt in &prompts {
        let text = prompt.as_str().ok_or_else(|| not_a_prompt(prompt))?;
        questions.push(template.about(frame, text)?);
    }
    let mut asking = Vec::new();
    for question in questions {
        asking.push(ask(frame, agent, question)?);
    }
    let asked = join_all(asking).map(|asked| {
        let replies = asked.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(HostReply::Return(Value::List(replies)))
    });
    Ok(asked.boxed())
}

/// Calls a sub-model. Replies from the cache are not counted, so that a script that runs again with
/// an exhausted budget gets the same replies.
fn ask(
    frame: &Frame,
    agent: &mut AgentState,
    question: Question,
) -> Result<BoxFuture<'static, Result<Value>>, Refusal> {
    let calls_max = frame.limits().script_calls_max;
    let is_at_hand = |prompt: &Prompt| !question.is_fresh && frame.is_at_hand(prompt);
    if agent.counts().script_calls >= calls_max && !is_at_hand(&question.prompt) {
        return Err(Refusal::new(
            "BudgetError",
            format!(
                "a script can make at most {calls_max} calls (`limits.script_calls_max`): put more text into each prompt, or continue in the next script"
            ),
        ));
    }
    agent.count(|counts| counts.script_calls += 1);
    let call_id = frame.next_call();
    let model = frame.sub_model_reference();
    let shown: String = question.prompt.messages[0].text.chars().take(SHOWN_CHARS_MAX).collect();
    let asking =
        if question.is_fresh { frame.ask_sub_anew(question.prompt) } else { frame.ask_sub(question.prompt) };
    let counted = agent.clone();
    Ok(Box::pin(async move {
        match asking.await {
            Ok(reply) => {
                let is_cached = counted.count_reply(&reply, true);
                Ok(result(&reply, &model, &call_id, is_cached))
            }
            Err(error @ FrameError::Stopped(_)) => Err(error),
            Err(error) => {
                counted.fail(&error.code().to_string(), &error.to_string(), &shown);
                Ok(Value::None)
            }
        }
    }))
}

fn result(reply: &Reply, model: &str, call: &CallId, is_cached: bool) -> Value {
    let usage = reply.usage.unwrap_or_default();
    dict([
        ("content", Value::from(reply.text.as_str())),
        ("model", Value::from(model)),
        ("input_tokens", int(usage.input_tokens)),
        ("output_tokens", int(usage.output_tokens)),
        ("cached", Value::Bool(is_cached)),
        ("call_id", Value::from(call.to_string())),
    ])
}

fn budget(frame: &Frame, agent: &AgentState) -> Value {
    let (limits, counts) = (frame.limits(), agent.counts());
    let left = |max: u64, used: u64| max.saturating_sub(used);
    value_of_json(json!({
        "scripts_created": counts.scripts,
        "scripts_remaining": left(limits.scripts_max, counts.scripts),
        "subcalls_made": counts.script_calls,
        "subcalls_remaining": left(limits.script_calls_max, counts.script_calls),
        "within_budget": counts.script_calls < limits.script_calls_max,
    }))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn refused(error: impl ToString) -> Refusal {
    Refusal::value(error.to_string())
}

fn chunk(desk: &mut Desk, call: &mut HostCall) -> Result<Value, Refusal> {
    let mut arguments = Arguments::of(call, &["path", "by", "size", "overlap"])?;
    let (path, by) = (arguments.need_text("path")?, arguments.need_text("by")?);
    let (size, overlap) = (arguments.count("size")?, arguments.count("overlap")?);
    let at = DeskPath::parse(&path).map_err(refused)?;
    let manifest = cut(desk, &at, (&by, size, overlap), "chunks")?;
    let text = desk.text(&at).map_err(refused)?;
    if text.len() > CUT_BYTES_MAX {
        return Err(Refusal::value(format!(
            "`{path}` has {} bytes; a script can load at most {CUT_BYTES_MAX}: the manifest is in cache/indexes/, read the parts you need",
            text.len()
        )));
    }
    let chunks = manifest.get("chunks").and_then(serde_json::Value::as_array).cloned().unwrap_or_default();
    let content = |chunk: &serde_json::Value| {
        let at = |name: &str| chunk.get(name).and_then(serde_json::Value::as_u64);
        let (start, end) = (usize::try_from(at("start_byte")?).ok()?, usize::try_from(at("end_byte")?).ok()?);
        text.get(start..end).map(Value::from)
    };
    let texts: Vec<Value> = chunks.iter().map(|chunk| content(chunk).unwrap_or(Value::from(""))).collect();
    Ok(dict([("chunks", value_of_json(chunks.into())), ("texts", Value::List(texts))]))
}

fn headings(desk: &mut Desk, call: &mut HostCall) -> Result<Value, Refusal> {
    let path = Arguments::of(call, &["path"])?.need_text("path")?;
    let file = DeskPath::parse(&path).map_err(refused)?;
    let index = match cut(desk, &file, ("headings", None, None), "headings_index") {
        Err(refusal) if refusal.message.contains(NO_HEADINGS) => {
            json!({ "source_file": path, "entries": [] })
        }
        index => index?,
    };
    Ok(value_of_json(index))
}

/// Chunks a file as the Chunk tool does, and returns its index of this kind.
fn cut(
    desk: &mut Desk,
    file: &DeskPath,
    (by, size, overlap): (&str, Option<u64>, Option<u64>),
    kind: &str,
) -> Result<serde_json::Value, Refusal> {
    let wanted = json!({ "path": file.to_string(), "by": by, "size": size, "overlap": overlap });
    run_tool(desk, "Chunk", &wanted).map_err(refused)?;
    let index = index_path(desk, file, kind).map_err(refused)?;
    serde_json::from_str(&desk.text(&index).map_err(refused)?).map_err(refused)
}

fn lines(desk: &Desk, call: &mut HostCall) -> Result<Value, Refusal> {
    let mut arguments = Arguments::of(call, &["path", "start", "end"])?;
    let path = DeskPath::parse(&arguments.need_text("path")?).map_err(refused)?;
    let (start, end) = (arguments.count("start")?.unwrap_or(1).max(1), arguments.count("end")?);
    let n_max = end.map_or(u64::MAX, |end| (end + 1).saturating_sub(start));
    let found = desk.lines(&path, start, n_max).map_err(refused)?;
    Ok(Value::from(found.lines.join("\n").as_str()))
}

fn evidence(desk: &mut Desk, call: &mut HostCall) -> Result<Value, Refusal> {
    let mut arguments = Arguments::of(call, &["tag", "content", "metadata", "source"])?;
    let mut entry = json!({ "tag": arguments.need_text("tag")?, "content": arguments.need_text("content")? });
    if let Some(metadata) = arguments.take("metadata") {
        entry["metadata"] = json_of_value(&metadata);
    }
    if let Some(source) = arguments.text("source")? {
        entry["source"] = source.into();
    }
    let text = run_tool(desk, "Evidence", &entry).map_err(refused)?;
    Ok(Value::from(text.as_str()))
}
