//! A host for tests: `ask(x)` returns `x` unless `x` is an instruction, `give(name)` returns a value by name, and the
//! text behind handle 1 is four short lines.

use spelunk_sandbox::{Handle, HostCall, HostReply, Value};

/// What is behind the handle `context`.
pub(crate) const TEXT: &str = "alpha 1\nbeta 22\ngamma 333\ndelta";

/// The reply to a call.
pub(crate) fn reply(call: &HostCall) -> HostReply {
    if call.receiver.is_some() {
        return on_text(call);
    }
    let first = call.args.first().cloned().unwrap_or(Value::None);
    match (call.name.as_str(), first.as_str()) {
        ("ask", Some("finish")) => HostReply::Finish,
        ("ask", Some(text)) if text.starts_with("raise ") => {
            let (kind, message) = text.trim_start_matches("raise ").split_once(": ").unwrap_or((text, ""));
            HostReply::Raise { kind: kind.into(), message: message.into() }
        }
        ("give", Some(name)) => HostReply::Return(given(name)),
        _ => HostReply::Return(first),
    }
}

fn given(name: &str) -> Value {
    match name {
        "all" => all_kinds(),
        "handle" => Value::Handle(Handle { class: "Text".into(), id: 1 }),
        other => other.into(),
    }
}

/// One value of every kind that can be sent both ways.
pub(crate) fn all_kinds() -> Value {
    Value::Dict(vec![
        ("none".into(), Value::None),
        ("bool".into(), Value::Bool(true)),
        ("int".into(), Value::Int(i64::MIN)),
        ("big".into(), Value::BigInt("123456789012345678901234567890".into())),
        ("float".into(), Value::Float(0.1 + 0.2)),
        ("inf".into(), Value::Float(f64::NEG_INFINITY)),
        ("text".into(), "a\"b\u{1F600}\n".into()),
        ("bytes".into(), Value::Bytes(vec![0, 255])),
        ("list".into(), Value::List(vec![Value::Int(1), Value::List(vec![])])),
        ("tuple".into(), Value::Tuple(vec![Value::Int(1), Value::Tuple(vec![])])),
        ("set".into(), Value::Set(vec![Value::Int(3)])),
        (Value::Tuple(vec![Value::Int(1), "k".into()]), Value::Dict(vec![])),
        ("handle".into(), Value::Handle(Handle { class: "Text".into(), id: 1 })),
    ])
}

fn on_text(call: &HostCall) -> HostReply {
    let first = call.args.first().cloned().unwrap_or(Value::None);
    let value = match call.name.as_str() {
        "__len__" => int(TEXT.chars().count()),
        "__str__" => TEXT.into(),
        "__contains__" => Value::Bool(first.as_str().is_some_and(|needle| TEXT.contains(needle))),
        "__getitem__" => return item(&first),
        // By lines, two at a time.
        "__iter__" => {
            let Value::Int(cursor) = first else { panic!("no cursor: {first:?}") };
            let cursor = usize::try_from(cursor).unwrap();
            let lines: Vec<Value> = TEXT.lines().skip(cursor).take(2).map(Value::from).collect();
            let next = if cursor + 2 < 4 { int(cursor + 2) } else { Value::None };
            Value::Tuple(vec![Value::List(lines), next])
        }
        "upper" => TEXT.to_uppercase().into(),
        "re.findall" => Value::List(["1", "22", "333"].map(Value::from).into()),
        "re.search" => matched(0),
        // The text stays outside, and nothing matches at its beginning.
        "__real__" | "re.match" => Value::None,
        "re.finditer" => Value::Tuple(vec![Value::List((0..3).map(matched).collect()), Value::None]),
        "re.split" => Value::List(TEXT.split('\n').map(Value::from).collect()),
        other => {
            let message = format!("'Text' object has no attribute '{other}'");
            return HostReply::Raise { kind: "AttributeError".into(), message };
        }
    };
    HostReply::Return(value)
}

/// A character or a slice, by characters.
fn item(key: &Value) -> HostReply {
    let chars: Vec<char> = TEXT.chars().collect();
    let len = i64::try_from(chars.len()).unwrap();
    let from_start = |at: i64| if at < 0 { at + len } else { at };
    if let Value::Slice(from, to, None) = key {
        let clamp = |at: i64| usize::try_from(from_start(at).clamp(0, len)).unwrap();
        let range = clamp(from.unwrap_or(0))..clamp(to.unwrap_or(len));
        return HostReply::Return(chars.get(range).unwrap_or_default().iter().collect::<String>().into());
    }
    let Value::Int(at) = key else { panic!("no such key: {key:?}") };
    match usize::try_from(from_start(*at)).ok().and_then(|at| chars.get(at)) {
        Some(c) => HostReply::Return(c.to_string().into()),
        None => HostReply::Raise { kind: "IndexError".into(), message: "string index out of range".into() },
    }
}

/// The matches of `(?P<word>[a-z]+) (\d+)`.
fn matched(idx: usize) -> Value {
    let (word, number, end) = [(0, 6, 7), (8, 13, 15), (16, 22, 25)][idx];
    let spans = [(word, end), (word, number - 1), (number, end)];
    let text = |(from, to): (usize, usize)| Value::Str(TEXT.get(from..to).unwrap().to_owned());
    let span = |(from, to): (usize, usize)| Value::Tuple(vec![int(from), int(to)]);
    Value::Tuple(vec![Value::List(spans.map(text).into()), Value::List(spans.map(span).into())])
}

fn int(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap())
}
