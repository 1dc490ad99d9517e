//! Code as models write it must run: cells with their output, in the order of the files next to this one. The outputs
//! in `plain.txt` are those of `CPython`.

mod bombs;
mod places;
mod re;
mod stage;

use expect_test::expect_file;
use stage::{Stage, cases, play};

#[test]
fn plain_python_prints_what_cpython_prints() {
    let mut wrong = Vec::new();
    for case in cases(include_str!("plain.txt")) {
        let found = play(&Stage::default(), &case.code);
        if found != case.expected {
            wrong.push(format!("=== {}\n--- expected\n{}--- found\n{found}", case.title, case.expected));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn cells_reach_the_host_as_they_were_written() {
    let found = transcript(&Stage { shows_calls: true, ..Stage::default() }, include_str!("host.txt"));
    expect_file!["host.out.txt"].assert_eq(&found);
}

#[test]
fn host_objects_behave_like_what_they_stand_for() {
    let stage = Stage { shows_calls: true, has_handles: true, ..Stage::default() };
    expect_file!["handles.out.txt"].assert_eq(&transcript(&stage, include_str!("handles.txt")));
}

#[test]
fn errors_show_the_line_the_model_wrote() {
    expect_file!["errors.out.txt"].assert_eq(&transcript(&Stage::default(), include_str!("errors.txt")));
}

#[test]
fn every_module_of_the_prelude_loads() {
    let modules = "abc ast asyncio builtins calendar collections collections.abc concurrent.futures contextlib csv dataclasses difflib \
                   enum fnmatch fractions functools gc heapq html importlib inspect io itertools json keyword logging numbers operator \
                   pickle platform pprint queue re secrets statistics string sys textwrap threading timeit traceback types typing \
                   urllib.parse uuid warnings";
    for module in modules.split_whitespace() {
        let code = format!("import {module}\nprint({module} is not None)\n");
        assert_eq!((module, play(&Stage::default(), &code).as_str()), (module, "True\n"));
    }
}

#[test]
fn a_session_opens_with_nothing_of_ours_in_sight() {
    let code =
        "print([name for name in globals()], [name for name in dir() if 'sp' in name], list(locals()))";
    let expected = "['llm_query', 'FINAL', 'host', 'fail', 'BudgetError'] [] ['llm_query', 'FINAL', 'host', 'fail', 'BudgetError']\n";
    assert_eq!(play(&Stage::default(), code), expected);
}

/// All cases of a file, each with its code and its result.
fn transcript(stage: &Stage, text: &str) -> String {
    let mut out = String::new();
    for case in cases(text) {
        out.push_str(&format!("=== {}\n{}", case.title, play(stage, &case.code)));
    }
    out
}
