//! Compromised workers: whatever they send, the host gets a specific error.

use spelunk_sandbox::{InterpreterError, Python, PythonModules, Sandbox, WorkerCommand};

use crate::scene::{setup, worker};

/// A worker that is a shell script.
fn script(text: &str) -> Sandbox {
    Sandbox::monty(shell(text))
}

fn shell(text: &str) -> WorkerCommand {
    WorkerCommand { program: "/bin/sh".into(), arguments: vec!["-c".into(), text.into()] }
}

fn refusal(sandbox: &Sandbox) -> String {
    match sandbox.open(&setup()) {
        Ok(_) => "it opened".into(),
        Err(error) => error.to_string(),
    }
}

/// A shell command that writes a frame.
fn says(body: &str) -> String {
    let length =
        u32::try_from(body.len()).unwrap().to_le_bytes().map(|byte| format!("\\{byte:03o}")).concat();
    format!("printf '{length}'; printf '%s' '{body}'; ")
}

#[test]
fn a_worker_that_dies_says_how() {
    let broken = |how: &str| format!("the sandbox process died: {how}");
    assert_eq!(refusal(&script("exit 0")), broken("exit code 0"));
    assert_eq!(refusal(&script("echo 'no such luck' >&2; exit 3")), broken("exit code 3: no such luck"));
    assert_eq!(refusal(&script("exit 65")), broken("out of memory (limit 256 MB)"));
    assert_eq!(refusal(&script("kill -9 $$")), broken("killed by signal 9"));
    assert_eq!(refusal(&script("kill -11 $$")), broken("killed by signal 11"));
    let long = refusal(&script("yes complaint | head -c 60000 >&2; exit 1"));
    assert_eq!(long.chars().count(), broken("exit code 1: ").chars().count() + 300);
}

#[test]
fn a_worker_that_says_nonsense_is_refused() {
    let wrong = |what: &str| format!("the sandbox sent an invalid message: {what}");
    let cases = [
        (r"printf '\377\377\377\377';".to_owned(), "a frame of 4294967295 bytes; the maximum is 134217728"),
        (says("nonsense"), "expected value at line 1 column 1"),
        (says(&"[".repeat(500)), "a frame nested deeper than 127"),
        (
            says("{\"step\":{\"done\":{\"output\":{\"head\":\"\",\"tail\":\"\",\"n_chars\":0}}}}"),
            "`step`, which is not the expected reply",
        ),
        (says("\"no_variable\""), "`no_variable`, which is not the expected reply"),
    ];
    for (text, what) in cases {
        // It keeps listening, so that its message is refused and not its exit.
        assert_eq!(refusal(&script(&format!("{text} exec cat > /dev/null"))), wrong(what), "{text}");
    }
    assert_eq!(refusal(&script("printf 'ab'")), "the sandbox process died: exit code 0");
}

#[test]
fn a_worker_that_answers_what_was_not_asked_is_refused_and_gone() {
    let feed = |body: &str| {
        let sandbox = script(&format!("{}{}exec cat > /dev/null", says("\"opened\""), says(body)));
        let mut setup = setup();
        setup.limits.cell_calls_max = 1;
        let mut session = sandbox.open(&setup).unwrap();
        let first = session.feed("1").unwrap_err().to_string();
        let second = session.feed("1").unwrap_err().to_string();
        assert_eq!(
            second,
            "the sandbox process died: it broke the protocol; open a new session and feed the same cells"
        );
        first.trim_start_matches("the sandbox sent an invalid message: ").to_owned()
    };
    let call = r#"{"name":"ask","receiver":null,"args":[],"kwargs":[]}"#;
    assert_eq!(feed(r#"{"step":{"calls":[]}}"#), "a step without a call");
    assert_eq!(
        feed(&format!(r#"{{"step":{{"calls":[{call},{call}]}}}}"#)),
        "more than the 1 host calls a cell may make"
    );
    assert_eq!(
        feed(&format!(r#"{{"step":{{"calls":[{}]}}}}"#, call.replace("ask", "os.system"))),
        "a call of `os.system`, which is not a function"
    );
    assert_eq!(feed(r#"{"variable":1}"#), "`variable`, which is not the expected reply");
}

#[test]
fn a_worker_that_hangs_is_killed() {
    let sandbox = script(&format!("{}exec sleep 1000", says("\"opened\"")));
    let mut setup = setup();
    setup.limits.cell_ms_max = 100;
    let mut session = sandbox.open(&setup).unwrap();
    let error = session.feed("1").unwrap_err().to_string();
    assert_eq!(error, "the sandbox process did not respond within 4000 ms and was killed");
}

#[test]
fn a_worker_that_never_reads_is_killed_too() {
    let sandbox = script(&format!("{}exec sleep 1000", says("\"opened\"")));
    let mut setup = setup();
    setup.limits.cell_ms_max = 100;
    let mut session = sandbox.open(&setup).unwrap();
    let error = session.feed(&"x = 1\n".repeat(1_000_000)).unwrap_err().to_string();
    assert_eq!(error, "the sandbox process did not respond within 4000 ms and was killed");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let sandbox = Sandbox::monty(WorkerCommand { program: "/no/such/worker".into(), arguments: vec![] });
    assert_eq!(refusal(&sandbox), "could not start the sandbox `/no/such/worker`");
    let python = Python { program: "/no/such/python".into(), modules: PythonModules::Standard };
    assert_eq!(refusal(&Sandbox::cpython(worker(), python)), "could not start the sandbox `/no/such/python`");
}

#[test]
fn a_program_that_is_no_python_is_named() {
    let python = Python { program: "/bin/echo".into(), modules: PythonModules::Standard };
    let Err(InterpreterError::Spawn { program, source }) = Sandbox::cpython(worker(), python).open(&setup())
    else {
        panic!("`echo` is no Python")
    };
    assert_eq!(
        (program.as_str(), source.to_string().as_str()),
        ("/bin/echo", "it is not Python 3.10 or newer")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_python_that_cannot_be_confined_is_refused() {
    let python = || Python { program: "python3".into(), modules: PythonModules::Standard };
    let refused = |text: String| refusal(&Sandbox::cpython(shell(&text), python()));
    // What a worker reports if the kernel lacks something.
    let words = says("{\"unconfined\":{\"why\":\"landlock: the kernel does not enforce it\"}}");
    let told = refused(format!("{words} exec cat > /dev/null"));
    assert_eq!(told, "this machine cannot confine `cpython`: landlock: the kernel does not enforce it");
    // And a real one: too few descriptors are left to confine what it executes.
    let told = refused(format!("ulimit -n 100; exec '{}'", worker().program.display()));
    let (why, end) = (told.starts_with("this machine cannot confine `cpython`: `/"), "(os error 22)");
    assert!(why && told.ends_with(end), "{told}");
}
