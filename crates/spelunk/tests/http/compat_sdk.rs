//! The official Python SDKs of both APIs against a live server. If Python or its packages are unavailable, the test
//! prints SKIPPED and checks nothing.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use super::compat::{REPLY, serving};
use crate::scene::{Scene, answering, python};

const PACKAGES: [&str; 2] = ["openai>=2,<3", "anthropic<1"];

#[test]
fn the_official_clients_of_both_apis_get_along() {
    let Some(python) = python("compat-sdk", &PACKAGES, "openai, anthropic") else {
        println!("SKIPPED: there is no Python with the packages `openai` and `anthropic`");
        return;
    };
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/compat_sdk.py");
    let ran = Command::new(python).arg(script).arg(server.address.to_string()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stdout}{stderr}");
    expect![[r#"
        {
         "models": [
          "spelunk",
          "spelunk-direct",
          "spelunk-repl",
          "spelunk-search",
          "spelunk-map",
          "spelunk-hybrid",
          "spelunk-agent"
         ],
         "chat": [
          "The magic number is 42.",
          "stop"
         ],
         "usage": [
          100,
          20,
          120
         ],
         "run": true,
         "chat_stream": [
          "The magic number is 42.",
          0
         ],
         "tools": [
          "unsupported_parameter",
          "tools",
          "invalid_request_error"
         ],
         "no_model": "model_not_found",
         "response": [
          "completed",
          "The magic number is 42.",
          0
         ],
         "response_stream": [
          "response.created",
          "response.completed",
          "The magic number is 42."
         ],
         "message": [
          "The magic number is 42.",
          "end_turn",
          0
         ],
         "message_stream": [
          "The magic number is 42.",
          "end_turn",
          0
         ],
         "message_models": 7,
         "message_error": "not_found_error"
        }
    "#]]
    .assert_eq(&stdout);
}
