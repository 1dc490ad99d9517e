//! Replays recorded sessions against the interpreter and counts the blocks that behave as they did in `CPython`.
//!
//! `cargo run -p spelunk-sandbox --example sessions -- DIR [DIR_OF_EXPECTED_STDOUT]`
//!
//! Each `t*.json` in DIR contains the variables, host functions and files of a session and its blocks in order, with
//! the status and a digest of the output in `CPython`. A block passes if the status (and exception class) is the same,
//! and, if it ran, the output. With a second directory of the same names (a list of outputs per session), the first
//! difference is printed, and outputs that differ only in the order of characters within a line (sets) pass.

mod sha256;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use spelunk_sandbox::{
    CellEnd, HostCall, HostFunction, HostReply, Interpreter, MontyInterpreter, SandboxLimits, Setup, Step,
    Value,
};

/// The host functions of the sessions, as Python.
const HOST: &str = include_str!("host.py");
/// What a session's namespace has besides variables and host functions.
const SHOW_VARS: &str = "def SHOW_VARS(*args, **kwargs):
    return 'Available variables: ' + ', '.join(sorted(name for name in globals() if not name.startswith('_')))
";
const CONTEXT_CLASS: &str = include_str!("context.py");

#[expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for people, which reads what it is given"
)]
fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).map(PathBuf::from);
    let Some(dir) = args.next() else {
        println!("usage: sessions DIR [DIR_OF_EXPECTED_STDOUT] [SESSION]");
        return ExitCode::FAILURE;
    };
    let (expected_dir, only) = (args.next(), args.next());
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&dir)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| {
        path.extension().is_some_and(|ext| ext == "json")
            && only.as_ref().is_none_or(|only| path.ends_with(only))
    });
    paths.sort();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let began = Instant::now();
    for path in &paths {
        let expected = expected_dir.as_ref().and_then(|dir| read_json(&dir.join(path.file_name()?)));
        let Some(session) = read_json(path) else {
            println!("{}: not readable", path.display());
            continue;
        };
        replay(&path.display().to_string(), &session, expected.as_ref(), &mut counts);
    }
    let (passed, total) =
        counts.values().fold((0, 0), |(passed, total), count| (passed + count.0, total + count.1));
    for (status, (passed, total)) in &counts {
        println!("{status}: {passed} of {total}");
    }
    #[expect(clippy::cast_precision_loss, reason = "a percentage of a few hundred")]
    let percent = 100.0 * passed as f64 / total.max(1) as f64;
    println!("all: {passed} of {total} ({percent:.2} %) in {:.1} s", began.elapsed().as_secs_f64());
    if passed == total { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[expect(clippy::disallowed_methods, reason = "it reads what it is given")]
fn read_json(path: &Path) -> Option<Value> {
    spelunk_sandbox::parse_json(&std::fs::read_to_string(path).ok()?).ok()
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn replay(
    name: &str,
    session: &Value,
    expected: Option<&Value>,
    counts: &mut BTreeMap<String, (usize, usize)>,
) {
    let mut host = match Host::new(session) {
        Ok(host) => host,
        Err(what) => {
            println!("{name}: {what}");
            return;
        }
    };
    let mut interpreter = match MontyInterpreter::open(&setup(session)) {
        Ok(interpreter) => interpreter,
        Err(error) => {
            println!("{name}: {error}");
            return;
        }
    };
    for (idx, block) in items(field(session, "blocks")).iter().enumerate() {
        let code = text(field(block, "code"));
        let cpython = field(block, "cpython");
        let status = text(field(cpython, "status"));
        let count = counts.entry(status.clone()).or_default();
        count.1 += 1;
        // `CPython` ran the blocks without echoing their last expression.
        let fed = format!("{code}\nNone\n");
        let end = run(&mut interpreter, &mut host, &fed);
        let expected = items(expected.unwrap_or(&Value::None)).get(idx).map(text);
        match check(&end, &status, cpython, expected.as_deref()) {
            Ok(()) => count.0 += 1,
            Err(why) => println!("{name} block {idx} ({status}): {why}"),
        }
    }
}

fn run(interpreter: &mut MontyInterpreter, host: &mut Host, code: &str) -> Result<CellEnd, String> {
    let mut step = interpreter.feed(code).map_err(|error| error.to_string())?;
    loop {
        step = match step {
            Step::Finished(end) => return Ok(end),
            Step::Calls(calls) => {
                let replies = calls.into_iter().map(|call| host.reply(call)).collect();
                interpreter.resume(replies).map_err(|error| error.to_string())?
            }
        };
    }
}

/// Whether a block did the same as in `CPython`.
fn check(
    end: &Result<CellEnd, String>,
    status: &str,
    cpython: &Value,
    expected: Option<&str>,
) -> Result<(), String> {
    let end = end.as_ref().map_err(Clone::clone)?;
    match (end, status) {
        (CellEnd::Done { output } | CellEnd::Finished { output }, "ok") => {
            let digest = sha256::hex(output.head.as_bytes());
            if digest.get(..16) == Some(text(field(cpython, "stdout_sha256_16")).as_str()) {
                return Ok(());
            }
            let Some(expected) = expected else {
                return Err(format!("other output ({} characters)", output.n_chars));
            };
            differs(expected, &output.head)
        }
        (CellEnd::Raised { raised, .. }, "ok") => Err(raised.traceback.clone()),
        (CellEnd::Raised { raised, .. }, _) => {
            let kind = text(field(cpython, "exception"));
            let is_same = raised.kind == kind || kind.is_empty();
            if is_same { Ok(()) } else { Err(format!("expected {kind}, got {}", raised.traceback)) }
        }
        (CellEnd::Done { .. } | CellEnd::Finished { .. }, _) => {
            Err(format!("ran, but raises {} in `CPython`", text(field(cpython, "exception"))))
        }
    }
}

/// The first line that differs. Sets are unordered, so lines with the same characters are equal.
fn differs(expected: &str, found: &str) -> Result<(), String> {
    let sorted = |line: &str| {
        let mut chars: Vec<char> = line.chars().collect();
        chars.sort_unstable();
        chars
    };
    let (mut left, mut right) = (expected.lines(), found.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ok(()),
            (left, right) if left == right || left.map(sorted) == right.map(sorted) => {}
            (left, right) => return Err(format!("other output\n  expected {left:?}\n  found    {right:?}")),
        }
    }
}

fn setup(session: &Value) -> Setup {
    let mut functions = Vec::new();
    let mut prelude = String::new();
    for (name, kind) in pairs(field(session, "functions")) {
        if text(kind) == "show_vars" {
            prelude.push_str(SHOW_VARS);
            continue;
        }
        let is_awaitable = matches!(text(kind).as_str(), "llm" | "llm_batch");
        functions.push(HostFunction {
            name: text(name),
            doc: format!("{}{}", text(name), signature(&text(kind))),
            is_awaitable,
        });
    }
    if field(session, "context_object") == &Value::Bool(true) {
        prelude.push_str(CONTEXT_CLASS);
    }
    let owned = |value: &Value| {
        pairs(value).iter().map(|(name, value)| (text(name), value.clone())).collect::<Vec<_>>()
    };
    Setup {
        functions,
        variables: owned(field(session, "variables")),
        exceptions: Vec::new(),
        prelude,
        files: owned(field(session, "files")),
        clock_ms: 1_700_000_000_000,
        seed: 0,
        limits: SandboxLimits {
            cell_ms_max: 20_000,
            memory_bytes_max: 2 << 30,
            recursion_max: 1000,
            output_chars_max: 8_000_000,
            cell_calls_max: 100_000,
        },
    }
}

/// The signature of a host function in the recording.
fn signature(kind: &str) -> &'static str {
    match kind {
        "llm" => "(prompt='', *a, **k)",
        "llm_batch" => "(prompts=(), *a, **k)",
        _ => "(*a, **k)",
    }
}

