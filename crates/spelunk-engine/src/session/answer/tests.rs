use std::sync::Arc;

use spelunk_sandbox::Value;
use spelunk_types::Citation;

use super::AnswerCheck;
use crate::Schema;
use crate::environment::Preview;
use crate::plain_answer::CodeAlone;

fn looked(schema: Option<&str>) -> AnswerCheck {
    let schema = schema.map(|text| Arc::new(Schema::parse(text).unwrap()));
    let mut check = AnswerCheck::new(schema, CodeAlone::IsNone, Preview::default());
    check.saw_code("print(context)", &[]);
    check
}

fn admit(check: &mut AnswerCheck, value: Value) -> Result<String, String> {
    check.admit(value, None).map(|given| given.text).map_err(|refusal| refusal.message)
}

#[test]
fn an_answer_before_looking_is_refused_once() {
    let mut check = AnswerCheck::new(None, CodeAlone::IsNone, Preview::default());
    check.saw_code("print(1 + 1)", &[]);
    let refusal = "you have not looked at `context` yet: look first, then answer";
    assert_eq!(admit(&mut check, Value::Int(2)), Err(refusal.to_owned()));
    assert_eq!(admit(&mut check, Value::Int(2)), Ok("2".to_owned()));
}

#[test]
fn an_answer_from_what_was_shown_is_taken_at_once() {
    let shown = |text: &str, is_whole| {
        AnswerCheck::new(None, CodeAlone::IsNone, Preview { text: text.to_owned(), is_whole })
    };
    let refused = Err("you have not looked at `context` yet: look first, then answer".to_owned());
    for (is_whole, answer, expected) in [
        (true, "two", Ok("two".to_owned())),
        (false, "Ann Lee", Ok("Ann Lee".to_owned())),
        (false, "Ann", Ok("Ann".to_owned())),
        (false, "nn Le", refused.clone()),
        (false, "two", refused.clone()),
        (false, "", refused),
    ] {
        assert_eq!(admit(&mut shown("By Ann Lee.", is_whole), Value::from(answer)), expected, "{answer}");
    }
}

#[test]
fn an_empty_answer_code_and_a_call_are_refused_however_often_they_are_given() {
    let call = Value::from("{\"name\": \"Read\", \"arguments\": {}}");
    let cases = [
        (Value::None, "empty"),
        (Value::from(" \u{200b}"), "empty"),
        (Value::from("```python\nprint(1)\n```"), "only a code block"),
        (call, "a tool call"),
    ];
    let mut check = looked(None);
    for (value, what) in cases {
        for _ in 0..3 {
            let refused = format!("the answer is {what}: give the answer itself");
            assert_eq!(admit(&mut check, value.clone()), Err(refused));
        }
    }
    let mut asked_for_code = AnswerCheck::new(None, CodeAlone::IsAnswer, Preview::default());
    asked_for_code.saw_code("print(context)", &[]);
    let code = "```python\nprint(1)\n```";
    assert_eq!(admit(&mut asked_for_code, Value::from(code)), Ok(code.to_owned()));
}

#[test]
fn a_placeholder_is_refused_once() {
    for text in ["<your answer>", "Answer"] {
        let mut check = looked(None);
        let refused = "the answer is a placeholder: give the answer itself".to_owned();
        assert_eq!(admit(&mut check, Value::from(text)), Err(refused));
        assert_eq!(admit(&mut check, Value::from(text)), Ok(text.to_owned()));
    }
}

#[test]
fn values_are_told_as_people_would_write_them() {
    let mut check = looked(None);
    let pair = || (Value::from("a"), Value::Float(2.0));
    assert_eq!(admit(&mut check, Value::Float(0.5)), Ok("0.5".to_owned()));
    assert_eq!(admit(&mut check, Value::Bool(true)), Ok("True".to_owned()));
    assert_eq!(admit(&mut check, Value::Dict(vec![pair()])), Ok("{\n  \"a\": 2.0\n}".to_owned()));
}

#[test]
fn a_typed_answer_may_be_the_value_or_its_json() {
    let schema = Some(r#"{"type": "array", "items": {"type": "integer"}}"#);
    let fits = Ok("[\n  1,\n  2\n]".to_owned());
    assert_eq!(admit(&mut looked(schema), Value::List(vec![Value::Int(1), Value::Int(2)])), fits);
    assert_eq!(admit(&mut looked(schema), Value::from("```json\n[1, 2]\n```")), fits);
    let text = looked(Some(r#"{"type": "string"}"#)).admit(Value::from("12"), None).unwrap().text;
    assert_eq!(text, "\"12\"");
    assert_eq!(
        admit(&mut looked(schema), Value::from("one, two")),
        Err("the answer does not match the schema:\nat the root: expected an array, found \"one, two\""
            .to_owned())
    );
}

#[test]
fn evidence_is_taken_in_every_form_that_code_has_it() {
    let citation = Citation { document: "a.md".into(), line: 3, quote: "the words".into() };
    let hit = Value::Dict(vec![
        (Value::from("doc"), Value::from("a.md")),
        (Value::from("line"), Value::Int(3)),
        (Value::from("text"), Value::from("  the words\nand more")),
    ]);
    let triple = || Value::Tuple(vec!["a.md".into(), Value::Int(3), "the words".into()]);
    for cite in
        [hit, triple(), Value::List(vec![triple()]), Value::Tuple(vec![triple()]), "a.md:3: the words".into()]
    {
        let given = looked(None).admit(Value::from("yes"), Some(cite)).unwrap();
        assert_eq!(given.claims, std::slice::from_ref(&citation));
    }
    let refusal = looked(None).admit(Value::from("yes"), Some(Value::Int(3))).unwrap_err();
    assert_eq!(
        refusal.message,
        "`cite` takes hits of grep, (doc, line, words) tuples or 'doc:line: words' strings, not int"
    );
}
