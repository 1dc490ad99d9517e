use super::*;
use crate::{StopReason, Usage};

#[test]
fn an_event_is_one_flat_object_with_ids_as_text() {
    let event = Event {
        seq: 41,
        at_ms: 1_787_400_000_123,
        frame: FrameId::root().child(3),
        kind: EventKind::CallSettled {
            call: "0.3#2".parse().unwrap(),
            outcome: CallOutcome::Replied {
                reply: Text::Inline { text: "42".into() },
                stop: StopReason::Finished,
                usage: Usage {
                    input_tokens: 812,
                    cached_tokens: 0,
                    cache_written_tokens: 0,
                    output_tokens: 64,
                    cost_microusd: 310,
                },
                tool_calls: None,
                certainty_permille: None,
            },
            served: Served::Live,
        },
    };
    let line = serde_json::to_string(&event).unwrap();
    expect_test::expect![[r#"{"seq":41,"at_ms":1787400000123,"frame":"0.3","type":"call.settled","call":"0.3#2","outcome":{"is":"replied","reply":{"text":"42"},"stop":"finished","usage":{"input_tokens":812,"output_tokens":64,"cost_microusd":310}},"served":"live"}"#]].assert_eq(&line);
    assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
}

#[test]
fn every_listed_name_is_one_that_serde_knows_and_no_other() {
    for name in EventKind::NAMES {
        let error =
            serde_json::from_str::<EventKind>(&format!(r#"{{"type":"{name}"}}"#)).map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("missing field"), "{name}: {error}");
    }
    let error = serde_json::from_str::<EventKind>(r#"{"type":"cell.dreamt"}"#).unwrap_err().to_string();
    let known = EventKind::NAMES.map(|name| format!("`{name}`")).join(", ");
    assert_eq!(error, format!("unknown variant `cell.dreamt`, expected one of {known} at line 1 column 21"));
}
