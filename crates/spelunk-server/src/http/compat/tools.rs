//! The client's tools, parsed from the fields of each API.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_engine::CallerTurn;
use spelunk_model::{Tool, ToolCall, ToolResult};

use super::{ApiError, ApiResult, Message, MessagePart};

pub(super) const TOOLS_MAX: usize = 512;
const NAME_CHARS_MAX: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OfferedTools {
    pub(super) tools: Vec<Tool>,
    pub(super) must_call: bool,
    pub(super) one_call: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolChoice {
    Nothing,
    Any,
    Required,
    Named(String),
}

impl OfferedTools {
    pub(super) fn of(mut tools: Vec<Tool>, choice: ToolChoice, one_call: bool) -> ApiResult<Option<Self>> {
        let must_call = matches!(choice, ToolChoice::Required | ToolChoice::Named(_));
        if tools.is_empty() && must_call {
            return Err(ApiError::member("tool_choice", "requires a call, but there are no `tools`"));
        }
        let is_off = tools.is_empty() || choice == ToolChoice::Nothing;
        if let ToolChoice::Named(name) = choice {
            tools.retain(|tool| tool.name == name);
            if tools.is_empty() {
                return Err(ApiError::member("tool_choice", "does not name a tool in `tools`"));
            }
        }
        Ok((!is_off).then_some(Self { tools, must_call, one_call }))
    }
}

/// Parses the entries of `tools`; `read` extracts the name, the description and the schema of one.
pub(super) fn tools(
    list: Option<Value>,
    read: impl Fn(&str, &Value) -> ApiResult<(Value, Value, Value)>,
) -> ApiResult<Vec<Tool>> {
    let list = match list {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= TOOLS_MAX => list,
        Some(_) => return Err(ApiError::member("tools", &format!("must be a list of at most {TOOLS_MAX}"))),
    };
    let mut tools: Vec<Tool> = Vec::with_capacity(list.len());
    for (idx, entry) in list.iter().enumerate() {
        let at = format!("tools[{idx}]");
        let (name, description, schema) = read(&at, entry)?;
        let name = name.as_str().unwrap_or_default();
        let is_good = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(is_good) {
            let what = format!("needs a `name` of 1 to {NAME_CHARS_MAX} letters, digits, `_` and `-`");
            return Err(ApiError::member(&at, &what));
        }
        if name == CallerTurn::READ || tools.iter().any(|tool| tool.name == name) {
            return Err(ApiError::member(&at, &format!("has the name `{name}`, which is already used")));
        }
        let schema = match schema {
            Value::Null => json!({ "type": "object", "properties": {} }),
            Value::Object(_) => schema,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(ApiError::member(&at, "has a schema that is not an object"));
            }
        };
        let description = description.as_str().unwrap_or_default().to_owned();
        tools.push(Tool { name: name.to_owned(), description, schema: Arc::new(schema) });
    }
    Ok(tools)
}

/// `tool_choice` in OpenAI's APIs, where the name of a tool may be nested in `function`.
pub(super) fn choice_of_openai(choice: Option<&Value>) -> ApiResult<ToolChoice> {
    let wrong = || ApiError::member("tool_choice", "must be none, auto, required or the name of a function");
    match choice {
        None => Ok(ToolChoice::Any),
        Some(Value::String(word)) => match word.as_str() {
            "none" => Ok(ToolChoice::Nothing),
            "auto" => Ok(ToolChoice::Any),
            "required" => Ok(ToolChoice::Required),
            _ => Err(wrong()),
        },
        Some(choice) if choice["type"] == "function" => {
            let name = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
            name.map(|name| ToolChoice::Named(name.to_owned())).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

/// A call that the client sends back; arguments may be text or JSON.
pub(super) fn call(at: &str, id: &Value, name: &Value, arguments: &Value) -> ApiResult<MessagePart> {
    let text = |value: &Value, what: &str| {
        let wrong = || ApiError::member(&format!("{at}.{what}"), "must be a string");
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned).ok_or_else(wrong)
    };
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        json @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => json.to_string(),
    };
    let (id, name) = (text(id, "id")?, text(name, "name")?);
    Ok(MessagePart::Call(ToolCall { id, name, arguments, signature: None }))
}

/// The result of a call, with its texts joined. `name_results` fills in the tool's name.
pub(super) fn result(id: &str, parts: Vec<MessagePart>, is_error: bool) -> MessagePart {
    let texts = parts.into_iter().filter_map(|part| match part {
        MessagePart::Text(text) | MessagePart::Document { text, .. } => Some(text),
        MessagePart::Call(_) | MessagePart::Result(_) => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    let (call_id, name) = (id.to_owned(), String::new());
    MessagePart::Result(ToolResult { call_id, name, text, is_error })
}

/// Copies the tool names of calls to their results. A result without a call is rejected, as the APIs do.
pub(super) fn name_results(named: &str, messages: &mut [Message]) -> ApiResult<()> {
    let mut tools: HashMap<String, String> = HashMap::new();
    for (idx, message) in messages.iter_mut().enumerate() {
        for part in &mut message.parts {
            match part {
                MessagePart::Call(call) => drop(tools.insert(call.id.clone(), call.name.clone())),
                MessagePart::Result(result) => {
                    let wrong =
                        || ApiError::member(&format!("{named}[{idx}]"), "is the result of an unknown call");
                    result.name = tools.get(&result.call_id).ok_or_else(wrong)?.clone();
                }
                MessagePart::Text(_) | MessagePart::Document { .. } => {}
            }
        }
    }
    Ok(())
}
