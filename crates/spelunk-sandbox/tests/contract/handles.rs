//! Host objects: every operation of a cell on one is a call.

use spelunk_sandbox::Sandbox;

use crate::scene::{Session, setup};

fn session(sandbox: &Sandbox) -> Session {
    Session::open(sandbox, &setup())
}

pub(crate) fn a_text_behind_a_handle_is_used_like_text(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("len(context)"), "< Text1.__len__()\n31\n= done");
    assert_eq!(session.run("context[0]"), "< Text1.__getitem__(0)\n'a'\n= done");
    assert_eq!(
        session.run("context[-5:]"),
        "< Text1.__getitem__(slice(Some(-5), None, None))\n'delta'\n= done"
    );
    assert_eq!(
        session.run("t = context\ndef head(x, n):\n    return x[:n]\nhead(t, 5)"),
        "< Text1.__getitem__(slice(None, Some(5), None))\n'alpha'\n= done"
    );
    assert_eq!(session.run("'beta' in context"), "< Text1.__contains__('beta')\nTrue\n= done");
    assert_eq!(session.run("'zeta' not in context"), "< Text1.__contains__('zeta')\nTrue\n= done");
    assert_eq!(session.run("len(str(context))"), "< Text1.__str__()\n31\n= done");
    assert_eq!(session.run("f'{context}'[:5]"), "< Text1.__str__()\n'alpha'\n= done");
    assert_eq!(session.run("print(isinstance(context, str), type(context).__name__)"), "True Text\n= done");
}

pub(crate) fn a_handle_is_iterated_in_batches(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let calls = "< Text1.__iter__(0)\n< Text1.__iter__(2)";
    assert_eq!(
        session.run("for line in context:\n    print(line)"),
        format!("{calls}\nalpha 1\nbeta 22\ngamma 333\ndelta\n= done")
    );
    assert_eq!(
        session.run("[line[0] for line in context]"),
        format!("{calls}\n['a', 'b', 'g', 'd']\n= done")
    );
    assert_eq!(
        session.run("for line in context:\n    break\nline"),
        "< Text1.__iter__(0)\n'alpha 1'\n= done"
    );
    // CPython may ask for the length first, as a hint.
    let shown = session.run("len(list(context))");
    assert_eq!(shown.trim_start_matches("< Text1.__len__()\n"), format!("{calls}\n4\n= done"));
    assert_eq!(session.run("for i, line in enumerate(context):\n    pass\ni"), format!("{calls}\n3\n= done"));
}

pub(crate) fn methods_of_a_handle_are_calls(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("context.upper()[:5]"), "< Text1.upper()\n'ALPHA'\n= done");
    assert_eq!(
        session.run("context.find('x', 3, end=9)"),
        "< Text1.find('x', 3, end=9)\n= AttributeError: 'Text' object has no attribute 'find'"
    );
}

pub(crate) fn regular_expressions_search_behind_a_handle(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(
        session.run("import re\nre.findall(r'\\d+', context)"),
        "< Text1.re.findall('\\d+', 0)\n['1', '22', '333']\n= done"
    );
    assert_eq!(
        session.run("m = re.search(r'(?P<word>[a-z]+) (\\d+)', context, re.I)\nprint(m.group(), m.group(1), m['word'], m.groups(), m.start(2), m.span(), m.groupdict(), m)"),
        "< Text1.re.search('(?P<word>[a-z]+) (\\d+)', 2)\nalpha 1 alpha alpha ('alpha', '1') 6 (0, 7) {'word': 'alpha'} <re.Match object; span=(0, 7), match='alpha 1'>\n= done"
    );
    assert_eq!(session.run("print(re.match('x', context))"), "< Text1.re.match('x', 0)\nNone\n= done");
    assert_eq!(
        session.run("[m.group(2) for m in re.finditer(r'(?P<word>[a-z]+) (\\d+)', context)]"),
        "< Text1.re.finditer('(?P<word>[a-z]+) (\\d+)', 0, 0)\n['1', '22', '333']\n= done"
    );
    assert_eq!(session.run("re.findall('a', 'banana')"), "['a', 'a', 'a']\n= done");
}

pub(crate) fn a_compiled_pattern_searches_behind_a_handle(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(
        session.run("import re\np = re.compile(r'\\d+', re.M)\np.findall(context)"),
        "< Text1.re.findall('\\d+', 8)\n['1', '22', '333']\n= done"
    );
    assert_eq!(session.run("p.findall('a1b2')"), "['1', '2']\n= done");
    assert_eq!(session.run("p.pattern"), "'\\\\d+'\n= done");
}

pub(crate) fn a_handle_goes_back_to_the_host(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("h = ask(context)\nlen(h)"), "< ask(<Text 1>)\n< Text1.__len__()\n31\n= done");
    assert_eq!(
        session.run("g = give('handle')\ng[0]"),
        "< give('handle')\n< Text1.__getitem__(0)\n'a'\n= done"
    );
    assert_eq!(
        session.run("ask({'doc': context})['doc'][1]"),
        "< ask({'doc': <Text 1>})\n< Text1.__getitem__(1)\n'l'\n= done"
    );
}

pub(crate) fn an_error_behind_a_handle_is_an_exception(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "try:\n    context[99]\nexcept IndexError as e:\n    print('caught', e)";
    assert_eq!(session.run(code), "< Text1.__getitem__(99)\ncaught string index out of range\n= done");
}
