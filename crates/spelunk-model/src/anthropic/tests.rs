//! What is sent. What is understood of replies is in `tests/wire`.

use expect_test::{Expect, expect};

use super::*;

fn model(base_url: &str) -> AnthropicModel {
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "m".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    AnthropicModel::new(options).unwrap()
}

fn check(prompt: &Prompt, expected: &Expect) {
    expected.assert_eq(&String::from_utf8(model("http://127.0.0.1:1").body(prompt)).unwrap());
}

#[test]
fn the_system_text_is_marked_for_the_cache() {
    check(
        &Prompt::single("S", "U", 7),
        &expect![[
            r#"{"model":"m","max_tokens":7,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"U"}],"stream":true}"#
        ]],
    );
}

#[test]
fn an_empty_system_text_is_left_out() {
    check(
        &Prompt::single("", "U", 7),
        &expect![[
            r#"{"model":"m","max_tokens":7,"messages":[{"role":"user","content":"U"}],"stream":true}"#
        ]],
    );
}

#[test]
fn an_address_with_v1_is_the_same_as_one_without() {
    let base_url = |given: &str| model(given).reference().base_url.clone();
    assert_eq!(base_url("http://127.0.0.1:1"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/v1"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/v1/"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/proxy"), "http://127.0.0.1:1/proxy");
}
