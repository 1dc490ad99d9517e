//! What is extracted from a reply, and what is not.

use serde_json::json;

use super::super::extract_json;

#[test]
fn json_alone_is_read() {
    assert_eq!(extract_json(" {\"a\": [1, 2.5]}\n"), Some(json!({ "a": [1, 2.5] })));
    assert_eq!(extract_json("42"), Some(json!(42)));
    assert_eq!(extract_json("\"text\""), Some(json!("text")));
}

#[test]
fn json_in_a_fence_is_read() {
    assert_eq!(extract_json("Sure!\n```json\n{\"a\": 1}\n```\nDone."), Some(json!({ "a": 1 })));
    assert_eq!(extract_json("```\n[1]\n```"), Some(json!([1])));
    assert_eq!(extract_json("```{\"a\": 1}```"), Some(json!({ "a": 1 })));
    assert_eq!(extract_json("```json\n\"yes\"\n```"), Some(json!("yes")));
    assert_eq!(extract_json("```json\n{\"a\": 1}"), Some(json!({ "a": 1 })));
}

#[test]
fn json_in_prose_is_read() {
    assert_eq!(extract_json("The answer is {\"a\": \"}\"} (see {x})."), Some(json!({ "a": "}" })));
    assert_eq!(extract_json("As [1] says: {\"a\": 1}"), Some(json!({ "a": 1 })));
    assert_eq!(extract_json("They are [1, 2]."), Some(json!([1, 2])));
}

#[test]
fn thinking_is_not_read() {
    assert_eq!(extract_json("<think>{\"a\": 0}?</think>\n{\"a\": 1}"), Some(json!({ "a": 1 })));
}

#[test]
fn python_is_read_where_it_can_mean_only_one_thing() {
    assert_eq!(
        extract_json("{'a': True, 'b': None, \"c\": [False, 'it\\'s',], }"),
        Some(json!({ "a": true, "b": null, "c": [false, "it's"] }))
    );
    assert_eq!(extract_json("'text'"), Some(json!("text")));
    assert_eq!(extract_json("{\"a\": \"two\nlines\"}"), Some(json!({ "a": "two\nlines" })));
    assert_eq!(extract_json("['\\u00e9\\ud83d\\ude00']"), Some(json!(["é😀"])));
}

#[test]
fn what_could_mean_several_things_is_not_read() {
    assert_eq!(extract_json("{\"a\": 1} or {\"a\": 2}"), None);
    assert_eq!(extract_json("```json\n1\n```\n```json\n2\n```"), None);
    assert_eq!(extract_json("{'a': 1, 'a': 2}"), None);
    assert_eq!(extract_json("[1] and [2]"), None);
    // Equal values count as one.
    assert_eq!(extract_json("{\"a\": 1}, that is {'a': 1}"), Some(json!({ "a": 1 })));
}

#[test]
fn a_part_of_a_broken_value_is_not_the_value() {
    assert_eq!(extract_json("{\"a\": {\"b\": 1}, \"c\": oops}"), None);
    assert_eq!(extract_json("{\"a\": {\"b\": 1}, \"c\": \"cut"), None);
    assert_eq!(extract_json("[{\"b\": 1}, {\"c\""), None);
}

#[test]
fn prose_is_no_value() {
    assert_eq!(extract_json(""), None);
    assert_eq!(extract_json("Paris"), None);
    assert_eq!(extract_json("1,234"), None);
    assert_eq!(extract_json("(1, 2)"), None);
    assert_eq!(extract_json("{a: 1}"), None);
    assert_eq!(extract_json("[1 2]"), None);
    assert_eq!(extract_json("['\\x']"), None);
    assert_eq!(extract_json("['\\ud83d']"), None);
}

#[test]
fn brackets_without_end_are_read_a_few_times() {
    assert_eq!(extract_json(&"[".repeat(30_000)), None);
    assert_eq!(extract_json(&"[1,".repeat(30_000)), None);
    assert_eq!(extract_json(&format!("{}{{\"a\": 1}}", "{ ".repeat(10_000))), Some(json!({ "a": 1 })));
}
