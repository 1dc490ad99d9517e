use serde_json::json;

use super::*;

fn of(value: &Value) -> Arguments {
    Arguments::new(value.as_object().cloned())
}

fn message<T>(result: Result<T, Usage>) -> String {
    result.err().map(|error| format!("{}; {}", error.message, error.hint)).unwrap_or_default()
}

#[test]
fn each_type_is_checked() {
    let mut given = of(&json!({ "a": 1, "b": "x", "c": [1], "d": -1, "e": 2.0, "f": 1.5, "g": null }));
    assert_eq!(message(given.text("a", 5)), "the argument `a` must be a string; see the schema of the tool");
    assert_eq!(
        message(given.flag("b")),
        "the argument `b` must be true or false; see the schema of the tool"
    );
    assert_eq!(
        message(given.texts("c", 1, 1)),
        "the argument `c` must be a list of strings; see the schema of the tool"
    );
    assert_eq!(
        message(given.whole("d", 9)),
        "the argument `d` must be a non-negative integer; see the schema of the tool"
    );
    assert_eq!(given.whole("e", 9).ok().flatten(), Some(2));
    assert!(given.whole("f", 9).is_err());
    assert_eq!(message(given.needed("g", 1)), "the argument `g` is missing; see the schema of the tool");
    assert!(given.finish().is_ok());
}

#[test]
fn too_much_is_refused() {
    let mut given = of(&json!({ "a": "ééé", "b": [1, 2], "c": 10 }));
    assert_eq!(
        message(given.text("a", 2)),
        "the argument `a` has more than 2 characters; see the schema of the tool"
    );
    assert_eq!(
        message(given.list("b", 1)),
        "the argument `b` has 2 entries; the maximum is 1; see the schema of the tool"
    );
    assert_eq!(
        message(given.whole("c", 9)),
        "the argument `c` is 10; the maximum is 9; see the schema of the tool"
    );
}

#[test]
fn a_name_that_nobody_takes_is_refused_with_the_one_that_was_meant() {
    let mut given = of(&json!({ "lnies": 1 }));
    assert!(given.whole("lines", 5).is_ok());
    assert_eq!(message(given.finish()), "there is no argument `lnies`; did you mean `lines`?");
    assert_eq!(message(of(&json!({ "x": 1 })).finish()), "there is no argument `x`; it takes no arguments");
}
