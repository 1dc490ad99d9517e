//! Cells, their output, their errors and their variables.

use spelunk_sandbox::{Sandbox, Value};

use crate::scene::{Session, setup};

fn session(sandbox: &Sandbox) -> Session {
    Session::open(sandbox, &setup())
}

pub(crate) fn variables_stay_between_cells(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("x = [1]\ny = 'a'"), "= done");
    assert_eq!(session.run("x.append(2)\nprint(x, y)"), "[1, 2] a\n= done");
    assert_eq!(session.run("y += 'b'\nprint([y + str(i) for i in x])"), "['ab1', 'ab2']\n= done");
}

pub(crate) fn functions_and_imports_stay_between_cells(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("import re\ndef words(text):\n    return re.findall(r'\\w+', text)"), "= done");
    assert_eq!(session.run("words('a b')"), "['a', 'b']\n= done");
    assert_eq!(session.run("def words(text):\n    return 'other'\nwords('')"), "'other'\n= done");
}

pub(crate) fn an_error_half_way_keeps_what_was_assigned(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let shown =
        session.run("x = 1\nprint('before')\nfor i in range(3):\n    x += i\n    1 / (1 - i)\nx = 99");
    assert_eq!(shown, "before\n= ZeroDivisionError: division by zero");
    assert_eq!(session.run("print(x, i)"), "2 1\n= done");
}

pub(crate) fn a_bare_last_expression_is_echoed(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("x = 'a'\nx"), "'a'\n= done");
    assert_eq!(session.run("1\n2"), "2\n= done");
    assert_eq!(session.run("None"), "= done");
    assert_eq!(session.run("print('p')"), "p\n= done");
    assert_eq!(session.run("[x, {'k': 1.5}]\n\n# a comment\n"), "['a', {'k': 1.5}]\n= done");
    assert_eq!(session.run("if True:\n    7"), "= done");
}

pub(crate) fn a_cell_without_a_statement_does_nothing(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run(""), "= done");
    assert_eq!(session.run("# only a comment"), "= done");
    assert_eq!(session.run("\n\n   \n"), "= done");
}

pub(crate) fn text_of_any_script_is_printed(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(
        session.run("print('héllo 你好 \\U0001F600')\nprint(len('你好'))"),
        "héllo 你好 😀\n2\n= done"
    );
    assert_eq!(session.run("print('a', end='')\nprint('b', 'c', sep='-')"), "ab-c\n= done");
}

pub(crate) fn long_output_keeps_its_beginning_its_end_and_its_true_length(sandbox: &Sandbox) {
    let mut setup = setup();
    setup.limits.output_chars_max = 12;
    let mut session = Session::open(sandbox, &setup);
    let shown = session.run("for i in range(1000):\n    print(i)");
    assert_eq!(shown, "0\n1\n2\n3\n\n... [3878 of 3890 characters not shown] ...\n999\n= done");
    let shown = session.run("print('é' * 1000000)");
    assert_eq!(shown, "éééééééé\n... [999989 of 1000001 characters not shown] ...\nééé\n= done");
}

pub(crate) fn output_of_exactly_the_limit_is_whole(sandbox: &Sandbox) {
    let mut setup = setup();
    setup.limits.output_chars_max = 12;
    let mut session = Session::open(sandbox, &setup);
    assert_eq!(session.run("print('12345678901')"), "12345678901\n= done");
    assert_eq!(
        session.run("print('123456789012')"),
        "12345678\n... [1 of 13 characters not shown] ...\n012\n= done"
    );
}

pub(crate) fn a_traceback_shows_line_and_caret(sandbox: &Sandbox) {
    let raised = session(sandbox).fail("d = {'a': 1}\n\nprint(d['a'], d['b'])");
    assert_eq!((raised.kind.as_str(), raised.message.as_str()), ("KeyError", "'b'"));
    assert_eq!(
        raised.traceback,
        "Traceback (most recent call last):\n  File \"<cell 1>\", line 3, in <module>\n    print(d['a'], d['b'])\n                  ^^^^^^\nKeyError: 'b'"
    );
}

pub(crate) fn a_traceback_goes_through_the_functions_of_earlier_cells(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("def half(n):\n    # of it\n    return n / 0"), "= done");
    let raised = session.fail("x = 1\nhalf(x)");
    assert_eq!(
        raised.traceback,
        "Traceback (most recent call last):\n  File \"<cell 2>\", line 2, in <module>\n    half(x)\n    ^^^^^^^\n  File \"<cell 1>\", line 3, in half\n    return n / 0\n           ^^^^^\nZeroDivisionError: division by zero"
    );
}

pub(crate) fn a_syntax_error_shows_its_place_and_runs_nothing(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let raised = session.fail("x = 1\nprint(x\ny = 2");
    assert_eq!(raised.kind, "SyntaxError");
    assert!(!raised.is_poisoned);
    let lines: Vec<&str> = raised.traceback.lines().collect();
    assert!(
        lines[0] == "  File \"<cell 1>\", line 2" || lines[0] == "  File \"<cell 1>\", line 3",
        "{lines:?}"
    );
    assert_eq!(lines.last().copied(), Some(format!("SyntaxError: {}", raised.message).as_str()));
    assert_eq!(session.variable("x"), None);
}

pub(crate) fn leaving_ends_the_cell_and_not_the_session(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    for leave in ["exit()", "quit()", "import sys\nsys.exit(1)", "raise SystemExit"] {
        let raised = session.fail(&format!("x = 1\n{leave}\nx = 2"));
        assert_eq!((raised.kind.as_str(), raised.is_poisoned), ("SystemExit", false), "{leave}");
    }
    assert_eq!(session.run("x"), "1\n= done");
}

pub(crate) fn a_variable_can_be_asked_for(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("a = {'k': [1, (2.5, None)]}\nb = True\ns = {5}\nc = context"), "= done");
    let tuple = Value::Tuple(vec![Value::Float(2.5), Value::None]);
    let dict = Value::Dict(vec![("k".into(), Value::List(vec![Value::Int(1), tuple]))]);
    assert_eq!(session.variable("a"), Some(dict));
    assert_eq!(session.variable("b"), Some(Value::Bool(true)));
    assert_eq!(session.variable("s"), Some(Value::Set(vec![Value::Int(5)])));
    assert_eq!(session.variable("c"), Some(setup().variables[0].1.clone()));
    assert_eq!(session.variable("missing"), None);
    assert_eq!(session.variable("a.b"), None);
    assert_eq!(session.variable("1 + 1"), None);
    assert_eq!(session.variable(""), None);
    assert_eq!(session.variable("len"), None);
    assert_eq!(session.run("del b"), "= done");
    assert_eq!(session.variable("b"), None);
}

pub(crate) fn a_large_variable_can_be_asked_for(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("text = 'aé\\n' * 1000000"), "= done");
    assert_eq!(session.variable("text"), Some("aé\n".repeat(1_000_000).into()));
}

pub(crate) fn what_cannot_cross_is_told_by_its_repr(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("import re\nr = [1]\nr.append(r)\np = len"), "= done");
    let opaque = Value::Opaque {
        type_name: "builtin_function_or_method".into(),
        repr: "<built-in function len>".into(),
    };
    assert_eq!(session.variable("p"), Some(opaque));
    let Some(Value::List(items)) = session.variable("r") else { panic!("a list") };
    let [Value::Int(1), Value::Opaque { repr, .. }] = items.as_slice() else { panic!("{items:?}") };
    assert!(repr.contains("..."), "{repr}");
}
