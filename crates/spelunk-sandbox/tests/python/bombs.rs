//! Code that exhausts resources, in this process: what the interpreter stops by itself. The rest is the worker's job.

use super::stage::{Stage, play};

/// The last line of a bomb's output, and whether the session can continue.
fn last_line(code: &str) -> String {
    let stage = Stage { cell_ms_max: Some(300), ..Stage::default() };
    let found = play(&stage, code);
    let line = found.lines().rfind(|line| !line.starts_with("hint:")).unwrap_or_default();
    // Times differ from run to run.
    line.split(": feed time limit").next().unwrap_or(line).to_owned()
}

#[test]
fn endless_loops_end_with_the_limit_and_cannot_be_caught() {
    assert_eq!(last_line("while True: pass"), "TimeoutError");
    assert_eq!(
        last_line("while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass"),
        "TimeoutError"
    );
    assert_eq!(last_line("def g():\n    while True:\n        yield 1\nsum(g())"), "TimeoutError");
}

#[test]
fn huge_values_are_refused_before_they_are_made() {
    for code in ["'a' * 10 ** 12", "[0] * 10 ** 10", "10 ** (10 ** 9)"] {
        let found = last_line(code);
        let kind = found.split(':').next().unwrap_or_default();
        assert_eq!((code, kind), (code, "MemoryError"));
    }
}

#[test]
fn deep_recursion_is_an_error_that_can_be_caught() {
    let code =
        "def f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print(type(e).__name__)";
    assert_eq!(last_line(code), "RecursionError");
}

#[test]
fn deeply_nested_code_is_refused() {
    let brackets = format!("x = {}{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(last_line(&brackets), "SyntaxError: the code is nested too deeply");
}

#[test]
fn a_sum_of_ten_thousand_terms_is_no_deep_walk() {
    let sum = format!("print({}1)", "1 + ".repeat(3000));
    let found = last_line(&sum);
    assert!(
        found == "3001" || found.starts_with("SyntaxError") || found.starts_with("RecursionError"),
        "{found}"
    );
}

#[test]
fn regular_expressions_take_linear_time() {
    assert_eq!(last_line("import re\nprint(re.match('(a+)+$', 'a' * 40 + 'b'))"), "None");
}

#[test]
fn endless_output_is_cut_with_its_true_length() {
    let stage = Stage { cell_ms_max: Some(5000), ..Stage::default() };
    let found = play(&stage, "for i in range(20000): print('spam')");
    assert_eq!(
        found.lines().find(|line| line.starts_with("...")),
        Some("... [80000 of 100000 characters not shown] ...")
    );
}

#[test]
fn a_cell_that_calls_the_host_without_end_is_stopped() {
    let found =
        last_line("while True:\n    try:\n        host('x')\n    except BaseException:\n        pass");
    assert_eq!(found, "RuntimeError: this cell made more than 50 host calls");
}

#[test]
fn names_of_ours_cannot_be_used() {
    let refused =
        |name: &str| format!("SyntaxError: names that begin with `__sp_` are reserved, such as `{name}`");
    assert_eq!(last_line("__sp_host_call(1)"), refused("__sp_host_call"));
    assert_eq!(last_line("def f(__sp_x): pass"), refused("__sp_x"));
    assert_eq!(last_line("import re as __sp_re"), refused("__sp_re"));
    assert_eq!(last_line("eval('__sp_modules')"), refused("__sp_modules"));
    assert_eq!(last_line("globals()['__sp_modules']"), "KeyError: 'modules'");
}

#[test]
fn builtins_bound_to_something_else_break_nothing_of_ours() {
    let code = "len = str = list = dict = isinstance = 5\nclass A(Exception):\n    pass\ntry:\n    raise A('x')\nexcept A as e:\n    print(e)";
    assert_eq!(last_line(code), "x");
}
