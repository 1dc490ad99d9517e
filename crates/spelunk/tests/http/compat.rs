//! The compatible endpoints, byte by byte: what a client of each API sends and reads.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer};

use super::client::{Server, read_until, write_post};
use crate::scene::{QUESTION, Scene, answering, n_calls, to_all, wait_at, wait_for};

pub(super) const DOCUMENT: &str = "# Numbers\n\nThe magic number is 42.\n";
pub(super) const REPLY: &str =
    "The magic number is 42.\n\n```evidence\nmessage-1.md:3: The magic number is 42.\n```";

/// A server that treats messages of more than 20 characters as long.
pub(super) fn serving(scene: &Scene, model: &ModelServer) -> Server {
    Server::start(scene, &["--set", "server.long_message_chars=30"], Some(model))
}

/// With fixed names for runs and times, and without the progress output of a slow machine.
pub(super) fn shown(scene: &Scene, text: &str) -> String {
    let (mut blocks, mut is_waiting) = (Vec::new(), false);
    for block in text.split_inclusive("\n\n") {
        let is_status = block.starts_with(": ") && !block.starts_with(": run ");
        let is_ping = is_waiting && block.starts_with("event: ping");
        if !is_status && !is_ping {
            blocks.push(block);
        }
        is_waiting = is_status;
    }
    let mut shown = scene.normalise(&blocks.concat());
    for name in ["\"created\":", "\"created_at\":"] {
        let mut parts = shown.split(name).map(str::to_owned);
        let mut fixed = parts.next().unwrap_or_default();
        for part in parts {
            fixed += &format!("{name}0{}", part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        shown = fixed;
    }
    shown
}

fn chat(more: &Value) -> Value {
    let mut body = json!({
        "model": "spelunk",
        "messages": [{ "role": "user", "content": DOCUMENT }, { "role": "user", "content": QUESTION }],
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[test]
fn a_chat_is_completed_from_its_long_messages() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let answer = server.post("/v1/chat/completions", &chat(&json!({ "temperature": 0.2, "whatever": [1] })));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let run = scene.only_run();
    assert_eq!(answer.header("x-spelunk-run"), Some(run.as_str()));
    assert_eq!(answer.header("x-request-id"), Some(run.as_str()));
    expect![[r#"{"choices":[{"finish_reason":"stop","index":0,"logprobs":null,"message":{"content":"The magic number is 42.\n  message-1.md:3  The magic number is 42.","refusal":null,"role":"assistant"}}],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion","spelunk":{"citations":[{"document":"message-1.md","line":3,"quote":"The magic number is 42."}],"outcome":{"is":"answered"},"run":"RUN"},"system_fingerprint":"RUN","usage":{"completion_tokens":20,"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":120}}"#]].assert_eq(&shown(&scene, &answer.body));
    // The long text became a document, and the question is what was asked.
    let journal = scene.journal(&run);
    assert_eq!(journal[0]["question"]["text"], QUESTION);
    let sent: Vec<String> = model.requests().into_iter().map(|request| request.body).collect();
    assert!(
        sent.iter().any(|body| body.contains("message-1.md") && body.contains("The magic number is 42."))
    );
}

#[test]
fn a_stream_begins_at_once_and_ends_with_done() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let more = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let answer = server.post("/v1/chat/completions", &chat(&more));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    expect![[r#"
        : run RUN

        data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion.chunk","system_fingerprint":"RUN"}

        data: {"choices":[{"delta":{"content":"The magic number is 42."},"finish_reason":null,"index":0,"logprobs":null}],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion.chunk","system_fingerprint":"RUN"}

        data: {"choices":[{"delta":{"content":"\n  message-1.md:3  The magic number is 42."},"finish_reason":null,"index":0,"logprobs":null}],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion.chunk","system_fingerprint":"RUN"}

        data: {"choices":[{"delta":{},"finish_reason":"stop","index":0,"logprobs":null}],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion.chunk","system_fingerprint":"RUN"}

        data: {"choices":[],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion.chunk","system_fingerprint":"RUN","usage":{"completion_tokens":20,"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":120}}

        data: [DONE]

    "#]].assert_eq(&shown(&scene, &answer.body));
}

#[test]
fn a_client_that_waits_hears_that_the_run_goes_on() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let scene = Scene::new(&[]);
    let server = serving(&scene, &model);
    let mut stream = server.connect();
    let more = json!({ "stream": true, "spelunk": { "progress": "reasoning" } });
    write_post(&mut stream, "/v1/chat/completions", &chat(&more));
    let text = read_until(&mut stream, "reasoning_content");
    assert!(text.contains("\"delta\":{\"content\":\"\",\"role\":\"assistant\"}"), "{text}");
    wait_at(&gate, &model);
    // The client disconnects: the run is cancelled and can be resumed.
    drop(stream);
    let run = scene.only_run();
    let state = || server.get("/v1/runs").json()["runs"][0]["state"].as_str().map(str::to_owned);
    wait_for("the end of the run", || state().filter(|state| state == "cancelled"));
    gate.open();
    assert_eq!(server.post(&format!("/v1/runs/{run}/resume"), &json!({})).status, 202);
    server.finish(&run);
    assert_eq!(state().as_deref(), Some("answered"));
}

#[test]
fn a_client_that_does_not_stream_and_goes_away_cancels_its_run_too() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&[]);
    let server = serving(&scene, &model);
    let mut stream = server.connect();
    write_post(&mut stream, "/v1/chat/completions", &chat(&json!({})));
    wait_at(&gate, &model);
    drop(stream);
    wait_for("the end of the run", || {
        let runs = server.get("/v1/runs").json();
        (runs["runs"][0]["state"] == "cancelled").then_some(())
    });
    gate.open();
}

#[test]
fn an_answer_fits_the_schema_that_was_asked_for() {
    let cell = "```repl\nFINAL({\"number\": 42})\n```";
    let (scene, model) = (Scene::new(&[]), answering(cell));
    let server = serving(&scene, &model);
    let schema = json!({
        "type": "object", "required": ["number"], "additionalProperties": false,
        "properties": { "number": { "type": "integer" } },
    });
    let form = json!({ "type": "json_schema", "json_schema": { "name": "number", "strict": true, "schema": schema } });
    let answer = server.post("/v1/chat/completions", &chat(&json!({ "response_format": form })));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let content = answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&content).unwrap(), json!({ "number": 42 }));
}

#[test]
fn an_answer_is_no_longer_than_asked_for() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let answer = server.post("/v1/chat/completions", &chat(&json!({ "max_tokens": 2 }))).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "The magi");
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
}

#[test]
fn contexts_and_paths_of_the_server_can_be_asked_about() {
    let reply = "The magic number is 42.\n\n```evidence\nnumbers:3: The magic number is 42.\n```";
    let (scene, model) = (Scene::new(&[("notes/a.md", DOCUMENT)]), answering(reply));
    let server = serving(&scene, &model);
    let new = json!({ "id": "numbers", "source_path": "notes/a.md" });
    assert_eq!(server.post("/api/context/register", &new).status, 201);
    let body = json!({
        "model": "spelunk-direct",
        "messages": [{ "role": "user", "content": QUESTION }],
        "spelunk": { "contexts": ["numbers"], "limits": { "calls_max": 5 } },
    });
    let answer = server.post("/v1/chat/completions", &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(
        answer.json()["spelunk"]["citations"],
        json!([{ "document": "numbers", "line": 3, "quote": "The magic number is 42." }])
    );
    let elsewhere = json!({
        "model": "spelunk", "messages": [{ "role": "user", "content": QUESTION }], "spelunk": { "paths": ["/etc"] },
    });
    assert_eq!(server.post("/v1/chat/completions", &elsewhere).status, 400);
}

#[test]
fn a_run_without_an_answer_is_an_error_that_is_not_tried_again() {
    let model = ModelServer::start_blocking([to_all().always(spelunk_testkit::status(401))]);
    let scene = Scene::new(&[]);
    let server = serving(&scene, &model);
    let answer = server.post("/v1/chat/completions", &chat(&json!({})));
    assert_eq!(answer.header("x-should-retry"), Some("false"), "{}", answer.body);
    expect![[r#"502 {"error":{"code":"model-unauthorized","message":"run SHORT: call `0#0` failed: the provider at `http://127.0.0.1:PORT/v1` rejected the key: scripted status 401 (check the key in the environment, then run `spelunk doctor`)","param":null,"type":"server_error"}}"#]].assert_eq(&format!("{} {}", answer.status, shown(&scene, &answer.body)));
    let n_before = n_calls(&model);
    let answer = server.post("/v1/chat/completions", &chat(&json!({ "stream": true })));
    assert!(n_calls(&model) > n_before);
    let last = answer.body.trim_end().rsplit("\n\n").next().unwrap_or_default().to_owned();
    assert!(answer.status == 200 && last.starts_with("data: {\"error\":{"), "{}", answer.body);
    let message = json!({ "model": "spelunk", "max_tokens": 100, "stream": true, "messages": chat(&json!({}))["messages"] });
    let answer = server.post("/v1/messages", &message);
    assert!(answer.body.contains("event: error\ndata: {\"error\":{"), "{}", answer.body);
}

#[test]
fn messages_are_answered_in_the_shape_of_their_api() {
    let reply = REPLY.replace("message-1.md", "Numbers.txt");
    let (scene, model) = (Scene::new(&[]), answering(&reply));
    let server = serving(&scene, &model);
    let source = json!({ "type": "text", "media_type": "text/plain", "data": DOCUMENT });
    let mut body = json!({
        "model": "spelunk-direct",
        "max_tokens": 1000,
        "system": [{ "type": "text", "text": "Be brief." }],
        "messages": [{ "role": "user", "content": [
            { "type": "document", "source": source, "title": "Numbers.txt", "citations": { "enabled": true } },
            { "type": "text", "text": QUESTION },
        ] }],
    });
    let answer = server.post("/v1/messages", &body);
    assert_eq!(answer.header("request-id"), Some(scene.only_run().as_str()), "{}", answer.body);
    expect![[r#"{"content":[{"citations":[{"cited_text":"The magic number is 42.","document_index":0,"document_title":"Numbers.txt","end_char_index":34,"file_id":null,"start_char_index":11,"type":"char_location"}],"text":"The magic number is 42.","type":"text"}],"id":"msg_RUN","model":"spelunk-direct","role":"assistant","spelunk":{"citations":[{"document":"Numbers.txt","line":3,"quote":"The magic number is 42."}],"outcome":{"is":"answered"},"run":"RUN"},"stop_reason":"end_turn","stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":100,"output_tokens":20}}"#]].assert_eq(&shown(&scene, &answer.body));
    assert_eq!(scene.journal(&scene.only_run())[0]["question"]["text"], format!("Be brief.\n\n{QUESTION}"));
    body["stream"] = json!(true);
    let scene = Scene::new(&[]);
    let answer = serving(&scene, &model).post("/v1/messages", &body);
    expect![[r#"
        : run RUN

        event: message_start
        data: {"message":{"content":[],"id":"msg_RUN","model":"spelunk-direct","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"input_tokens":0,"output_tokens":0}},"type":"message_start"}

        event: ping
        data: {"type":"ping"}

        event: content_block_start
        data: {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}

        event: content_block_delta
        data: {"delta":{"text":"The magic number is 42.","type":"text_delta"},"index":0,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"citation":{"cited_text":"The magic number is 42.","document_index":0,"document_title":"Numbers.txt","end_char_index":34,"file_id":null,"start_char_index":11,"type":"char_location"},"type":"citations_delta"},"index":0,"type":"content_block_delta"}

        event: content_block_stop
        data: {"index":0,"type":"content_block_stop"}

        event: message_delta
        data: {"delta":{"stop_reason":"end_turn","stop_sequence":null},"type":"message_delta","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":100,"output_tokens":20}}

        event: message_stop
        data: {"type":"message_stop"}

    "#]].assert_eq(&shown(&scene, &answer.body));
}

#[test]
fn responses_are_answered_in_the_shape_of_their_api() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let mut body = json!({
        "model": "spelunk",
        "input": [
            { "role": "user", "content": [{ "type": "input_text", "text": DOCUMENT }] },
            { "type": "message", "role": "user", "content": QUESTION },
        ],
    });
    let answer = server.post("/v1/responses", &body);
    expect![[r#"{"created_at":0,"error":null,"id":"resp_RUN","incomplete_details":null,"instructions":null,"max_output_tokens":null,"metadata":{},"model":"spelunk","object":"response","output":[{"content":[{"annotations":[],"logprobs":[],"text":"The magic number is 42.\n  message-1.md:3  The magic number is 42.","type":"output_text"}],"id":"msg_RUN","role":"assistant","status":"completed","type":"message"}],"parallel_tool_calls":true,"previous_response_id":null,"spelunk":{"citations":[{"document":"message-1.md","line":3,"quote":"The magic number is 42."}],"outcome":{"is":"answered"},"run":"RUN"},"status":"completed","store":false,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":null,"truncation":"disabled","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":120}}"#]].assert_eq(&shown(&scene, &answer.body));
    body["stream"] = json!(true);
    let answer = server.post("/v1/responses", &body);
    let kinds: Vec<&str> = answer.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    expect![[r#"
        response.created
        response.in_progress
        response.output_item.added
        response.content_part.added
        response.output_text.delta
        response.output_text.done
        response.content_part.done
        response.output_item.done
        response.completed
    "#]]
    .assert_eq(&(kinds.join("\n") + "\n"));
    let numbers: Vec<u64> = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str::<Value>(data).unwrap()["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let plain = server.post(
        "/v1/responses",
        &json!({ "model": "spelunk", "input": QUESTION, "instructions": "Be brief." }),
    );
    assert_eq!(plain.status, 200, "{}", plain.body);
}

#[test]
fn there_is_a_model_for_each_strategy() {
    let scene = Scene::new(&[]);
    let server = Server::start(&scene, &[], None);
    let list = server.get("/v1/models").json();
    let ids: Vec<&str> =
        list["data"].as_array().unwrap().iter().filter_map(|model| model["id"].as_str()).collect();
    assert_eq!(
        ids,
        [
            "spelunk",
            "spelunk-direct",
            "spelunk-repl",
            "spelunk-search",
            "spelunk-map",
            "spelunk-hybrid",
            "spelunk-agent",
            "spelunk-embedding"
        ]
    );
    assert_eq!(server.get("/v1/models/spelunk-map").json()["id"], "spelunk-map");
    assert_eq!(server.get("/v1/models/gpt-5").json()["error"]["code"], "model_not_found");
    // Without a model, the server cannot answer.
    let answer = server.post("/v1/chat/completions", &chat(&json!({})));
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (503, &json!("model-not-configured")));
}

#[test]
fn the_page_shows_what_happens() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatible.md");
    let page = std::fs::read_to_string(page).unwrap();
    let reply = REPLY.replace("message-1.md", "a.md");
    let (scene, model) = (Scene::new(&[("notes/a.md", DOCUMENT)]), answering(&reply));
    let server = Server::start(&scene, &[], Some(&model));
    let example = page.split("/v1/chat/completions -H 'Content-Type: application/json' -d '").nth(1).unwrap();
    let (body, below) = example.split_once("'\n").unwrap();
    let answer = server.post("/v1/chat/completions", &serde_json::from_str(body).unwrap());
    assert_eq!(shown(&scene, &answer.body), below.lines().next().unwrap());
    let refused = server.post("/v1/chat/completions", &chat(&json!({ "n": 2 })));
    assert!(page.contains(&refused.body), "{}", refused.body);
    let new = json!({ "id": "money", "text": "The invoice is due on Friday.\n" });
    assert_eq!(server.post("/api/context/register", &new).status, 201);
    let example = page.split("$ curl -s 'http://127.0.0.1:7766").nth(1).unwrap();
    let (path, below) = example.split_once("'\n").unwrap();
    assert_eq!(server.get(path).body, below.lines().next().unwrap());
}

/// A client that asked for an answer must not receive the code that the model wanted to run.
#[test]
fn code_and_calls_of_the_model_are_no_answers_to_a_client() {
    let call = "{\"name\": \"Read\", \"arguments\": {\"path\": \"a.md\"}}";
    for reply in ["Let me look:\n\n```python\nprint(context)\n```", call] {
        let (scene, model) = (Scene::new(&[]), answering(reply));
        let server = serving(&scene, &model);
        let openai = server.post("/v1/chat/completions", &chat(&json!({})));
        let mut body = chat(&json!({ "max_tokens": 100 }));
        let anthropic = server.post("/v1/messages", &body);
        body["input"] = body["messages"].take();
        body.as_object_mut().unwrap().remove("messages");
        let responses = server.post("/v1/responses", &body);
        for answer in [openai, anthropic, responses] {
            assert_eq!(answer.status, 502, "{}", answer.body);
            assert!(answer.body.contains("even after a retry"), "{}", answer.body);
            assert!(!answer.body.contains("print(context)"), "{}", answer.body);
        }
    }
}
