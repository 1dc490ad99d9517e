//! Tool calls: code that a model sends as a JSON object without being asked to.

use serde_json::{Deserializer, Map, Value};

/// Names that models use for a tool that runs Python.
const PYTHON_TOOLS: [&str; 5] = ["python", "repl", "execute", "python_repl", "execute_python"];

/// Parses the object at the start of a text. Returns its code, if it is a Python call, and how many bytes were read.
pub(super) fn read(text: &str) -> (Option<String>, usize) {
    if !text.starts_with('{') {
        return (None, 0);
    }
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(object))) => (code_of(&object), values.byte_offset()),
        Some(Err(error)) => (None, bytes_before(text, error.line(), error.column())),
        Some(Ok(_)) | None => (None, values.byte_offset()),
    }
}

/// `{"code": …}` alone or an object that names a tool is a call; `code` among other keys is data.
fn code_of(object: &Map<String, Value>) -> Option<String> {
    if let Some(Value::Object(function)) = object.get("function") {
        return code_of(function);
    }
    let Some(Value::String(tool)) = object.get("name") else {
        return object.get("code").filter(|_| object.len() == 1)?.as_str().map(str::to_owned);
    };
    if !PYTHON_TOOLS.contains(&tool.as_str()) {
        return None;
    }
    let given = object.get("arguments").or_else(|| object.get("parameters"))?;
    // Some models write the arguments as JSON within JSON.
    let inner = given.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    inner.as_ref().unwrap_or(given).get("code")?.as_str().map(str::to_owned)
}

/// The byte offset of a line and column, both from 1.
fn bytes_before(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    lines.map(str::len).sum::<usize>().saturating_add(column).min(text.len())
}
