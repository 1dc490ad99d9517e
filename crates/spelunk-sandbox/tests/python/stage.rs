//! A small host for cells whose replies are easy to see in the outputs.

use spelunk_sandbox::{
    CellEnd, Handle, HostCall, HostFunction, HostReply, Interpreter, MontyInterpreter, SandboxLimits, Setup,
    Step, Value,
};

/// Separates the cells of a case.
const NEXT_CELL: &str = "\n#---\n";
/// The document behind the host objects.
const TEXT: &str = "alpha one\nbeta two\ngamma three 42\n";

/// How a case is run.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub(crate) shows_calls: bool,
    pub(crate) has_handles: bool,
    pub(crate) cell_ms_max: Option<u64>,
}

/// Code and its expected output.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) code: String,
    pub(crate) expected: String,
}

/// The cases of a file: `=== title`, the code, and after `>>>` its output.
pub(crate) fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for part in format!("\n{text}").split("\n=== ").skip(1) {
        let (title, body) = part.split_once('\n').unwrap_or((part, ""));
        let (code, expected) = body.split_once("\n>>>\n").unwrap_or((body, ""));
        let expected = if expected.is_empty() || expected.ends_with('\n') {
            expected.to_owned()
        } else {
            format!("{expected}\n")
        };
        cases.push(Case { title: title.to_owned(), code: code.to_owned(), expected });
    }
    cases
}

/// Runs the cells of a case in their own session.
pub(crate) fn play(stage: &Stage, code: &str) -> String {
    let mut interpreter = MontyInterpreter::open(&setup(stage)).unwrap();
    let mut out = String::new();
    for cell in code.split(NEXT_CELL) {
        let mut step = interpreter.feed(cell).unwrap();
        let end = loop {
            step = match step {
                Step::Finished(end) => break end,
                Step::Calls(calls) => {
                    if stage.shows_calls {
                        let shown: Vec<String> = calls.iter().map(shown).collect();
                        out.push_str(&format!("[{}]\n", shown.join(", ")));
                    }
                    interpreter.resume(calls.iter().map(reply).collect()).unwrap()
                }
            };
        };
        match end {
            CellEnd::Done { output } => out.push_str(&output.render()),
            CellEnd::Finished { output } => out.push_str(&format!("{}[finished]\n", output.render())),
            CellEnd::Raised { output, raised } => {
                let mark = if raised.is_poisoned { " [poisoned]" } else { "" };
                out.push_str(&format!("{}{}{mark}\n", output.render(), raised.traceback));
            }
        }
    }
    out
}

/// A text that stays outside.
const LARGE: u64 = 3;

pub(crate) fn setup(stage: &Stage) -> Setup {
    let function = |name: &str, is_awaitable| HostFunction {
        name: name.to_owned(),
        doc: format!("{name}(prompt, model=None)\nAsks."),
        is_awaitable,
    };
    let mut variables = Vec::new();
    if stage.has_handles {
        let handle = |class: &str, id| Value::Handle(Handle { class: class.to_owned(), id });
        variables.push(("context".to_owned(), handle("Text", 1)));
        variables.push(("docs".to_owned(), handle("Documents", 2)));
    }
    Setup {
        functions: vec![
            function("llm_query", true),
            function("FINAL", false),
            function("host", false),
            function("fail", false),
        ],
        variables,
        exceptions: vec!["BudgetError".to_owned()],
        prelude: String::new(),
        files: vec![
            ("data.txt".to_owned(), "a\nb\n".into()),
            ("d.json".to_owned(), "{\"a\": [1, 2]}".into()),
        ],
        clock_ms: 1_700_000_000_000,
        seed: 1,
        limits: SandboxLimits {
            cell_ms_max: stage.cell_ms_max.unwrap_or(20_000),
            memory_bytes_max: 500_000_000,
            recursion_max: 400,
            output_chars_max: 20_000,
            cell_calls_max: 50,
        },
    }
}

fn shown(call: &HostCall) -> String {
    let receiver = call.receiver.as_ref().map_or_else(String::new, |handle| format!("{}.", handle.class));
    let args: Vec<String> = call.args.iter().map(brief).collect();
    let kwargs = call.kwargs.iter().map(|(name, value)| format!("{name}={}", brief(value)));
    format!("{receiver}{}({})", call.name, args.into_iter().chain(kwargs).collect::<Vec<_>>().join(", "))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the common kinds are shown short")]
fn brief(value: &Value) -> String {
    match value {
        Value::Str(text) => format!("{text:?}"),
        Value::Int(int) => int.to_string(),
        Value::None => "None".to_owned(),
        Value::Handle(handle) => format!("<{}>", handle.class),
        other => format!("{other:?}"),
    }
}

fn reply(call: &HostCall) -> HostReply {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("?").to_owned();
    let lines: Vec<&str> = TEXT.lines().collect();
    let bound = |bound: Option<i64>, default: usize| {
        bound.map_or(default, |at| usize::try_from(at).unwrap().min(TEXT.len()))
    };
    let value = match (call.receiver.is_some(), call.name.as_str()) {
        (false, "FINAL") => return HostReply::Finish,
        (false, "fail") => {
            return HostReply::Raise { kind: text(call.args.first()), message: "it failed".to_owned() };
        }
        (true, "__len__") => Value::Int(i64::try_from(TEXT.len()).unwrap()),
        (true, "__real__") if call.receiver.as_ref().is_some_and(|handle| handle.id == LARGE) => Value::None,
        (true, "__str__" | "__real__") => TEXT.into(),
        (true, "__getitem__") if call.args == ["large".into()] => {
            Value::Handle(Handle { class: "Text".to_owned(), id: LARGE })
        }
        (true, "__contains__") => Value::Bool(TEXT.contains(&text(call.args.first()))),
        (true, "__getitem__") => match call.args.first() {
            Some(Value::Slice(start, stop, _)) => {
                TEXT.get(bound(*start, 0)..bound(*stop, TEXT.len())).unwrap_or_default().into()
            }
            other => format!("item {}", other.map_or_else(String::new, brief)).into(),
        },
        (true, "__iter__") => {
            let Some(Value::Int(cursor)) = call.args.first() else { panic!("a cursor is a number here") };
            let at = usize::try_from(*cursor).unwrap();
            let items = lines.iter().skip(at).take(2).map(|line| (*line).into()).collect();
            let next = if at + 2 >= lines.len() { Value::None } else { Value::Int(cursor + 2) };
            Value::Tuple(vec![Value::List(items), next])
        }
        (true, "re.search" | "re.match") => found("beta", 10),
        (true, "re.finditer") => {
            Value::Tuple(vec![Value::List(vec![found("beta", 10), found("two", 15)]), Value::None])
        }
        (true, "re.findall") => Value::List(vec!["42".into()]),
        (true, "re.split") => Value::List(lines.iter().map(|line| (*line).into()).collect()),
        (_, name) => format!("<{name}:{}>", text(call.args.first())).into(),
    };
    HostReply::Return(value)
}

/// A match as the host returns it.
fn found(text: &str, at: i64) -> Value {
    let end = at + i64::try_from(text.len()).unwrap();
    let span = Value::Tuple(vec![Value::Int(at), Value::Int(end)]);
    let texts = vec![text.into(), text.into(), Value::None];
    Value::Tuple(vec![Value::List(texts), Value::List(vec![span.clone(), span, Value::None])])
}
