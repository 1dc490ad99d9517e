//! A host that answers: `ask(x)` gives `x` back unless `x` says what to do, `give(name)` gives a value by name, and the
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

/// One value of every kind that goes both ways.
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
    let chars: Vec<char> = TEXT.chars().collect();
    let first = call.args.first().cloned().unwrap_or(Value::None);
    let found = |start: usize| {
        let text = |a: usize, b: usize| Value::Str(TEXT[a..b].to_owned());
        let span = |a: i64, b: i64| Value::Tuple(vec![Value::Int(a), Value::Int(b)]);
        // Matches of `(?P<word>[a-z]+) (\d+)`.
        let (word, number, end) = [(0, 6, 7), (8, 13, 15), (16, 22, 25)][start];
        let int = |at: usize| i64::try_from(at).unwrap();
        Value::Dict(vec![
            ("groups".into(), Value::List(vec![text(word, end), text(word, number - 1), text(number, end)])),
            (
                "spans".into(),
                Value::List(vec![
                    span(int(word), int(end)),
                    span(int(word), int(number) - 1),
                    span(int(number), int(end)),
                ]),
            ),
            ("names".into(), Value::Dict(vec![("word".into(), Value::Int(1))])),
        ])
    };
    let value = match call.name.as_str() {
        "__len__" => Value::Int(i64::try_from(chars.len()).unwrap()),
        "__str__" => TEXT.into(),
        "__contains__" => Value::Bool(first.as_str().is_some_and(|needle| TEXT.contains(needle))),
        "__getitem__" => match first {
            Value::Int(at) => {
                let at = if at < 0 { at + i64::try_from(chars.len()).unwrap() } else { at };
                match usize::try_from(at).ok().and_then(|at| chars.get(at)) {
                    Some(c) => c.to_string().into(),
                    None => {
                        let message = "string index out of range".into();
                        return HostReply::Raise { kind: "IndexError".into(), message };
                    }
                }
            }
            Value::Slice(start, stop, None) => {
                let len = i64::try_from(chars.len()).unwrap();
                let clamp =
                    |at: i64| usize::try_from(if at < 0 { at + len } else { at }.clamp(0, len)).unwrap();
                let (start, stop) = (clamp(start.unwrap_or(0)), clamp(stop.unwrap_or(len)));
                chars.get(start..stop).unwrap_or_default().iter().collect::<String>().into()
            }
            other => panic!("no such key: {other:?}"),
        },
        // By lines, two at a time.
        "__iter__" => {
            let cursor = if let Value::Int(cursor) = first { usize::try_from(cursor).unwrap() } else { 0 };
            let lines: Vec<Value> = TEXT.lines().skip(cursor).take(2).map(Value::from).collect();
            let next =
                if cursor + 2 < 4 { Value::Int(i64::try_from(cursor + 2).unwrap()) } else { Value::None };
            Value::Tuple(vec![Value::List(lines), next])
        }
        "upper" => TEXT.to_uppercase().into(),
        "re.findall" => Value::List(["1", "22", "333"].map(Value::from).into()),
        "re.search" => found(0),
        "re.match" => Value::None,
        "re.finditer" => Value::Tuple(vec![Value::List(vec![found(0), found(1), found(2)]), Value::None]),
        "re.split" => Value::List(TEXT.split('\n').map(Value::from).collect()),
        other => {
            let message = format!("'Text' object has no attribute '{other}'");
            return HostReply::Raise { kind: "AttributeError".into(), message };
        }
    };
    HostReply::Return(value)
}
