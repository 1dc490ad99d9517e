//! What is sent. What is understood of replies is in `tests/wire`.

use expect_test::{Expect, expect};

use super::*;
use crate::Message;

fn check(base_url: &str, prompt: &Prompt, expected: &Expect) {
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "m".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    let body = OpenAiModel::new(options).unwrap().body(prompt);
    expected.assert_eq(&String::from_utf8(body).unwrap());
}

#[test]
fn a_request_to_openai_bounds_completion_tokens() {
    check(
        "https://api.openai.com/v1",
        &Prompt::single("S", "U", 7),
        &expect![[
            r#"{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"U"}],"stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":7}"#
        ]],
    );
}

#[test]
fn a_request_elsewhere_bounds_tokens_and_an_empty_system_text_is_left_out() {
    let messages = vec![
        Message { speaker: Speaker::User, text: "A".to_owned() },
        Message { speaker: Speaker::Assistant, text: "B".to_owned() },
        Message { speaker: Speaker::User, text: "C".to_owned() },
    ];
    check(
        "http://127.0.0.1:1",
        &Prompt { system: String::new(), messages, output_tokens_max: 7 },
        &expect![[
            r#"{"model":"m","messages":[{"role":"user","content":"A"},{"role":"assistant","content":"B"},{"role":"user","content":"C"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":7}"#
        ]],
    );
}
