//! What a cell did, as text: `< ask('a') | ask('b')` for a step of calls, the output unchanged, and the end after `=`.

use spelunk_sandbox::{CellEnd, HostCall, Value};

/// Steps and end of a cell.
pub(crate) fn show(steps: &[Vec<HostCall>], end: &CellEnd) -> String {
    let mut lines: Vec<String> = steps
        .iter()
        // Where a text is kept is a question of the sandbox, not of the cell.
        .filter(|calls| calls.iter().all(|call| call.name != "__real__"))
        .map(|calls| format!("< {}", calls.iter().map(call).collect::<Vec<_>>().join(" | ")))
        .collect();
    let (output, last) = match end {
        CellEnd::Done { output } => (output, "= done".to_owned()),
        CellEnd::Finished { output } => (output, "= finished".to_owned()),
        CellEnd::Raised { output, raised } => {
            let poison = if raised.is_poisoned { " (poisoned)" } else { "" };
            (output, format!("= {}: {}{poison}", raised.kind, raised.message))
        }
    };
    let rendered = output.render();
    if !rendered.is_empty() {
        lines.push(rendered.trim_end_matches('\n').to_owned());
    }
    lines.push(last);
    lines.join("\n")
}

fn call(call: &HostCall) -> String {
    let args = call.args.iter().map(value);
    let kwargs = call.kwargs.iter().map(|(name, content)| format!("{name}={}", value(content)));
    let receiver =
        call.receiver.as_ref().map_or_else(String::new, |handle| format!("{}{}.", handle.class, handle.id));
    format!("{receiver}{}({})", call.name, args.chain(kwargs).collect::<Vec<_>>().join(", "))
}

/// A value as Python writes it.
pub(crate) fn value(content: &Value) -> String {
    let all = |items: &[Value]| items.iter().map(value).collect::<Vec<_>>().join(", ");
    match content {
        Value::None => "None".into(),
        Value::Bool(bit) => if *bit { "True" } else { "False" }.into(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(digits) => digits.clone(),
        Value::Float(number) => format!("{number:?}"),
        Value::Str(text) => format!("'{text}'"),
        Value::Bytes(bytes) => format!("b{bytes:?}"),
        Value::List(items) => format!("[{}]", all(items)),
        Value::Tuple(items) => format!("({},)", all(items)),
        Value::Set(items) => format!("{{{}}}", all(items)),
        Value::Dict(pairs) => {
            let pairs = pairs.iter().map(|(key, content)| format!("{}: {}", value(key), value(content)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Slice(from, to, step) => format!("slice({from:?}, {to:?}, {step:?})"),
        Value::Handle(handle) => format!("<{} {}>", handle.class, handle.id),
        Value::Opaque { type_name, repr } => format!("opaque({type_name}, {repr})"),
    }
}
