//! Parses the body of any of the APIs: the model, the conversation, the response format. API features that
//! this server lacks are rejected by name; unknown fields are ignored, as those APIs do.

use serde_json::{Map, Value, json};
use spelunk_app::config::StrategyChoice;

use spelunk_engine::CallerTurn;

use super::super::runs::TURN;
use super::tools::{call, result};
use super::{
    ApiError, ApiResult, MarkedDocument, Message, MessagePart, OfferedTools, Question, Speaker,
    ToolConversation, name_results,
};

const NAME_CHARS_MAX: usize = 200;
const MESSAGES_MAX: usize = 10_000;
const PARTS_MAX: usize = 10_000;
const CHARS_PER_TOKEN: u64 = 4;
/// The fields of a run request that the field `spelunk` may contain.
const OWN: [&str; 7] = ["paths", "contexts", "include", "exclude", "types", "focus", "limits"];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompatRequest {
    pub(super) model: String,
    /// In the format of `POST /v1/runs`.
    pub(super) request: Value,
    pub(super) documents: Vec<(String, String)>,
    pub(super) streams: bool,
    pub(super) includes_usage: bool,
    pub(super) progress: Progress,
    pub(super) answer_chars_max: Option<usize>,
    pub(super) is_typed: bool,
    pub(super) tools: Option<OfferedTools>,
    pub(super) marked: Vec<MarkedDocument>,
}

/// Where a stream reports the progress of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// In comments, which clients ignore.
    Comments,
    Reasoning,
}

/// The model that uses the settings' strategy, and one for each strategy.
pub(super) fn models() -> Vec<String> {
    let of_strategies = StrategyChoice::WORDS.iter().filter(|word| **word != "auto");
    std::iter::once("spelunk".to_owned()).chain(of_strategies.map(|word| format!("spelunk-{word}"))).collect()
}

/// The fields of a body; `null` counts as absent.
pub(super) struct BodyFields(Map<String, Value>);

impl BodyFields {
    pub(super) fn of(body: Value) -> ApiResult<Self> {
        match body {
            Value::Object(members) => Ok(Self(members)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(ApiError::member("body", "must be an object"))
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Removes the field, so that a long text is not copied.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> ApiResult<Option<&str>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| ApiError::member(name, "must be a string"))
    }

    pub(super) fn flag(&self, name: &str) -> ApiResult<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| ApiError::member(name, "must be true or false")),
        }
    }

    fn whole(&self, name: &str) -> ApiResult<Option<u64>> {
        let wrong = || ApiError::member(name, "must be a positive integer");
        let whole = |value: &Value| value.as_u64().filter(|number| *number > 0).ok_or_else(wrong);
        self.get(name).map(whole).transpose()
    }

    pub(super) fn refuse(&self, name: &str, what: &str) -> ApiResult<()> {
        let asks = match self.get(name) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Array(list)) => !list.is_empty(),
            Some(Value::String(word)) => word != "none" && word != "auto",
            Some(Value::Number(_) | Value::Object(_)) => true,
        };
        if asks { Err(ApiError::unsupported(name, what)) } else { Ok(()) }
    }
}

/// The fields that the APIs have in common under different names.
pub(super) struct CommonFields {
    pub(super) messages: Vec<Message>,
    /// The name of the field that contains the conversation.
    pub(super) named: &'static str,
    pub(super) schema: Option<Value>,
    pub(super) tools: Option<OfferedTools>,
    pub(super) tokens_max: Option<u64>,
    pub(super) includes_usage: bool,
}

impl CompatRequest {
    pub(super) fn of(members: &mut BodyFields, common: CommonFields, long_chars: usize) -> ApiResult<Self> {
        let model = require_model(members)?;
        let streams = members.flag("stream")?;
        let (mut request, progress) = own(members)?;
        let has_material = request.contains_key("paths") || request.contains_key("contexts");
        let question = match &common.tools {
            None => Question::of(&common.messages, long_chars),
            Some(tools) => ToolConversation::of(&common.messages, long_chars, has_material).map(|said| {
                let ToolConversation { question, system, messages, has_documents } = said;
                let (tools, must_call) = (tools.tools.clone(), tools.must_call);
                let turn = CallerTurn { system, messages, tools, must_call, has_documents };
                request.insert(TURN.into(), serde_json::from_str(&turn.to_json()).unwrap_or_default());
                question
            }),
        };
        let question = question.map_err(|what| ApiError::member(common.named, what));
        let Question { text, documents, marked } = question?;
        request.insert("question".into(), json!(text));
        if let Some(strategy) = model.strip_prefix("spelunk-") {
            request.insert("strategy".into(), json!(strategy));
        }
        let is_typed = common.schema.is_some();
        if let Some(schema) = common.schema {
            request.insert("schema".into(), schema);
        }
        let chars_max = common.tokens_max.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        Ok(Self {
            model,
            request: Value::Object(request),
            documents,
            streams,
            includes_usage: common.includes_usage,
            progress,
            answer_chars_max: chars_max.map(|chars| usize::try_from(chars).unwrap_or(usize::MAX)),
            is_typed,
            tools: common.tools,
            marked,
        })
    }
}

