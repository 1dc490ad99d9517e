//! How fragments become calls, and the limits.

use super::*;

fn call(id: &str, name: &str, arguments: &str) -> ModelDelta {
    let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
    ModelDelta::ToolCall(ToolCall { id, name, arguments, signature: None })
}

#[test]
fn fragments_of_two_calls_are_joined_by_their_place() {
    let mut drafts = Drafts::default();
    drafts.add(0, Some("a".to_owned()), Some("grep".to_owned()), "").unwrap();
    drafts.add(1, Some("b".to_owned()), Some("read".to_owned()), "{\"p\":").unwrap();
    drafts.add(0, None, None, "{\"q\":").unwrap();
    drafts.add(0, Some(String::new()), None, "1}").unwrap();
    drafts.add(1, None, Some(String::new()), "2}").unwrap();
    assert_eq!(drafts.finish_all(), [call("a", "grep", "{\"q\":1}"), call("b", "read", "{\"p\":2}")]);
    assert_eq!(drafts.finish_all(), []);
}

#[test]
fn a_call_without_id_or_arguments_gets_both() {
    let mut drafts = Drafts::default();
    drafts.add(7, None, Some("now".to_owned()), " ").unwrap();
    assert_eq!(drafts.finish(7), Some(call("call-7", "now", "{}")));
    assert_eq!(drafts.finish(7), None);
}

#[test]
fn another_id_at_the_same_place_is_another_call() {
    let mut drafts = Drafts::default();
    let named = |name: &str| Some(name.to_owned());
    drafts.add(0, named("a"), named("grep"), "{\"q\":1}").unwrap();
    drafts.add(0, named("b"), named("grep"), "{\"q\":").unwrap();
    // Most servers send the id once, some repeat it, and some make one up for every fragment.
    drafts.add(0, None, None, "2").unwrap();
    drafts.add(0, named("b"), named("grep"), "2").unwrap();
    drafts.add(0, named("of this fragment"), None, "}").unwrap();
    drafts.add(1, named("c"), named("now"), "").unwrap();
    let expected = [call("a", "grep", "{\"q\":1}"), call("b", "grep", "{\"q\":22}"), call("c", "now", "{}")];
    assert_eq!(drafts.finish_all(), expected);
}

#[test]
fn an_id_that_comes_late_belongs_to_the_call_that_was_begun() {
    let mut drafts = Drafts::default();
    drafts.add(0, None, Some("grep".to_owned()), "{").unwrap();
    drafts.add(0, Some("a".to_owned()), None, "}").unwrap();
    assert_eq!(drafts.finish(0), Some(call("a", "grep", "{}")));
    assert_eq!(drafts.finish_all(), []);
}

#[test]
fn endless_arguments_and_endless_calls_are_refused() {
    let mut drafts = Drafts::default();
    let half = "x".repeat(ARGUMENT_BYTES_MAX / 2);
    drafts.add(0, None, None, &half).unwrap();
    drafts.add(1, None, None, &half).unwrap();
    assert_eq!(drafts.add(0, None, None, "x"), Err(ReplyFault::TooLong(ARGUMENT_BYTES_MAX)));
    let mut drafts = Drafts::default();
    for place in 0..128 {
        drafts.add(place, None, None, "").unwrap();
        // A finished call still counts.
        drafts.finish(place);
    }
    let refused = || ReplyFault::Malformed("it contains more than 128 tool calls".to_owned());
    assert_eq!(drafts.add(128, None, None, ""), Err(refused()));
    let mut drafts = Drafts::default();
    for nth in 0..128 {
        drafts.add(0, Some(format!("id-{nth}")), Some("now".to_owned()), "").unwrap();
    }
    assert_eq!(drafts.add(0, Some("one more".to_owned()), Some("now".to_owned()), ""), Err(refused()));
}

#[test]
fn arguments_that_are_no_object_go_back_as_an_empty_one() {
    let object = |arguments: &str| {
        let call = ToolCall {
            id: String::new(),
            name: String::new(),
            arguments: arguments.to_owned(),
            signature: None,
        };
        call.object().to_string()
    };
    assert_eq!(object(r#"{"a": 1}"#), r#"{"a":1}"#);
    assert_eq!(object("[1]"), "{}");
    assert_eq!(object("{\"a\":"), "{}");
}
