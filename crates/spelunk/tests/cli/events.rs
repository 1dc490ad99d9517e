//! `--events`: the event stream of a run, one line of JSON per event.

use serde_json::Value;
use spelunk_testkit::ModelServer;

use crate::scene::{NOTE, REPLY, Scene, answering, short, to_all};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The recorded events, without the checksum that only journal lines have.
fn kept(events: Vec<Value>) -> Vec<Value> {
    let is_kept =
        |event: &Value| !["call.streamed", "progress.ticked"].contains(&event["type"].as_str().unwrap());
    let mut kept: Vec<Value> = events.into_iter().filter(is_kept).collect();
    for event in &mut kept {
        event.as_object_mut().unwrap().remove("sum");
    }
    kept
}

#[test]
fn the_stream_is_the_journal_and_the_pieces_of_replies() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).arg("--events").run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let events = lines(&ran.stdout);
    let streamed: String = events
        .iter()
        .filter(|event| event["type"] == "call.streamed")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(streamed, REPLY);
    assert_eq!(kept(events), kept(scene.journal(&scene.only_run())));
}

#[test]
fn a_resumed_stream_begins_with_what_the_journal_held() {
    let scene = Scene::new(&NOTE);
    let server = ModelServer::start_blocking([to_all().fault(spelunk_testkit::status(400)).reply(REPLY)]);
    let ran = scene.ask(&server).arg("--events").run();
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let run = scene.only_run();
    let resumed = scene.spelunk(["resume", short(&run), "--events"]).run();
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert_eq!(kept(lines(&resumed.stdout)), kept(scene.journal(&run)));
}