/// The host of a session: a second interpreter that answers the calls of the first.
struct Host {
    interpreter: MontyInterpreter,
    kinds: BTreeMap<String, Value>,
}

impl Host {
    fn new(session: &Value) -> Result<Self, String> {
        let ask =
            |name: &str| HostFunction { name: name.to_owned(), doc: String::new(), is_awaitable: false };
        let mut own = setup(session);
        own.functions = vec![ask("next_call")];
        own.variables = vec![
            ("row_keys".to_owned(), field(session, "row_keys").clone()),
            ("context".to_owned(), field(field(session, "variables"), "context").clone()),
        ];
        HOST.clone_into(&mut own.prelude);
        let interpreter = MontyInterpreter::open(&own).map_err(|error| error.to_string())?;
        let kinds = pairs(field(session, "functions"))
            .iter()
            .map(|(name, kind)| (text(name), kind.clone()))
            .collect();
        Ok(Self { interpreter, kinds })
    }

    fn reply(&mut self, call: HostCall) -> HostReply {
        let kind = self.kinds.get(&call.name).cloned().unwrap_or(Value::None);
        let kwargs = call.kwargs.into_iter().map(|(name, value)| (Value::Str(name), value)).collect();
        let asked =
            Value::List(vec![Value::Str(call.name), kind, Value::List(call.args), Value::Dict(kwargs)]);
        let _suspended =
            self.interpreter.feed("reply = answer(*next_call())\n").expect("the host does not break");
        match self.interpreter.resume(vec![HostReply::Return(asked)]).expect("the host does not break") {
            Step::Finished(CellEnd::Done { .. }) => HostReply::Return(
                self.interpreter.variable("reply").expect("the host is idle").unwrap_or(Value::None),
            ),
            Step::Finished(CellEnd::Raised { raised, .. }) => {
                HostReply::Raise { kind: raised.kind, message: raised.message }
            }
            other @ (Step::Calls(_) | Step::Finished(_)) => {
                HostReply::Raise { kind: "RuntimeError".to_owned(), message: format!("{other:?}") }
            }
        }
    }
}

fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    pairs(value).iter().find(|(key, _)| key.as_str() == Some(name)).map_or(&Value::None, |(_, value)| value)
}

fn pairs(value: &Value) -> &[(Value, Value)] {
    if let Value::Dict(pairs) = value { pairs } else { &[] }
}

fn items(value: &Value) -> &[Value] {
    if let Value::List(items) = value { items } else { &[] }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
