//! Which inputs are accepted, what they become, and the errors for the others.

use expect_test::expect;
use serde_json::json;

use super::*;

fn read(sent: &Value) -> Result<QuestionInput, String> {
    let mut arguments = Arguments::new(sent.as_object().cloned());
    let asked = QuestionInput::read(&mut arguments, Vec::new()).map_err(|usage| usage.message)?;
    arguments.finish().map_err(|usage| usage.message)?;
    Ok(asked)
}

fn shown(sent: &Value) -> String {
    let asked = match read(sent) {
        Ok(asked) => asked,
        Err(refused) => return format!("refused: {refused}\n"),
    };
    let mut text = format!("{:?}\n", asked.question);
    for input in asked.attachments {
        if let SourceInput::Text { name, bytes } = input {
            text += &format!("  {name}: {:?}\n", String::from_utf8_lossy(&bytes));
        }
    }
    text
}

#[test]
fn a_question_or_a_conversation_and_what_is_attached() {
    let sent = [
        json!({ "question": "Why?" }),
        json!({ "question": "Why?", "attachments": [{ "name": "a/../b.md", "text": "one" }, { "name": "b.md", "base64": "dHdv" }] }),
        json!({ "messages": [{ "role": "user", "content": "Why?" }], "system": "Be brief." }),
    ];
    expect![[r###"
        "Why?"
        "Why?"
          attachments/b.md: "one"
          attachments/b-2.md: "two"
        "## system\nBe brief.\n\n## user\nWhy?\n"
          messages.json: "{\n  \"messages\": [\n    {\n      \"content\": \"Why?\",\n      \"role\": \"user\"\n    }\n  ],\n  \"system\": \"Be brief.\"\n}\n"
    "###]].assert_eq(&sent.iter().map(shown).collect::<String>());
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let many = vec![json!({ "name": "a", "text": "" }); ATTACHED_MAX + 1];
    let sent = [
        json!({}),
        json!({ "question": " \n" }),
        json!({ "question": 7 }),
        json!({ "question": "q", "messages": [{ "role": "user", "content": "q" }] }),
        json!({ "messages": [] }),
        json!({ "messages": "hello" }),
        json!({ "messages": [{ "role": "user" }] }),
        json!({ "question": "q", "system": "s" }),
        json!({ "question": "q", "attachments": {} }),
        json!({ "question": "q", "attachments": ["a"] }),
        json!({ "question": "q", "attachments": [{ "text": "x" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a", "text": "x", "base64": "eA==" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a", "base64": "???" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a", "text": "x", "path": "/etc/passwd" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a".repeat(5000), "text": "x" }] }),
        json!({ "question": "q", "attachments": many }),
    ];
    expect![[r#"
        refused: the argument `question` is missing
        refused: the argument `question` is empty
        refused: the argument `question` must be a string
        refused: the argument `messages` cannot be combined with `question`: send one of the two
        refused: the argument `messages` is not a conversation: it has no messages
        refused: the argument `messages` must be a list of messages
        refused: the argument `messages` is not a conversation: message 1 has no `role` and `content`
        refused: the argument `system` needs `messages`
        refused: the argument `attachments` must be a list
        refused: the argument `attachments` is not valid: entry 1: it is not an object
        refused: the argument `attachments` is not valid: entry 1: the argument `name` is missing
        refused: the argument `attachments` is not valid: entry 1: it needs either `text` or `base64`
        refused: the argument `attachments` is not valid: entry 1: it needs either `text` or `base64`
        refused: the argument `attachments` is not valid: entry 1: `base64` is not valid: Invalid symbol 63, offset 0
        refused: the argument `attachments` is not valid: entry 1: there is no argument `path`
        refused: the argument `attachments` is not valid: entry 1: the argument `name` has more than 4096 characters
        refused: the argument `attachments` has 201 entries; the maximum is 200
    "#]].assert_eq(&sent.iter().map(shown).collect::<String>());
}
