//! The official Python SDKs of both APIs against a live server. If Python or its packages are unavailable, the test
//! prints SKIPPED and checks nothing.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use spelunk_testkit::{ModelServer, when};

use super::client::Server;
use super::compat::{REPLY, serving};
use crate::scene::{Scene, python, to_all};

const PACKAGES: [&str; 2] = ["openai==3.49.0", "anthropic==2.8.0"];
const HOSTS: [&str; 3] = ["litellm==1.106.2", "llm==0.32.1", "openai-agents==0.20.0"];

/// A model that asks for the weather in two cities, says it once it has been told, and knows the magic number.
fn scripted() -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("18 degrees")).reply("Oslo has 8 degrees, Rome has 18."),
        when(|prompt| prompt.contains("How warm"))
            .reply("")
            .tool_call("weather", "{\"city\":\"Oslo\"}")
            .tool_call("weather", "{\"city\":\"Rome\"}"),
        to_all().reply(REPLY).usage(100, 20),
    ])
}

fn run(python: &Path, script: &str, server: &Server) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http").join(script);
    let ran = Command::new(python).arg(script).arg(server.address.to_string()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

/// Programs that use a model and its tools through one of the APIs: a router, a command line and an agent.
#[test]
fn hosts_of_models_get_along() {
    let Some(python) = python("compat-hosts", &HOSTS, "litellm, llm, agents") else {
        println!("SKIPPED: there is no Python with the packages `litellm`, `llm` and `openai-agents`");
        return;
    };
    let (scene, model) = (Scene::new(&[]), scripted());
    let server = serving(&scene, &model);
    expect![[r#"
        {
         "litellm": "The magic number is 42.",
         "litellm_told": "Oslo has 8 degrees, Rome has 18.",
         "litellm_anthropic": [
          "{\"city\": \"Oslo\"}",
          "{\"city\": \"Rome\"}"
         ],
         "llm": "The magic number is 42.",
         "llm_told": "Oslo has 8 degrees, Rome has 18.",
         "agent": [
          "Oslo has 8 degrees, Rome has 18.",
          "Oslo has 8 degrees, Rome has 18.",
          2,
          [
           "agent_updated_stream_event",
           "raw_response_event",
           "run_item_stream_event"
          ]
         ],
         "agent_chat": [
          "Oslo has 8 degrees, Rome has 18.",
          "Oslo has 8 degrees, Rome has 18.",
          2,
          [
           "agent_updated_stream_event",
           "raw_response_event",
           "run_item_stream_event"
          ]
         ]
        }
    "#]]
    .assert_eq(&run(&python, "compat_hosts.py", &server));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one scripted session")]
fn the_official_clients_of_both_apis_get_along() {
    let Some(python) = python("compat-sdk", &PACKAGES, "openai, anthropic") else {
        println!("SKIPPED: there is no Python with the packages `openai` and `anthropic`");
        return;
    };
    let (scene, model) = (Scene::new(&[]), scripted());
    let server = serving(&scene, &model);
    expect![[r#"
        {
         "models": [
          "spelunk",
          "spelunk-direct",
          "spelunk-repl",
          "spelunk-search",
          "spelunk-map",
          "spelunk-hybrid",
          "spelunk-agent",
          "spelunk-embedding"
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
         "n": [
          "unsupported_parameter",
          "n",
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
         "chat_calls": [
          [
           "weather",
           "{\"city\":\"Oslo\"}"
          ],
          [
           "weather",
           "{\"city\":\"Rome\"}"
          ]
         ],
         "chat_told": "Oslo has 8 degrees, Rome has 18.",
         "response_calls": [
          [
           "weather",
           "{\"city\":\"Oslo\"}"
          ],
          [
           "weather",
           "{\"city\":\"Rome\"}"
          ]
         ],
         "response_told": "Oslo has 8 degrees, Rome has 18.",
         "embeddings": [
          2,
          "float"
         ],
         "message_calls": [
          "tool_use",
          [
           "weather",
           "Oslo"
          ],
          [
           "weather",
           "Rome"
          ]
         ],
         "message_told": "Oslo has 8 degrees, Rome has 18.",
         "counted": 9,
         "cited": [
          "char_location",
          0,
          "The magic number is 42.",
          true
         ],
         "message_models": 8,
         "message_error": "not_found_error"
        }
    "#]]
    .assert_eq(&run(&python, "compat_sdk.py", &server));
}
