//! The tools as a model calls them: arguments in, text out.

mod finding;
mod writing;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{TOOLS, run_tool};
use crate::{Desk, DeskLimits, DeskPath};

fn path(path: &str) -> DeskPath {
    DeskPath::parse(path).unwrap()
}

fn desk() -> Desk {
    let mut desk = Desk::new(DeskLimits::default());
    desk.put(&path("input/prompt.md"), "# Task\n\nFind the needle.\nThen stop.\n").unwrap();
    desk.put(&path("scratch/words.txt"), "pear\napple\nPear\nfig\n").unwrap();
    desk.put(&path("scratch/deep/more.md"), "a pear tree\n").unwrap();
    desk
}

/// The text of an outcome with the files that changed, or the error.
fn call(desk: &mut Desk, name: &str, arguments: &Value) -> String {
    let before = desk.clone();
    match run_tool(desk, name, arguments) {
        Ok(text) => {
            let changed: Vec<String> = desk.changed_since(&before).iter().map(ToString::to_string).collect();
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}changed: {}\n", changed.join(" "))
        }
        Err(error) => format!("error: {error}\n"),
    }
}

fn check(desk: &mut Desk, name: &str, arguments: &Value, expected: &Expect) {
    expected.assert_eq(&call(desk, name, arguments));
}

/// Several calls of one tool on one desk, in sequence.
fn check_all(desk: &mut Desk, name: &str, calls: &[Value], expected: &Expect) {
    let mut told = String::new();
    for arguments in calls {
        told.push_str(&format!("{name} {arguments}\n{}", call(desk, name, arguments)));
    }
    expected.assert_eq(&told);
}

#[test]
fn every_schema_is_an_object_that_takes_nothing_else() {
    for tool in TOOLS {
        let schema = tool.schema_value();
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        let properties = schema["properties"].as_object().unwrap();
        for required in schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{}: {required}", tool.name);
        }
        assert!(tool.description.len() < 400, "{}", tool.name);
    }
}

#[test]
fn every_property_of_a_schema_is_taken_and_nothing_else_is() {
    for tool in TOOLS {
        let schema = tool.schema_value();
        for name in schema["properties"].as_object().unwrap().keys() {
            // An object is invalid for nearly every argument, but must not be reported as an unknown field.
            let told = call(&mut desk(), tool.name, &json!({ name.clone(): {"x": 1} }));
            assert!(!told.contains("unknown field"), "{} does not know `{name}`: {told}", tool.name);
        }
        let told = call(&mut desk(), tool.name, &json!({"surprise": 1}));
        assert!(told.contains("unknown field `surprise`"), "{}: {told}", tool.name);
    }
}

#[test]
fn arguments_that_are_no_object_and_tools_that_are_none_are_refused() {
    let mut desk = desk();
    for value in [json!(null), json!([]), json!("path"), json!(5)] {
        check(
            &mut desk,
            "Read",
            &value,
            &expect![[r#"
            error: invalid arguments for Read: they must be a JSON object
        "#]],
        );
    }
    check(
        &mut desk,
        "Reed\n",
        &json!({}),
        &expect![[r#"
        error: there is no tool `Reed\n`; the tools are Read, Write, Edit, Grep, Glob, Chunk, Evidence, Buffer, Shell
    "#]],
    );
    check(
        &mut desk,
        "Read",
        &json!({}),
        &expect![[r#"
        error: invalid arguments for Read: missing field `path`
    "#]],
    );
}

#[test]
fn numbers_may_come_as_text_and_names_from_elsewhere() {
    let mut desk = desk();
    let expected = expect![[r#"
             3	Find the needle.
        [lines 3-3 of 4; continue with offset=4]
        changed: 
    "#]];
    check(
        &mut desk,
        "Read",
        &json!({"file_path": "/input/prompt.md", "offset": "3", "limit": 1.0}),
        &expected,
    );
    check(
        &mut desk,
        "Read",
        &json!({"path": "input/prompt.md", "offset": -1}),
        &expect![[r#"
        error: invalid arguments for Read: invalid value: -1, expected a non-negative integer
    "#]],
    );
}

#[test]
fn hostile_arguments_are_answered_and_never_panic() {
    let hostile = [
        json!(""),
        json!("../../etc/passwd"),
        json!("\u{0}"),
        json!("a".repeat(100_000)),
        json!("(((((((((("),
        json!("[z-a]"),
        json!("(a+)+$"),
        json!("{a,{b,{c,{d,e}}}}"),
        json!(u64::MAX),
        json!(-1),
        json!(1e300),
        json!(null),
        json!(true),
        json!([["x"]]),
        json!({"a": {"b": []}}),
    ];
    for tool in TOOLS.iter().filter(|tool| tool.name != "Shell") {
        let schema = tool.schema_value();
        let names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        for value in &hostile {
            for name in &names {
                let mut desk = desk();
                let mut arguments = json!({
                    "path": "scratch/words.txt", "pattern": "pear", "content": "x", "old": "pear", "new": "plum",
                    "tag": "t", "action": "append", "name": "n", "text": "t",
                });
                let object = arguments.as_object_mut().unwrap();
                object.retain(|key, _| names.contains(key));
                object.insert(name.clone(), value.clone());
                let told = call(&mut desk, tool.name, &arguments);
                assert!(told.len() < 60_000, "{} {arguments}", tool.name);
                assert_eq!(desk.read(&path("input/prompt.md")).unwrap().len(), 36);
            }
        }
    }
}
