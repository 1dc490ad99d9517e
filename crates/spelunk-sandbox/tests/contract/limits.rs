//! Limits: what a cell may use, and that it is told.

use std::time::{Duration, Instant};

use spelunk_sandbox::{CellEnd, HostReply, Sandbox, Setup, Step, Value};

use crate::scene::{Session, setup};

/// A setup with little time. The limit must leave room for a busy machine.
fn hasty() -> Setup {
    let mut setup = setup();
    setup.limits.cell_ms_max = 500;
    setup
}

/// The error a cell is stopped with, and that it was stopped in time.
fn stopped(sandbox: &Sandbox, code: &str) {
    let start = Instant::now();
    let raised = Session::open(sandbox, &hasty()).fail(code);
    assert_eq!((raised.kind.as_str(), raised.is_poisoned), ("TimeoutError", true));
    assert!(raised.message.contains("time limit exceeded: "), "{}", raised.message);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(Session::open(sandbox, &hasty()).run("1 + 1"), "2\n= done");
}

pub(crate) fn a_cell_that_computes_too_long_is_stopped(sandbox: &Sandbox) {
    stopped(sandbox, "while True:\n    pass");
    stopped(sandbox, "n = 0\nfor i in range(10**12):\n    n += i");
}

pub(crate) fn a_cell_cannot_catch_that_its_time_is_over(sandbox: &Sandbox) {
    stopped(
        sandbox,
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
    );
    stopped(sandbox, "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass");
}

pub(crate) fn waiting_for_the_host_does_not_count(sandbox: &Sandbox) {
    let mut setup = hasty();
    setup.limits.cell_ms_max = 1_000;
    let mut session = Session::open(sandbox, &setup);
    let mut step = session.interpreter().feed("for i in range(3):\n    ask(i)\nprint('done')").unwrap();
    for _ in 0..3 {
        assert!(matches!(step, Step::Calls(_)));
        // The host is slow: three times 0.6 s is more than the cell has.
        std::thread::sleep(Duration::from_millis(600));
        step = session.interpreter().resume(vec![HostReply::Return(Value::None)]).unwrap();
    }
    assert!(matches!(step, Step::Finished(CellEnd::Done { output }) if output.head == "done\n"));
}

pub(crate) fn too_much_memory_is_a_memory_error(sandbox: &Sandbox) {
    let mut session = Session::open(sandbox, &setup());
    let raised = session.fail("x = 'a' * 10**12");
    assert_eq!((raised.kind.as_str(), raised.is_poisoned), ("MemoryError", true));
    let mut session = Session::open(sandbox, &setup());
    let raised = session.fail("x = [0] * 10**10");
    assert_eq!((raised.kind.as_str(), raised.is_poisoned), ("MemoryError", true));
}

pub(crate) fn endless_recursion_is_an_exception(sandbox: &Sandbox) {
    let mut session = Session::open(sandbox, &setup());
    let code =
        "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print('caught')";
    assert_eq!(session.run(code), "caught\n= done");
    let raised = session.fail("f(0)");
    assert_eq!((raised.kind.as_str(), raised.is_poisoned), ("RecursionError", false));
    assert_eq!(session.run("def g(n):\n    return n and 1 + g(n - 1)\ng(150)"), "150\n= done");
}

pub(crate) fn more_calls_than_allowed_end_the_cell(sandbox: &Sandbox) {
    let mut setup = setup();
    setup.limits.cell_calls_max = 2;
    let mut session = Session::open(sandbox, &setup);
    let ended = "< ask(0)\n< ask(1)\n= RuntimeError: this cell made more than 2 host calls";
    assert_eq!(session.run("for i in range(5):\n    ask(i)"), ended);
    assert_eq!(
        session.run(
            "for i in range(5):\n    try:\n        ask(i)\n    except BaseException:\n        print('caught')"
        ),
        ended
    );
    assert_eq!(session.run("ask(i)"), "< ask(2)\n2\n= done");
}

pub(crate) fn endless_printing_is_bounded(sandbox: &Sandbox) {
    let mut setup = hasty();
    setup.limits.output_chars_max = 30;
    let (_, end) = Session::open(sandbox, &setup).run_to_end("while True:\n    print('x' * 1000)");
    let CellEnd::Raised { output, raised } = end.unwrap() else { panic!("it was stopped") };
    assert_eq!((raised.kind.as_str(), raised.is_poisoned), ("TimeoutError", true));
    assert_eq!((output.head.as_str(), output.tail.len()), ("xxxxxxxxxxxxxxxxxxxx", 10));
    assert!(output.n_chars > 10_000, "{}", output.n_chars);
}

pub(crate) fn an_error_with_a_huge_message_is_cut(sandbox: &Sandbox) {
    let mut session = Session::open(sandbox, &setup());
    let raised = session.fail("raise ValueError('x' * 5000000)");
    assert_eq!(raised.kind, "ValueError");
    assert!(raised.message.len() < 100_000 && raised.traceback.len() < 200_000);
    assert_eq!(session.run("1"), "1\n= done");
}