pub(super) fn require_model(members: &BodyFields) -> ApiResult<String> {
    let model = members.text("model")?.ok_or_else(|| ApiError::member("model", "is missing"))?;
    let known = models();
    if known.iter().any(|known| known == model) {
        Ok(model.to_owned())
    } else {
        Err(ApiError::no_model(model, &known))
    }
}

/// Our own field: additional sources and limits.
fn own(members: &mut BodyFields) -> ApiResult<(Map<String, Value>, Progress)> {
    let mut request = Map::new();
    let own = match members.take("spelunk") {
        None => return Ok((request, Progress::Comments)),
        Some(Value::Object(own)) => own,
        Some(_) => return Err(ApiError::member("spelunk", "must be an object")),
    };
    let mut progress = Progress::Comments;
    for (name, value) in own {
        match name.as_str() {
            "progress" => match value.as_str() {
                Some("reasoning") => progress = Progress::Reasoning,
                Some("comments") => {}
                Some(_) | None => {
                    return Err(ApiError::member("spelunk.progress", "must be `reasoning` or `comments`"));
                }
            },
            known if OWN.contains(&known) => drop(request.insert(name, value)),
            _ => {
                let what = format!("may contain {} and progress", OWN.join(", "));
                return Err(ApiError::member("spelunk", &what));
            }
        }
    }
    Ok((request, progress))
}

/// The maximum number of tokens in the answer, from the first of these fields that is present.
pub(super) fn tokens_max(members: &BodyFields, names: &[&str]) -> ApiResult<Option<u64>> {
    for name in names {
        if let Some(tokens) = members.whole(name)? {
            return Ok(Some(tokens));
        }
    }
    Ok(None)
}

/// The schema in a response format: `{"type": "json_schema", …}`.
pub(super) fn schema(name: &'static str, form: Option<&Value>) -> ApiResult<Option<Value>> {
    let Some(form) = form.filter(|form| !form.is_null()) else { return Ok(None) };
    match form["type"].as_str() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(json!({ "type": "object" }))),
        Some("json_schema") => {
            let inside = form.get("schema").or_else(|| form.get("json_schema")?.get("schema"));
            let schema = inside.filter(|schema| schema.is_object()).cloned();
            schema.map(Some).ok_or_else(|| ApiError::member(name, "has no `schema`"))
        }
        Some(_) | None => Err(ApiError::member(name, "must have the type text, json_object or json_schema")),
    }
}

pub(super) fn messages(name: &'static str, list: Option<Value>) -> ApiResult<Vec<Message>> {
    let list = match list {
        Some(Value::Array(list)) => list,
        Some(_) => return Err(ApiError::member(name, "must be a list")),
        None => return Err(ApiError::member(name, "is missing")),
    };
    if list.is_empty() || list.len() > MESSAGES_MAX {
        return Err(ApiError::member(name, &format!("must contain 1 to {MESSAGES_MAX} messages")));
    }
    let said = list.into_iter().enumerate().map(|(idx, message)| one(&format!("{name}[{idx}]"), message));
    let mut said = said.collect::<ApiResult<Vec<Message>>>()?;
    name_results(name, &mut said)?;
    Ok(said)
}

