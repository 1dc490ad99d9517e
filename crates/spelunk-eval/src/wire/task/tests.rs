//! A file of tasks is parsed as a whole or not at all.

use expect_test::expect;

use super::*;
use crate::sink::tests::MemorySink;
use crate::{Order, generate};

const GOOD: &str = r#"{"id":"a-1","kind":"needle","seed":1,"tokens":8000,"question":"?","answer":"5","scoring":{"how":"number"},"files":["a-1/b.txt"]}"#;

#[test]
fn what_is_written_is_read_again() {
    for (kind, variant) in
        [(Kind::Needle, "multiple"), (Kind::Labels, "common-read"), (Kind::Absent, "person")]
    {
        let order = Order { kind, variant: Some(variant), tokens: 2000, seed: 3, tree: None };
        let task = generate(&order, &mut MemorySink::default()).unwrap();
        assert_eq!(read_tasks(&write_task(&task)).unwrap(), [task]);
    }
    let line = GOOD.replace(
        "{\"how\":\"number\"}",
        "{\"how\":\"number\",\"accept\":[\"five\"],\"tolerance\":0.5},\"language\":\"de\",\"corpus\":\"x\"",
    );
    let read = read_tasks(&line).unwrap();
    let first = read.first().unwrap();
    assert_eq!(
        (first.accept.as_slice(), first.tolerance, first.language.as_str()),
        (&["five".to_owned()][..], 0.5, "de")
    );
    assert_eq!(read_tasks(&write_task(first)).unwrap(), read);
}

#[test]
fn a_wrong_line_is_named_with_what_is_wrong() {
    let with = |from: &str, to: &str| GOOD.replace(from, to);
    let bad = [
        with("\"needle\"", "\"hay\""),
        with("\"id\":\"a-1\"", "\"id\":\"../x\""),
        with("\"answer\":\"5\"", "\"answer\":\"five\""),
        with("\"answer\":\"5\"", "\"answer\":[]"),
        with("\"how\":\"number\"", "\"how\":\"luck\""),
        with("\"how\":\"number\"", "\"how\":\"choice\",\"among\":[\"6\"]"),
        with("\"number\"", "\"number\",\"accept\":[\" \"]"),
        with("\"number\"", "\"number\",\"tolerance\":-1"),
        with("a-1/b.txt", "/etc/passwd"),
        with("a-1/b.txt", "a-1/../../x"),
        with("[\"a-1/b.txt\"]", "[]"),
        with("\"question\":\"?\"", "\"question\":\" \""),
        with("\"seed\":1", "\"seed\":\"one\""),
        with(",\"seed\":1", ""),
        "not json".to_owned(),
        format!("{GOOD}\n{GOOD}"),
        String::new(),
    ];
    let said: Vec<String> = bad.iter().map(|line| read_tasks(line).unwrap_err().to_string()).collect();
    expect![[r#"
        line 1 of the tasks is not valid: there is no kind `hay`
        line 1 of the tasks is not valid: the id `../x` is not a valid folder name
        line 1 of the tasks is not valid: `answer` is not a number, but `scoring` requires one
        line 1 of the tasks is not valid: `answer` is empty
        line 1 of the tasks is not valid: there is no scoring `luck`
        line 1 of the tasks is not valid: `answer` is not `among` the choices
        line 1 of the tasks is not valid: `accept` has an empty answer
        line 1 of the tasks is not valid: `tolerance` is not a valid distance
        line 1 of the tasks is not valid: the file `/etc/passwd` is not in the tasks folder
        line 1 of the tasks is not valid: the file `a-1/../../x` is not in the tasks folder
        line 1 of the tasks is not valid: `files` is empty
        line 1 of the tasks is not valid: `question` is empty
        line 1 of the tasks is not valid: invalid type: string "one", expected u64 at line 1 column 40
        line 1 of the tasks is not valid: missing field `seed` at line 1 column 119
        line 1 of the tasks is not valid: expected ident at line 1 column 2
        line 2 of the tasks is not valid: the id `a-1` is used twice
        line 1 of the tasks is not valid: there are no tasks"#]]
    .assert_eq(&said.join("\n"));
    assert_eq!(read_tasks(&format!("{GOOD}\n\n")).unwrap().len(), 1);
}
