//! Thoughts of a session: stored, included in a query, and truncated for earlier sessions.

use serde_json::json;

use super::client::Client;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

#[test]
fn a_query_takes_thoughts_along_and_its_answer_is_kept_with_them() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let query = json!({ "question": QUESTION, "paths": ["notes"], "thoughts": true });
    assert!(client.text("rlm_query", &query).contains("there are no thoughts in this session"));
    client.call("thought_add", &json!({ "text": "Somebody spoke of a number." }));
    let added = client.data("thought_add", &json!({ "text": "It may stand in the notes." }));
    assert_eq!(added["thought"], 2);
    assert_eq!(client.data("rlm_query", &query)["documents"], 2);
    let sent = server.requests().last().unwrap().body.clone();
    assert!(sent.contains("Somebody spoke of a number."), "{sent}");
    let listed = client.data("thought_list", &json!({}));
    assert_eq!(listed["thoughts"][0]["answers"], json!([]));
    let kept = &listed["thoughts"][1]["answers"][0];
    assert_eq!(
        (kept["answer"].as_str(), kept["model"].as_str()),
        (Some("The magic number is 42."), Some("openai/scripted"))
    );
    assert!(kept["at_ms"].as_u64().unwrap() > 0);
    let context = client.text("context_load", &json!({ "context_id": added["context_id"] }));
    assert!(
        context.contains("## Thought 1") && context.contains("### Answer of openai/scripted"),
        "{context}"
    );
}

#[test]
fn s3_04_of_earlier_sessions_the_three_newest_are_shown_as_summaries() {
    let scene = Scene::new(&NOTE);
    for number in 1..=5 {
        let mut client = Client::plain(&scene);
        let long = format!("session {number} {}\nand more of it", "x".repeat(3000));
        client.call("thought_add", &json!({ "text": long }));
        assert_eq!(client.close().0, 0);
    }
    let server = answering(REPLY);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let listed = client.data("thought_list", &json!({}));
    assert_eq!(listed["thoughts"], json!([]));
    let earlier: Vec<&str> =
        listed["earlier"].as_array().unwrap().iter().map(|one| one["beginning"].as_str().unwrap()).collect();
    assert_eq!(earlier.len(), 3);
    for (beginning, number) in earlier.iter().zip([5, 4, 3]) {
        assert!(
            beginning.contains(&format!("session {number} ")) && !beginning.contains("and more of it"),
            "{beginning}"
        );
    }
    // A query takes its own session along whole, and the earlier ones as these summaries.
    client.call("thought_add", &json!({ "text": "A thought of now.\nAnd its second line." }));
    client.call("rlm_query", &json!({ "question": QUESTION, "paths": ["notes"], "thoughts": true }));
    let sent = server.requests().last().unwrap().body.clone();
    let told = ["session 5 ", "session 3 ", "And its second line.", "session 2 ", "and more of it"];
    assert_eq!(told.map(|words| sent.contains(words)), [true, true, true, false, false], "{sent}");
}