fn one(at: &str, message: Value) -> ApiResult<Message> {
    let Value::Object(mut message) = message else { return Err(ApiError::member(at, "must be an object")) };
    let of = |name: &str| message.get(name).cloned().unwrap_or_default();
    let kind = message.get("type").and_then(Value::as_str).unwrap_or("message");
    match kind {
        "message" => {}
        "function_call" => {
            let call = call(at, &of("call_id"), &of("name"), &of("arguments"))?;
            return Ok(Message { speaker: Speaker::Assistant, parts: vec![call] });
        }
        "function_call_output" => {
            let id = named(at, "call_id", &of("call_id"))?;
            let parts = parts(&format!("{at}.output"), message.remove("output"))?;
            return Ok(Message { speaker: Speaker::User, parts: vec![result(&id, parts, false)] });
        }
        // Earlier reasoning of a model is skipped, because it is not a source.
        "reasoning" => return Ok(Message { speaker: Speaker::Assistant, parts: Vec::new() }),
        _ => return Err(ApiError::unsupported(&format!("{at}.type"), "send messages or calls")),
    }
    let speaker = match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Speaker::System,
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some("tool") => {
            let id = named(at, "tool_call_id", &of("tool_call_id"))?;
            let parts = parts(&format!("{at}.content"), message.remove("content"))?;
            return Ok(Message { speaker: Speaker::User, parts: vec![result(&id, parts, false)] });
        }
        Some("function") => {
            return Err(ApiError::unsupported(&format!("{at}.role"), "use `tools` and tool messages"));
        }
        Some(_) | None => {
            let what = "must be system, developer, user, assistant or tool";
            return Err(ApiError::member(&format!("{at}.role"), what));
        }
    };
    if message.get("function_call").is_some_and(|call| !call.is_null()) {
        return Err(ApiError::unsupported(&format!("{at}.function_call"), "use `tool_calls`"));
    }
    let calls = of("tool_calls");
    let mut parts = parts(&format!("{at}.content"), message.remove("content"))?;
    if !calls.is_null() && !calls.is_array() {
        return Err(ApiError::member(&format!("{at}.tool_calls"), "must be a list"));
    }
    for (idx, one) in calls.as_array().into_iter().flatten().enumerate() {
        let function = &one["function"];
        let at = format!("{at}.tool_calls[{idx}]");
        parts.push(call(&at, &one["id"], &function["name"], &function["arguments"])?);
    }
    Ok(Message { speaker, parts })
}

fn named(at: &str, name: &str, value: &Value) -> ApiResult<String> {
    let wrong = || ApiError::member(&format!("{at}.{name}"), "must be a string");
    value.as_str().map(str::to_owned).ok_or_else(wrong)
}

pub(super) fn parts(at: &str, content: Option<Value>) -> ApiResult<Vec<MessagePart>> {
    let list = match content {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) => return Ok(vec![MessagePart::Text(text)]),
        Some(Value::Array(list)) if list.len() <= PARTS_MAX => list,
        Some(Value::Array(_)) => {
            return Err(ApiError::member(at, &format!("has more than {PARTS_MAX} parts")));
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            return Err(ApiError::member(at, "must be a string or a list of parts"));
        }
    };
    let mut parts = Vec::new();
    for (idx, part) in list.into_iter().enumerate() {
        parts.extend(part_of(&format!("{at}[{idx}]"), part)?);
    }
    Ok(parts)
}

/// Earlier reasoning of a model is skipped, because it is not a source.
fn part_of(at: &str, part: Value) -> ApiResult<Option<MessagePart>> {
    let Value::Object(mut part) = part else { return Err(ApiError::member(at, "must be an object")) };
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut text = |name: &str| match part.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) | None => Err(ApiError::member(&format!("{at}.{name}"), "must be a string")),
    };
    match kind.as_str() {
        "text" | "input_text" | "output_text" => Ok(Some(MessagePart::Text(text("text")?))),
        "refusal" => Ok(Some(MessagePart::Text(text("refusal")?))),
        "thinking" | "redacted_thinking" | "reasoning" => Ok(None),
        "tool_use" => {
            let of = |name: &str| part.get(name).cloned().unwrap_or_default();
            call(at, &of("id"), &of("name"), &of("input")).map(Some)
        }
        "tool_result" => {
            let id = named(at, "tool_use_id", part.get("tool_use_id").unwrap_or(&Value::Null))?;
            let is_error = part.get("is_error").and_then(Value::as_bool).unwrap_or_default();
            Ok(Some(result(&id, parts(&format!("{at}.content"), part.remove("content"))?, is_error)))
        }
        "document" => document(at, part).map(Some),
        "" => Err(ApiError::member(&format!("{at}.type"), "is missing")),
        _ => Err(ApiError::unsupported(&format!("{at}.type"), "only text is supported")),
    }
}

fn document(at: &str, mut part: Map<String, Value>) -> ApiResult<MessagePart> {
    let title = part.get("title").and_then(Value::as_str);
    let title = title.map(|title| title.chars().take(NAME_CHARS_MAX).collect());
    let source = part.get_mut("source").map(Value::take).unwrap_or_default();
    let text = match source["type"].as_str() {
        Some("text") => source["data"].as_str(),
        Some("content") => source["content"].as_str(),
        Some(_) | None => None,
    };
    match text {
        Some(text) => {
            let is_cited = part.get("citations").is_some_and(|citations| citations["enabled"] == json!(true));
            Ok(MessagePart::Document { title, text: text.to_owned(), is_cited })
        }
        None => Err(ApiError::unsupported(&format!("{at}.source"), "only text sources are supported")),
    }
}
