//! `re` in cells: the tables of what Python's `re` does, which the search over documents is tested with, too.

use spelunk_sandbox::{CellEnd, Interpreter, MontyInterpreter, Step, Value};

use super::stage::{Stage, setup};

const TABLES: [&str; 2] = [
    include_str!("../../../spelunk-re/tables/python.jsonl"),
    include_str!("../../../spelunk-re/tables/real.jsonl"),
];
const TEMPLATES: &str = include_str!("../../../spelunk-re/tables/templates.jsonl");

/// Prints every result that differs from the table's.
const COMPARE: &str = r#"
import json, re

def spans(match):
    if match is None:
        return None
    found = [list(match.span(idx)) for idx in range(len(match.groups()) + 1)]
    return [None if span == [-1, -1] else span for span in found]

def results(pattern, flags, text):
    p = re.compile(pattern, flags)
    return {
        "groups": p.groups, "names": [list(pair) for pair in p.groupindex.items()], "all_flags": p.flags,
        "findall": [list(item) if isinstance(item, tuple) else item for item in p.findall(text)],
        "finditer": [spans(match) for match in p.finditer(text)],
        "split": p.split(text), "split2": re.split(p, text, 2),
        "sub": list(p.subn(r"<\g<0>>", text)), "sub1": list(re.subn(p, "_", text, 1)),
        "match": spans(p.match(text)), "fullmatch": spans(p.fullmatch(text)), "search": spans(p.search(text)),
    }

for line in table.strip().split("\n"):
    expected = json.loads(line)
    asked = [expected.pop(name) for name in ("pattern", "flags", "text")]
    try:
        found = results(*asked)
    except re.error as error:
        found = {"error": str(error)}
    for name, value in expected.items():
        if found.get(name) != value:
            print(asked, name, found.get(name, found.get("error")), "for", value)
    if "sub" in expected and "error" not in found and p_sub(*asked) != expected["sub"][0]:
        print(asked, "sub by a function", p_sub(*asked))
"#;

const SUB: &str = r#"
import re
def p_sub(pattern, flags, text):
    return re.sub(pattern, lambda match: "<" + match.group() + ">", text, flags=flags)
"#;

#[test]
fn every_function_of_re_gives_what_python_gives() {
    assert_eq!(over(&TABLES.concat(), &format!("{SUB}{COMPARE}")), "");
}

#[test]
fn replacements_are_read_as_python_reads_them() {
    let code = r#"
import json, re
for line in table.strip().split("\n"):
    expected = json.loads(line)
    found = {"template": expected["template"]}
    try:
        found["result"] = re.sub(r"(?P<k>\w)(\d)?", expected["template"], "a1 b")
    except re.error as error:
        found["error"] = str(error)
    if found != expected:
        print(found, "for", expected)
"#;
    assert_eq!(over(TEMPLATES, code), "");
}

/// What a cell prints that sees a table.
fn over(table: &str, code: &str) -> String {
    let mut setup = setup(&Stage { cell_ms_max: Some(60_000), ..Stage::default() });
    setup.variables.push(("table".to_owned(), Value::from(table)));
    let mut interpreter = MontyInterpreter::open(&setup).unwrap();
    match interpreter.feed(code).unwrap() {
        Step::Finished(CellEnd::Done { output }) => output.render(),
        other @ (Step::Calls(_) | Step::Finished(_)) => format!("{other:?}"),
    }
}
