//! Clients of the compatible endpoints that send what those APIs reject, or what only they support.

use serde_json::{Value, json};

use super::client::{Answer, Server};
use super::compat::{DOCUMENT, REPLY, serving};
use crate::scene::{QUESTION, Scene, answering, n_calls};

fn said(content: &Value) -> Value {
    json!([{ "role": "user", "content": content }])
}

fn refusal(answer: &Answer) -> (u16, String, String) {
    let error = &answer.json()["error"];
    assert!(!error["message"].as_str().unwrap_or_default().is_empty(), "{}", answer.body);
    let text = |name: &str| error[name].as_str().unwrap_or("-").to_owned();
    (answer.status, text("code"), text("param"))
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let image = json!([{ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA" } }]);
    let cases = [
        (json!({ "functions": [{ "name": "f" }] }), "unsupported_parameter", "functions"),
        (json!({ "tool_choice": "required" }), "invalid_value", "tool_choice"),
        (json!({ "n": 2 }), "unsupported_parameter", "n"),
        (json!({ "n": "1" }), "unsupported_parameter", "n"),
        (json!({ "logprobs": true }), "unsupported_parameter", "logprobs"),
        (json!({ "messages": said(&image) }), "unsupported_parameter", "messages[0].content[0].type"),
        (
            json!({ "messages": [{ "role": "tool", "content": "x" }] }),
            "invalid_value",
            "messages[0].tool_call_id",
        ),
        (
            json!({ "messages": [{ "role": "assistant", "tool_calls": [1] }] }),
            "invalid_value",
            "messages[0].tool_calls[0].id",
        ),
        (json!({ "model": "gpt-5" }), "model_not_found", "model"),
        (json!({ "model": null }), "invalid_value", "model"),
        (json!({ "model": 7 }), "invalid_value", "model"),
        (json!({ "messages": null }), "invalid_value", "messages"),
        (json!({ "messages": [] }), "invalid_value", "messages"),
        (json!({ "messages": "hello" }), "invalid_value", "messages"),
        (json!({ "messages": [7] }), "invalid_value", "messages[0]"),
        (json!({ "messages": [{ "content": "x" }] }), "invalid_value", "messages[0].role"),
        (json!({ "messages": [{ "role": "king", "content": "x" }] }), "invalid_value", "messages[0].role"),
        (json!({ "messages": said(&json!(7)) }), "invalid_value", "messages[0].content"),
        (json!({ "messages": said(&json!([7])) }), "invalid_value", "messages[0].content[0]"),
        (
            json!({ "messages": said(&json!([{ "type": "text" }])) }),
            "invalid_value",
            "messages[0].content[0].text",
        ),
        (
            json!({ "messages": said(&json!([{ "text": "x" }])) }),
            "invalid_value",
            "messages[0].content[0].type",
        ),
        (json!({ "messages": said(&json!("")) }), "invalid_value", "messages"),
        (json!({ "messages": said(&json!(" \n ")) }), "invalid_value", "messages"),
        (json!({ "messages": said(&json!(null)) }), "invalid_value", "messages"),
        (json!({ "messages": [{ "role": "system", "content": "Be brief." }] }), "invalid_value", "messages"),
        (json!({ "stream": "yes" }), "invalid_value", "stream"),
        (json!({ "max_tokens": 0 }), "invalid_value", "max_tokens"),
        (json!({ "max_tokens": -1 }), "invalid_value", "max_tokens"),
        (json!({ "response_format": { "type": "xml" } }), "invalid_value", "response_format"),
        (json!({ "response_format": { "type": "json_schema" } }), "invalid_value", "response_format"),
        (json!({ "spelunk": 7 }), "invalid_value", "spelunk"),
        (json!({ "spelunk": { "question": "x" } }), "invalid_value", "spelunk"),
        (json!({ "spelunk": { "progress": "loud" } }), "invalid_value", "spelunk.progress"),
    ];
    for (more, code, param) in cases {
        let mut body = json!({ "model": "spelunk", "messages": said(&json!(QUESTION)) });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let answer = server.post("/v1/chat/completions", &body);
        let status = if code == "model_not_found" { 404 } else { 400 };
        assert_eq!(refusal(&answer), (status, code.to_owned(), param.to_owned()), "{more}");
    }
    assert_eq!((n_calls(&model), scene.runs().len()), (0, 0));
}

#[test]
fn what_is_not_json_is_refused_in_the_shape_of_the_api() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = Server::start(&scene, &["--set", "server.upload_bytes_max=2000"], Some(&model));
    let json_kind = [("Content-Type", "application/json")];
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
        for (body, kind, status) in [
            ("", &json_kind[..], 400),
            ("{", &json_kind[..], 400),
            ("[]", &json_kind[..], 400),
            ("\"text\"", &json_kind[..], 400),
            ("{}", &[][..], 415),
            (&"[".repeat(500), &json_kind[..], 400),
            (&format!("{{\"model\":\"{}\"}}", "x".repeat(3_000)), &json_kind[..], 413),
        ] {
            let answer = server.send("POST", path, kind, body.as_bytes());
            assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
            assert_eq!(answer.header("content-type"), Some("application/json"));
            let error = &answer.json()["error"];
            assert!(error["message"].is_string() && error["type"].is_string(), "{}", answer.body);
        }
    }
}

#[test]
fn a_token_may_stand_in_either_header_and_a_wrong_one_is_refused_in_the_shape_of_the_api() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let made = |name: &str, scopes: &str| {
        let args = ["serve", "--token-file", "tokens", "--new-token", name, "--scopes", scopes];
        scene.spelunk(args).run().stdout.trim().to_owned()
    };
    let (token, reader) = (made("me", "run"), made("reader", "read"));
    let server = Server::start(&scene, &["--token-file", "tokens"], Some(&model));
    let body = json!({ "model": "spelunk", "max_tokens": 9, "messages": said(&json!(QUESTION)) }).to_string();
    let send = |path: &str, name: &str, value: &str| {
        let headers = [("Content-Type", "application/json"), (name, value)];
        server.send("POST", path, &headers, body.as_bytes())
    };
    assert_eq!(send("/v1/messages", "x-api-key", &token).status, 200);
    assert_eq!(send("/v1/chat/completions", "Authorization", &format!("Bearer {token}")).status, 200);
    let refused = send("/v1/messages", "x-api-key", "nope");
    assert_eq!((refused.status, &refused.json()["error"]["type"]), (401, &json!("authentication_error")));
    assert_eq!(refused.json()["type"], "error");
    let refused = send("/v1/chat/completions", "Authorization", "Bearer nope");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (401, &json!("invalid_api_key")));
    let refused = send("/v1/messages", "x-api-key", &reader);
    assert_eq!((refused.status, &refused.json()["error"]["type"]), (403, &json!("permission_error")));
}

