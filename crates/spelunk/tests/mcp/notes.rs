//! Variables and buffers.

use expect_test::expect;
use serde_json::json;

use super::client::Client;
use crate::scene::Scene;

#[test]
fn variables_are_kept_cut_listed_and_cleared() {
    let scene = Scene::new(&[]);
    let mut client = Client::plain(&scene);
    client.call("state_set", &json!({ "key": "a", "value": "hello wörld" }));
    client.call("state_set", &json!({ "key": "b", "value": { "n": 1 } }));
    assert_eq!(client.data("state_get", &json!({ "key": "a", "start": 6, "end": 8 }))["value"], "wö");
    assert_eq!(client.data("state_get", &json!({ "key": "b" }))["value"], r#"{"n":1}"#);
    client.call("buffer_append", &json!({ "text": "one" }));
    expect![[r#"
        a (11 characters): hello wörld
        b (7 characters): {"n":1}
        buffer default: 1 entries, 3 characters"#]]
    .assert_eq(&client.text("state_list", &json!({})));
    assert_eq!(client.data("state_clear", &json!({ "key": "a" }))["cleared"], 1);
    expect![[r"
        FAILED error: there is no variable `a`

        hint: the variables are b"]]
    .assert_eq(&client.text("state_get", &json!({ "key": "a" })));
}

#[test]
fn a_buffer_is_put_together_piece_by_piece() {
    let scene = Scene::new(&[]);
    let mut client = Client::plain(&scene);
    for piece in ["one", "two", "three"] {
        client.call("buffer_append", &json!({ "label": "report", "text": piece }));
    }
    assert_eq!(client.data("buffer_pop", &json!({ "label": "report" }))["text"], "three");
    assert_eq!(client.text("buffer_read", &json!({ "label": "report", "join": ", " })), "one, two");
    assert_eq!(client.data("buffer_clear", &json!({}))["cleared"], 2);
    assert_eq!(client.text("buffer_pop", &json!({})), "the buffer is empty");
}

#[test]
fn variables_and_buffers_are_bounded() {
    let scene = Scene::new(&[]);
    let mut client = Client::plain(&scene);
    let long = "x".repeat(1_000_001);
    assert!(
        client
            .text("state_set", &json!({ "key": "a", "value": long }))
            .starts_with("FAILED error: the argument `value`")
    );
    for idx in 0..100 {
        client.call("state_set", &json!({ "key": format!("k{idx}"), "value": "v" }));
    }
    assert!(
        client
            .text("state_set", &json!({ "key": "more", "value": "v" }))
            .starts_with("FAILED error: the limit for variables is reached")
    );
    assert!(!client.text("state_set", &json!({ "key": "k0", "value": "other" })).starts_with("FAILED"));
    for _ in 0..1000 {
        client.call("buffer_append", &json!({ "text": "p" }));
    }
    assert!(
        client
            .text("buffer_append", &json!({ "text": "p" }))
            .starts_with("FAILED error: the limit for entries of a buffer is reached")
    );
}
