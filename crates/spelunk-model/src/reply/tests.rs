//! Hostile payloads for decoders: JSON of any shape, built from a format's vocabulary so that it is close to valid. For
//! tests only.

use proptest::prelude::*;
use serde_json::Value;

use super::Decode;
use crate::ModelDelta;

/// Feeds the events to a decoder, then its end, then the first event as a whole reply. Nothing may panic, and no delta
/// may be empty.
pub(crate) fn feed<D: Decode>(new: impl Fn() -> D, events: &[Value]) {
    let mut decoder = new();
    let mut deltas = Vec::new();
    for event in events {
        deltas.extend(decoder.event(&event.to_string()).unwrap_or_default());
    }
    deltas.extend(decoder.end().unwrap_or_default());
    if let Some(event) = events.first() {
        deltas.extend(new().whole(&event.to_string()).unwrap_or_default());
    }
    for delta in deltas {
        match delta {
            ModelDelta::Text(text) | ModelDelta::Reasoning(text) => {
                assert!(!text.is_empty(), "an empty delta");
            }
            ModelDelta::ToolCall(call) => assert!(!call.id.is_empty(), "a call without an id"),
            ModelDelta::Certainty(permille) => assert!(permille <= 1000, "more than certain"),
            ModelDelta::Done { .. } => {}
        }
    }
}

/// Up to eight JSON events whose names and strings are mostly these words.
pub(crate) fn events(words: &'static [&'static str]) -> impl Strategy<Value = Vec<Value>> {
    let word =
        prop_oneof![4 => prop::sample::select(words).prop_map(str::to_owned), 1 => "[a-z<>/\\PC]{0,8}"];
    let leaf = prop_oneof![
        word.clone().prop_map(Value::String),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let json = leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::vec(json, 0..8)
}
