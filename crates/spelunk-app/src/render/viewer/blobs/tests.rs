use std::sync::Arc;

use spelunk_journal::{Journal, Workspace};
use spelunk_testkit::FaultDisk;
use spelunk_types::{CallId, CallOutcome, FrameId, RunId, Served, StopReason, Usage};

use super::*;

fn call(n: u32) -> CallId {
    CallId { frame: FrameId::root(), ordinal: n }
}

/// A prompt with a long message, and a long reply to it.
fn scene(message: &str, reply: &str) -> (Blobs, Vec<Record>) {
    let workspace = Workspace::on(Arc::new(FaultDisk::sound()));
    let blobs = workspace.blobs();
    let long = serde_json::to_value(blobs.keep(message).unwrap()).unwrap();
    let record =
        serde_json::json!({ "system": { "text": "s" }, "messages": [{ "speaker": "user", "text": long }] });
    let started = EventKind::CallStarted {
        call: call(0),
        model: "m".into(),
        prompt: spelunk_journal::digest(b"p"),
        text: blobs.keep(&record.to_string()).unwrap(),
        reserved: None,
    };
    let outcome = CallOutcome::Replied {
        reply: blobs.keep(reply).unwrap(),
        stop: StopReason::Finished,
        usage: Usage::default(),
        tool_calls: None,
        certainty_permille: None,
    };
    let settled = EventKind::CallSettled { call: call(0), outcome, served: Served::Live };
    let run = RunId::new(0, 0);
    let mut journal = Journal::create(Arc::new(FaultDisk::sound()), &run);
    let facts = [started, settled].map(|kind| (FrameId::root(), kind));
    let events = journal.append(0, facts.into()).unwrap();
    (blobs, events.into_iter().map(|event| Record::Known(Box::new(event))).collect())
}

#[test]
fn a_prompt_brings_the_texts_it_names() {
    let (message, reply) = ("m".repeat(3000), "r".repeat(4000));
    let (blobs, records) = scene(&message, &reply);
    let texts = gather(&blobs, &records, &SizeLimits::default());
    let mut kept: Vec<&String> = texts.kept.values().collect();
    kept.sort();
    assert_eq!(kept, [&message, &reply]);
    assert_eq!((texts.n_left_out, texts.bytes_left_out), (0, 0));
}

#[test]
fn replies_come_before_prompts_and_what_does_not_fit_is_counted() {
    let (message, reply) = ("m".repeat(3000), "r".repeat(4000));
    let (blobs, records) = scene(&message, &reply);
    let texts = gather(&blobs, &records, &SizeLimits { each_bytes_max: 5000, all_bytes_max: 5000 });
    assert_eq!(texts.kept.values().collect::<Vec<_>>(), [&reply]);
    assert_eq!((texts.n_left_out, texts.bytes_left_out), (1, 3000));
    let texts = gather(&blobs, &records, &SizeLimits { each_bytes_max: 3500, all_bytes_max: 5000 });
    assert_eq!(texts.kept.values().collect::<Vec<_>>(), [&message]);
    assert_eq!((texts.n_left_out, texts.bytes_left_out), (1, 4000));
}

#[test]
fn a_text_that_is_gone_is_left_out() {
    let (_, records) = scene(&"m".repeat(3000), &"r".repeat(4000));
    let texts =
        gather(&Workspace::on(Arc::new(FaultDisk::sound())).blobs(), &records, &SizeLimits::default());
    assert_eq!((texts.kept.len(), texts.n_left_out), (0, 2));
}

#[test]
fn a_hostile_record_names_nothing() {
    for record in [
        "",
        "[]",
        "{\"messages\": 3}",
        "{\"system\": {\"blob\": \"../../etc\"}, \"messages\": [null, {\"text\": {\"blob\": 7}}]}",
    ] {
        assert_eq!(parts(record), [], "{record}");
    }
}