#[test]
fn other_apis_refuse_what_they_cannot_do_either() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let messages = |more: &Value| {
        let mut body = json!({ "model": "spelunk", "max_tokens": 10, "messages": said(&json!(QUESTION)) });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        server.post("/v1/messages", &body)
    };
    let pdf = json!([{ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "AA" } }]);
    for more in [
        json!({ "tools": [{ "type": "web_search_20250305", "name": "web_search" }] }),
        json!({ "tools": [{ "name": "f" }], "tool_choice": { "type": "tool" } }),
        json!({ "max_tokens": null }),
        json!({ "messages": said(&pdf) }),
        json!({ "messages": said(&json!([{ "type": "tool_result", "content": "x" }])) }),
        json!({ "system": 7 }),
    ] {
        let answer = messages(&more);
        assert_eq!(answer.status, 400, "{more}: {}", answer.body);
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
    }
    for more in [
        json!({ "tools": [{ "type": "web_search" }] }),
        json!({ "previous_response_id": "resp_1" }),
        json!({ "background": true }),
        json!({ "input": null }),
        json!({ "input": [{ "type": "function_call_output", "output": "x" }] }),
        json!({ "text": { "format": { "type": "xml" } } }),
    ] {
        let mut body = json!({ "model": "spelunk", "input": QUESTION });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        assert_eq!(server.post("/v1/responses", &body).status, 400, "{more}");
    }
    assert_eq!(n_calls(&model), 0);
}

#[test]
fn a_message_of_megabytes_is_read_as_a_document() {
    let mut text = "nothing of interest stands here, line after line\n".repeat(60_000);
    text += "The wizard keeps his hat on the north tower.\n";
    text += &"nothing of interest stands here, line after line\n".repeat(60_000);
    let (scene, model) = (Scene::new(&[]), answering("On the north tower."));
    let server = serving(&scene, &model);
    let body = json!({
        "model": "spelunk-search",
        "messages": [{ "role": "user", "content": [
            { "type": "text", "text": text },
            { "type": "text", "text": "Where does the wizard keep his hat? ☃" },
        ] }],
    });
    let answer = server.post("/v1/chat/completions", &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let sent: Vec<String> = model.requests().into_iter().map(|request| request.body).collect();
    let sent = sent.iter().find(|body| body.contains("north tower")).expect("the passage was sent");
    assert!(sent.len() < 200_000 && sent.contains('☃'));
}

#[test]
fn secrets_of_a_conversation_do_not_reach_the_model() {
    let (scene, model) = (Scene::new(&[]), answering("Yes."));
    let server = serving(&scene, &model);
    let document = format!("{DOCUMENT}token = ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i\n");
    let body = json!({ "model": "spelunk-direct", "messages": [
        { "role": "user", "content": document }, { "role": "user", "content": QUESTION },
    ] });
    assert_eq!(server.post("/v1/chat/completions", &body).status, 200);
    let sent: Vec<String> = model.requests().into_iter().map(|request| request.body).collect();
    assert!(
        sent.iter().any(|body| body.contains("[secret:"))
            && !sent.iter().any(|body| body.contains("ghp_Zk3"))
    );
}
