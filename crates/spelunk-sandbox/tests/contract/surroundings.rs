//! The environment of a cell: the files it was given, the prelude, and nothing of the machine.

use spelunk_sandbox::Sandbox;

use crate::scene::{Session, setup};

fn session(sandbox: &Sandbox) -> Session {
    Session::open(sandbox, &setup())
}

pub(crate) fn a_given_file_can_be_read(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(
        session.run("with open('/data/notes.txt') as f:\n    text = f.read()\ntext"),
        "'one\\ntwo\\n'\n= done"
    );
    assert_eq!(session.run("[line.strip() for line in open('/data/notes.txt')]"), "['one', 'two']\n= done");
}

pub(crate) fn a_file_that_a_cell_wrote_can_be_read_again(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("with open('scratch.txt', 'w') as f:\n    f.write('a\\n')"), "= done");
    assert_eq!(session.run("with open('scratch.txt', 'a') as f:\n    f.write('b\\n')"), "= done");
    assert_eq!(session.run("open('scratch.txt').read()"), "'a\\nb\\n'\n= done");
    // A file that is never closed, and one that is still open.
    assert_eq!(session.run("n = open('loose.txt', 'w').write('c')"), "= done");
    assert_eq!(session.run("open('loose.txt').read()"), "'c'\n= done");
    assert_eq!(session.run("held = open('held.txt', 'w')\nn = held.write('d')\nheld.flush()"), "= done");
    assert_eq!(session.run("open('held.txt').read()"), "'d'\n= done");
    let mut other = self::session(sandbox);
    assert_eq!(other.fail("open('scratch.txt')").kind, "FileNotFoundError");
}

pub(crate) fn other_files_are_refused(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    for path in ["/etc/passwd", "/proc/self/environ", "/etc/shadow", "../../etc/passwd", "/data/other.txt"] {
        let raised = session.fail(&format!("open('{path}')"));
        assert!(
            ["FileNotFoundError", "PermissionError"].contains(&raised.kind.as_str()),
            "{path}: {raised:?}"
        );
    }
}

pub(crate) fn the_prelude_defines_names_and_is_not_in_tracebacks(sandbox: &Sandbox) {
    let mut setup = setup();
    setup.prelude = "limit = 3\n\ndef shout(x):\n    return ask(x).upper()\n\ndef fail():\n    raise ValueError('deep')\n".into();
    let mut session = Session::open(sandbox, &setup);
    assert_eq!(session.run("print(shout('a'), limit)"), "< ask('a')\nA 3\n= done");
    let raised = session.fail("\nfail()");
    assert_eq!(
        raised.traceback,
        "Traceback (most recent call last):\n  File \"<cell 2>\", line 2, in <module>\n    fail()\n    ^^^^^^\nValueError: deep"
    );
}

pub(crate) fn a_prelude_that_does_not_run_is_an_error(sandbox: &Sandbox) {
    let mut setup = setup();
    setup.prelude = "1 / 0".into();
    let error = sandbox.open(&setup).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the prelude of the setup does not run"), "{error}");
}

pub(crate) fn help_prints_the_text_of_a_function(sandbox: &Sandbox) {
    assert_eq!(session(sandbox).run("help(ask)"), "ask(text) -> str\n\nAsks.\n= done");
    assert_eq!(session(sandbox).run("print(ask.__name__)"), "ask\n= done");
    let mut session = session(sandbox);
    assert_eq!(
        session.run("import inspect\nprint(inspect.signature(ask))").split(" ->").next(),
        Some("(text)")
    );
}

pub(crate) fn nobody_answers_input(sandbox: &Sandbox) {
    let raised = session(sandbox).fail("x = input('name? ')");
    assert!(!raised.is_poisoned);
    assert!(raised.message.contains("input()"), "{raised:?}");
}

pub(crate) fn there_is_no_environment(sandbox: &Sandbox) {
    let code = "import os\nprint(dict(os.environ), os.getenv('HOME'), os.environ.get('PATH', 'none'))";
    assert_eq!(session(sandbox).run(code), "{} None none\n= done");
}
