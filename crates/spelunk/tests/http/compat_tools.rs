//! Clients with tools of their own: the model is given them, its calls come back in the shape of each API, and the
//! results come with the next request. Long texts of such a conversation are read here.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer, when};

use super::client::{Answer, Server};
use super::compat::{DOCUMENT, REPLY, serving, shown};
use crate::scene::{Scene, answering, n_calls, to_all, wait_at};

const ASKED: &str = "How warm is it in Oslo and in Rome?";

fn schema() -> Value {
    json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] })
}

/// A model that asks for the weather in two cities, and says it once it has been told.
fn weather_model() -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("18 degrees")).reply("Oslo has 8 degrees, Rome has 18.").usage(200, 9),
        to_all()
            .reply("Let me see.")
            .tool_call("weather", "{\"city\":\"Oslo\"}")
            .tool_call("weather", "{\"city\":\"Rome\"}")
            .usage(100, 20),
    ])
}

fn chat_tools() -> Value {
    json!([{ "type": "function", "function": { "name": "weather", "description": "Tells it.", "parameters": schema() } }])
}

fn sent_to(model: &ModelServer) -> Vec<Value> {
    model.requests().iter().filter_map(|request| serde_json::from_str(&request.body).ok()).collect()
}

#[test]
fn a_chat_calls_tools_of_the_client_and_goes_on_with_their_results() {
    let (scene, model) = (Scene::new(&[]), weather_model());
    let server = Server::start(&scene, &[], Some(&model));
    let mut body = json!({
        "model": "spelunk",
        "messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": ASKED }],
        "tools": chat_tools(),
    });
    let answer = server.post("/v1/chat/completions", &body);
    expect![[r#"{"choices":[{"finish_reason":"tool_calls","index":0,"logprobs":null,"message":{"content":"Let me see.","refusal":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"Oslo\"}","name":"weather"},"id":"call_0","type":"function"},{"function":{"arguments":"{\"city\":\"Rome\"}","name":"weather"},"id":"call_1","type":"function"}]}}],"created":0,"id":"chatcmpl-RUN","model":"spelunk","object":"chat.completion","spelunk":{"citations":[],"outcome":{"is":"answered"},"run":"RUN"},"system_fingerprint":"RUN","usage":{"completion_tokens":20,"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":120}}"#]].assert_eq(&shown(&scene, &answer.body));
    // The model got the conversation and the tools as they are, and nothing else.
    let sent = sent_to(&model);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["messages"], body["messages"]);
    assert_eq!(sent[0]["tools"], body["tools"]);
    assert_eq!(sent[0]["tool_choice"], Value::Null);
    // The calls can be seen in the run.
    let run = scene.only_run();
    let shown_run = scene.spelunk(["show", &run]).run();
    assert!(shown_run.stdout.contains("Calls weather with {\"city\":\"Oslo\"}"), "{}", shown_run.stdout);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(answer.json()["choices"][0]["message"].clone());
    messages.push(json!({ "role": "tool", "tool_call_id": "call_0", "content": "8 degrees" }));
    messages.push(json!({ "role": "tool", "tool_call_id": "call_1", "content": [{ "type": "text", "text": "18 degrees" }] }));
    let answer = server.post("/v1/chat/completions", &body).json();
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "Oslo has 8 degrees, Rome has 18.");
    assert_eq!(choice["finish_reason"], "stop");
    let said = sent_to(&model)[1]["messages"].clone();
    expect![[r#"[{"content":"Be brief.","role":"system"},{"content":"How warm is it in Oslo and in Rome?","role":"user"},{"content":"Let me see.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"Oslo\"}","name":"weather"},"id":"call_0","type":"function"},{"function":{"arguments":"{\"city\":\"Rome\"}","name":"weather"},"id":"call_1","type":"function"}]},{"content":"8 degrees","role":"tool","tool_call_id":"call_0"},{"content":"18 degrees","role":"tool","tool_call_id":"call_1"}]"#]].assert_eq(&said.to_string());
}

#[test]
fn the_other_apis_call_tools_in_their_own_shapes() {
    let (scene, model) = (Scene::new(&[]), weather_model());
    let server = Server::start(&scene, &[], Some(&model));
    let tool = json!({ "name": "weather", "description": "Tells it.", "input_schema": schema() });
    let mut body = json!({
        "model": "spelunk", "max_tokens": 1000, "tools": [tool],
        "messages": [{ "role": "user", "content": ASKED }],
    });
    let answer = server.post("/v1/messages", &body).json();
    expect![[r#"[{"text":"Let me see.","type":"text"},{"id":"call_0","input":{"city":"Oslo"},"name":"weather","type":"tool_use"},{"id":"call_1","input":{"city":"Rome"},"name":"weather","type":"tool_use"}]"#]].assert_eq(&answer["content"].to_string());
    assert_eq!(answer["stop_reason"], "tool_use");
    let results = json!([
        { "type": "tool_result", "tool_use_id": "call_0", "content": "no such city", "is_error": true },
        { "type": "tool_result", "tool_use_id": "call_1", "content": [{ "type": "text", "text": "18 degrees" }] },
        { "type": "text", "text": "Go on." },
    ]);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": answer["content"] }));
    messages.push(json!({ "role": "user", "content": results }));
    let answer = server.post("/v1/messages", &body).json();
    assert_eq!(answer["content"], json!([{ "type": "text", "text": "Oslo has 8 degrees, Rome has 18." }]));

    let (scene, model) = (Scene::new(&[]), weather_model());
    let server = Server::start(&scene, &[], Some(&model));
    let tool =
        json!({ "type": "function", "name": "weather", "description": "Tells it.", "parameters": schema() });
    let mut body =
        json!({ "model": "spelunk", "input": [{ "role": "user", "content": ASKED }], "tools": [tool] });
    let answer = server.post("/v1/responses", &body).json();
    expect![[r#"[{"content":[{"annotations":[],"logprobs":[],"text":"Let me see.","type":"output_text"}],"id":"msg_RUN","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_0","id":"fc_RUN_0","name":"weather","status":"completed","type":"function_call"},{"arguments":"{\"city\":\"Rome\"}","call_id":"call_1","id":"fc_RUN_1","name":"weather","status":"completed","type":"function_call"}]"#]].assert_eq(&scene.normalise(&answer["output"].to_string()));
    let input = body["input"].as_array_mut().unwrap();
    input.extend(answer["output"].as_array().unwrap().clone());
    input.push(json!({ "type": "reasoning", "summary": [] }));
    input.push(json!({ "type": "function_call_output", "call_id": "call_0", "output": "8 degrees" }));
    input.push(json!({ "type": "function_call_output", "call_id": "call_1", "output": "18 degrees" }));
    let answer = server.post("/v1/responses", &body).json();
    assert_eq!(answer["output"][0]["content"][0]["text"], "Oslo has 8 degrees, Rome has 18.");
}

#[test]
fn calls_are_streamed_in_the_shape_of_each_api() {
    let (scene, model) = (Scene::new(&[]), weather_model());
    let server = Server::start(&scene, &[], Some(&model));
    let one = json!([{ "role": "user", "content": ASKED }]);
    let chat = json!({ "model": "spelunk", "messages": one, "tools": chat_tools(), "stream": true });
    let answer = server.post("/v1/chat/completions", &chat);
    let choices = events(&answer).into_iter().map(|event| event["choices"][0].clone());
    let deltas: Vec<Value> =
        choices.map(|choice| json!([choice["delta"], choice["finish_reason"]])).collect();
    // The text comes in as many pieces as the machine is slow.
    let text: String = deltas.iter().filter_map(|delta| delta[0]["content"].as_str()).collect();
    assert_eq!(text, "Let me see.");
    let rest: Vec<&Value> = deltas.iter().filter(|delta| delta[0].get("content").is_none()).collect();
    expect![[r#"[[{"tool_calls":[{"function":{"arguments":"{\"city\":\"Oslo\"}","name":"weather"},"id":"call_0","index":0,"type":"function"}]},null],[{"tool_calls":[{"function":{"arguments":"{\"city\":\"Rome\"}","name":"weather"},"id":"call_1","index":1,"type":"function"}]},null],[{},"tool_calls"]]"#]].assert_eq(&json!(rest).to_string());
    let tool = json!({ "name": "weather", "input_schema": schema() });
    let body =
        json!({ "model": "spelunk", "max_tokens": 1000, "messages": one, "tools": [tool], "stream": true });
    let answer = server.post("/v1/messages", &body);
    let told: Vec<String> = events(&answer)
        .iter()
        .filter(|event| event["type"] != "ping" && event["delta"]["type"] != "text_delta")
        .map(|event| format!("{} {} {}\n", event["type"], event["content_block"], event["delta"]))
        .collect();
    expect![[r#"
        "message_start" null null
        "content_block_start" {"text":"","type":"text"} null
        "content_block_stop" null null
        "content_block_start" {"id":"call_0","input":{},"name":"weather","type":"tool_use"} null
        "content_block_delta" null {"partial_json":"{\"city\":\"Oslo\"}","type":"input_json_delta"}
        "content_block_stop" null null
        "content_block_start" {"id":"call_1","input":{},"name":"weather","type":"tool_use"} null
        "content_block_delta" null {"partial_json":"{\"city\":\"Rome\"}","type":"input_json_delta"}
        "content_block_stop" null null
        "message_delta" null {"stop_reason":"tool_use","stop_sequence":null}
        "message_stop" null null
    "#]]
    .assert_eq(&told.concat());
    let tool = json!({ "type": "function", "name": "weather", "parameters": schema() });
    let body = json!({ "model": "spelunk", "input": ASKED, "tools": [tool], "stream": true });
    let answer = server.post("/v1/responses", &body);
    let told: Vec<String> = events(&answer)
        .iter()
        .filter(|event| event["type"] != "response.output_text.delta")
        .map(|event| format!("{} {} {}\n", event["type"], event["output_index"], event["arguments"]))
        .collect();
    expect![[r#"
        "response.created" null null
        "response.in_progress" null null
        "response.output_item.added" 0 null
        "response.content_part.added" 0 null
        "response.output_text.done" 0 null
        "response.content_part.done" 0 null
        "response.output_item.done" 0 null
        "response.output_item.added" 1 null
        "response.function_call_arguments.delta" 1 null
        "response.function_call_arguments.done" 1 "{\"city\":\"Oslo\"}"
        "response.output_item.done" 1 null
        "response.output_item.added" 2 null
        "response.function_call_arguments.delta" 2 null
        "response.function_call_arguments.done" 2 "{\"city\":\"Rome\"}"
        "response.output_item.done" 2 null
        "response.completed" null null
    "#]]
    .assert_eq(&told.concat());
    let numbers: Vec<u64> =
        events(&answer).iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
}

/// The JSON of each event of a stream.
fn events(answer: &Answer) -> Vec<Value> {
    let lines = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

#[test]
fn the_client_chooses_which_tools_are_called() {
    let (scene, model) = (Scene::new(&[]), weather_model());
    let server = Server::start(&scene, &[], Some(&model));
    let mut tools = chat_tools();
    let other = json!({ "type": "function", "function": { "name": "clock" } });
    tools.as_array_mut().unwrap().push(other);
    let ask = |more: &Value| {
        let mut body =
            json!({ "model": "spelunk", "messages": [{ "role": "user", "content": ASKED }], "tools": tools });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let answer = server.post("/v1/chat/completions", &body).json();
        let n_calls = answer["choices"][0]["message"]["tool_calls"].as_array().map_or(0, Vec::len);
        (n_calls, sent_to(&model).pop().unwrap())
    };
    let sent_names = |sent: &Value| {
        let tools = sent["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (n_calls, sent) = ask(&json!({ "tool_choice": "required" }));
    assert_eq!((n_calls, &sent["tool_choice"], sent_names(&sent).len()), (2, &json!("required"), 2));
    let named = json!({ "type": "function", "function": { "name": "weather" } });
    let (n_calls, sent) = ask(&json!({ "tool_choice": named }));
    assert_eq!(
        (n_calls, &sent["tool_choice"], sent_names(&sent)),
        (2, &json!("required"), vec!["weather".to_owned()])
    );
    assert_eq!(ask(&json!({ "parallel_tool_calls": false })).0, 1);
    // Without tools the question is answered from the conversation, as ever.
    let (n_calls, sent) = ask(&json!({ "tool_choice": "none" }));
    assert_eq!((n_calls, sent_names(&sent).len()), (0, 0));
    for choice in [json!("never"), json!({ "type": "function", "function": { "name": "nothing" } }), json!(7)]
    {
        let body = json!({ "model": "spelunk", "messages": [{ "role": "user", "content": ASKED }], "tools": tools, "tool_choice": choice });
        let answer = server.post("/v1/chat/completions", &body);
        assert_eq!((answer.status, &answer.json()["error"]["param"]), (400, &json!("tool_choice")));
    }
}

/// A file that a tool returned is longer than any window: it is a document, and the model asks for what it needs of it.
#[test]
fn a_long_result_is_a_document_that_the_model_can_have_read() {
    let long = format!(
        "{}The vault opens at noon.\n{}",
        "filler line\n".repeat(2_000),
        "filler line\n".repeat(2_000)
    );
    let model = ModelServer::start_blocking([
        when(|prompt| prompt.contains("You answer a question from documents"))
            .reply("At noon.\n\n```evidence\nmessage-3-1.md:2001: The vault opens at noon.\n```"),
        when(|prompt| prompt.contains("At noon.")).reply("It opens at noon."),
        to_all().reply("").tool_call("spelunk_read", "{\"question\":\"When does the vault open?\"}"),
    ]);
    let scene = Scene::new(&[]);
    let server = Server::start(&scene, &[], Some(&model));
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{}" } });
    let body = json!({
        "model": "spelunk-direct",
        "messages": [
            { "role": "user", "content": "When does the vault open?" },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": long },
        ],
        "tools": chat_tools(),
    });
    let answer = server.post("/v1/chat/completions", &body);
    let message = answer.json()["choices"][0]["message"].clone();
    assert_eq!(
        (&message["content"], message.get("tool_calls")),
        (&json!("It opens at noon."), None),
        "{}",
        answer.body
    );
    let cited = json!([{ "document": "message-3-1.md", "line": 2001, "quote": "The vault opens at noon." }]);
    assert_eq!(answer.json()["spelunk"]["citations"], cited);
    let first = sent_to(&model)[0].clone();
    let told = first["messages"].to_string();
    assert!(told.contains("[document `message-3-1.md`, 48025 characters; it begins:]"), "{told}");
    assert!(told.len() < 6_000, "{}", told.len());
    let names: Vec<&str> = first["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(names, ["weather", "spelunk_read"]);
}

#[test]
fn a_conversation_that_does_not_fit_is_shortened_and_can_be_read() {
    let (scene, model) = (Scene::new(&[]), answering("Done."));
    let server = Server::start(&scene, &["--set", "limits.transcript_tokens_max=2000"], Some(&model));
    let mut messages = vec![json!({ "role": "user", "content": "Look at all files." })];
    for idx in 0..30 {
        let call = json!({ "id": format!("c{idx}"), "type": "function", "function": { "name": "weather", "arguments": "{}" } });
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        let result = format!("result {idx}: {}", "word ".repeat(100));
        messages.push(json!({ "role": "tool", "tool_call_id": format!("c{idx}"), "content": result }));
    }
    let body = json!({ "model": "spelunk", "messages": messages, "tools": chat_tools() });
    let answer = server.post("/v1/chat/completions", &body);
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "Done.", "{}", answer.body);
    let sent = sent_to(&model)[0].clone();
    let said = sent["messages"].as_array().unwrap();
    let roles: Vec<&str> = said.iter().filter_map(|message| message["role"].as_str()).take(4).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    let told = said[1]["content"].as_str().unwrap();
    assert!(told.contains("`conversation.md`") && told.ends_with("Look at all files."), "{told}");
    let whole = sent.to_string();
    assert!(
        whole.contains("result 29:") && !whole.contains("result 3:") && whole.contains("spelunk_read"),
        "{whole}"
    );
}

#[test]
fn secrets_in_a_conversation_with_tools_do_not_reach_the_model() {
    let (scene, model) = (Scene::new(&[]), answering("Done."));
    let server = Server::start(&scene, &[], Some(&model));
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{}" } });
    let result = "token = ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i";
    let body = json!({
        "model": "spelunk", "tools": chat_tools(),
        "messages": [
            { "role": "user", "content": ASKED },
            { "role": "assistant", "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": result },
        ],
    });
    assert_eq!(server.post("/v1/chat/completions", &body).status, 200);
    let sent = sent_to(&model)[0].to_string();
    assert!(sent.contains("[secret:") && !sent.contains("ghp_Zk3"), "{sent}");
}

#[test]
fn tools_that_make_no_sense_are_refused_by_name() {
    let (scene, model) = (Scene::new(&[]), weather_model());
    let server = Server::start(&scene, &[], Some(&model));
    let function = |name: &str| json!({ "type": "function", "function": { "name": name } });
    for (tools, param) in [
        (json!(7), "tools"),
        (json!([7]), "tools[0].type"),
        (json!([{ "type": "web_search" }]), "tools[0].type"),
        (json!([function("")]), "tools[0]"),
        (json!([function("a b")]), "tools[0]"),
        (json!([function("f"), function("f")]), "tools[1]"),
        (json!([function("spelunk_read")]), "tools[0]"),
        (json!([{ "type": "function", "function": { "name": "f", "parameters": 7 } }]), "tools[0]"),
    ] {
        let body =
            json!({ "model": "spelunk", "messages": [{ "role": "user", "content": ASKED }], "tools": tools });
        let answer = server.post("/v1/chat/completions", &body);
        assert_eq!(
            (answer.status, answer.json()["error"]["param"].as_str()),
            (400, Some(param)),
            "{}",
            answer.body
        );
    }
    let result = json!({ "role": "tool", "tool_call_id": "c9", "content": "x" });
    let body = json!({ "model": "spelunk", "messages": [{ "role": "user", "content": ASKED }, result], "tools": chat_tools() });
    let answer = server.post("/v1/chat/completions", &body);
    assert_eq!((answer.status, &answer.json()["error"]["param"]), (400, &json!("messages[1]")));
    let run = json!({ "question": ASKED, "text": DOCUMENT, "turn": {} });
    let answer = server.post("/v1/runs", &run);
    assert_eq!((answer.status, &answer.json()["code"]), (422, &json!("usage-wrong")), "{}", answer.body);
    assert_eq!(n_calls(&model), 0);
}

#[test]
fn an_answer_in_one_call_is_streamed_as_it_is_written() {
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).chunks(8).gate(&gate)]);
    let scene = Scene::new(&[]);
    let server = serving(&scene, &model);
    let messages = json!([{ "role": "user", "content": DOCUMENT }, { "role": "user", "content": "What is the magic number?" }]);
    let body = json!({ "model": "spelunk-direct", "messages": messages, "stream": true });
    let mut stream = server.connect();
    super::client::write_post(&mut stream, "/v1/chat/completions", &body);
    wait_at(&gate, &model);
    // The model has not finished, and its first words are here.
    let begun = super::client::read_until(&mut stream, "\"content\":\"The magi");
    assert!(!begun.contains("evidence"), "{begun}");
    gate.open();
    let rest = super::client::read_until(&mut stream, "[DONE]");
    let whole = begun + &rest;
    let pieces = whole.lines().filter_map(|line| line.strip_prefix("data: "));
    let pieces = pieces.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let text: String = pieces
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, "The magic number is 42.\n  message-1.md:3  The magic number is 42.");
}

#[test]
fn every_strategy_gives_an_answer_that_fits_a_schema() {
    let schema = json!({
        "type": "object", "required": ["number"], "additionalProperties": false,
        "properties": { "number": { "type": "integer" } },
    });
    for strategy in ["direct", "search", "map", "hybrid"] {
        let model = ModelServer::start_blocking([
            when(|prompt| prompt.contains("This does not match the schema")).reply("{\"number\": 42}"),
            when(|prompt| prompt.contains("You write an answer as JSON")).reply("{\"number\": \"many\"}"),
            to_all().reply(REPLY),
        ]);
        let scene = Scene::new(&[]);
        let server = serving(&scene, &model);
        let form = json!({ "type": "json_schema", "json_schema": { "name": "number", "schema": schema } });
        let body = json!({
            "model": format!("spelunk-{strategy}"), "response_format": form,
            "messages": [{ "role": "user", "content": DOCUMENT }, { "role": "user", "content": "What is the magic number?" }],
        });
        let answer = server.post("/v1/chat/completions", &body);
        let content = answer.json()["choices"][0]["message"]["content"].as_str().map(str::to_owned);
        let content: Value =
            serde_json::from_str(&content.unwrap_or_else(|| panic!("{}", answer.body))).unwrap();
        assert_eq!(content, json!({ "number": 42 }), "{strategy}");
    }
}

#[test]
fn a_typed_answer_that_never_fits_is_an_error() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let form = json!({ "type": "json_object" });
    let body = json!({
        "model": "spelunk-direct", "response_format": form,
        "messages": [{ "role": "user", "content": DOCUMENT }, { "role": "user", "content": "What is the magic number?" }],
    });
    let answer = server.post("/v1/chat/completions", &body);
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (502, &json!("answer-invalid")),
        "{}",
        answer.body
    );
}

#[test]
fn citations_are_given_in_anthropics_form_where_they_are_asked_for() {
    let document = "Zahlen – numbers\n\nThe magic number is 42.\n";
    let reply = "It is 42.\n\n```evidence\nNumbers:3: magic number is 42\n```";
    let (scene, model) = (Scene::new(&[]), answering(reply));
    let server = serving(&scene, &model);
    let block = |title: &str, text: &str| {
        let source = json!({ "type": "text", "media_type": "text/plain", "data": text });
        json!({ "type": "document", "source": source, "title": title, "citations": { "enabled": true } })
    };
    let mut body = json!({
        "model": "spelunk-direct", "max_tokens": 1000,
        "messages": [{ "role": "user", "content": [
            block("Other", "Nothing."), block("Numbers", document), { "type": "text", "text": "What is the magic number?" },
        ] }],
    });
    let answer = server.post("/v1/messages", &body).json();
    expect![[r#"[{"citations":[{"cited_text":"magic number is 42","document_index":1,"document_title":"Numbers","end_char_index":40,"file_id":null,"start_char_index":22,"type":"char_location"}],"text":"It is 42.","type":"text"}]"#]].assert_eq(&answer["content"].to_string());
    let cited: String = document.chars().skip(22).take(18).collect();
    assert_eq!(cited, "magic number is 42");
    body["stream"] = json!(true);
    let answer = server.post("/v1/messages", &body);
    let deltas: Vec<Value> =
        events(&answer).into_iter().filter(|event| event["delta"]["type"] == "citations_delta").collect();
    assert_eq!(deltas.len(), 1, "{}", answer.body);
    assert_eq!(deltas[0]["delta"]["citation"]["start_char_index"], 22);
}

#[test]
fn tokens_are_counted_without_a_run() {
    let (scene, model) = (Scene::new(&[]), answering(REPLY));
    let server = serving(&scene, &model);
    let body = json!({ "model": "spelunk", "system": "Be brief", "messages": [{ "role": "user", "content": "12345678" }] });
    let answer = server.post("/v1/messages/count_tokens", &body);
    assert_eq!((answer.status, answer.json()), (200, json!({ "input_tokens": 4 })));
    let mut with_tools = body.clone();
    with_tools["tools"] = json!([{ "name": "weather", "input_schema": schema() }]);
    assert!(
        server.post("/v1/messages/count_tokens", &with_tools).json()["input_tokens"].as_u64().unwrap() > 20
    );
    let answer = server.post("/v1/messages/count_tokens", &json!({ "model": "spelunk" }));
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    assert_eq!((n_calls(&model), scene.runs().len()), (0, 0));
}

#[test]
fn texts_are_embedded_with_the_model_of_the_index() {
    let scene = Scene::new(&[]);
    let server = Server::start(&scene, &[], None);
    let embed = |more: &Value| {
        let mut body = json!({ "model": "spelunk-embedding", "input": ["the payment deadline", "when the invoice is due", "a recipe for soup"] });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        server.post("/v1/embeddings", &body)
    };
    let answer = embed(&json!({})).json();
    let vectors: Vec<Vec<f64>> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["embedding"].as_array().unwrap().iter().filter_map(Value::as_f64).collect())
        .collect();
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    assert!(close(&vectors[0], &vectors[1]) > close(&vectors[0], &vectors[2]) + 0.1);
    assert_eq!(answer["usage"], json!({ "prompt_tokens": 16, "total_tokens": 16 }));
    let packed = embed(&json!({ "encoding_format": "base64" })).json();
    assert_eq!(
        packed["data"][0]["embedding"].as_str().unwrap().len(),
        (vectors[0].len() * 4).div_ceil(3) * 4
    );
    for (more, param) in [
        (json!({ "model": "text-embedding-3" }), "model"),
        (json!({ "input": [] }), "input"),
        (json!({ "input": [[1, 2]] }), "input[0]"),
        (json!({ "input": "" }), "input[0]"),
        (json!({ "encoding_format": "int8" }), "encoding_format"),
        (json!({ "dimensions": 7 }), "dimensions"),
    ] {
        let answer = embed(&more);
        assert!(matches!(answer.status, 400 | 404), "{}", answer.body);
        assert_eq!(answer.json()["error"]["param"], param, "{more}");
    }
}
