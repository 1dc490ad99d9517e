//! Good replies.

use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_model::{
    Effort, Feature, Image, Message, ModelDelta, ModelError, ModelOptions, Part, Price, Prompt, Reply, Tool,
    ToolCall, ToolResult, collect,
};
use spelunk_testkit::{Fault, ModelServer, Rule, on, status};
use spelunk_types::{BlobId, ModelRef, StopReason, Usage};

use crate::adapter::{Adapter, BEARER, KEY, ask, call, deltas, prompt, stream};

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn text(text: &str) -> ModelDelta {
    ModelDelta::Text(text.to_owned())
}

fn done(usage: Usage) -> ModelDelta {
    ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) }
}

pub(crate) async fn a_reply_arrives_in_pieces_and_ends_with_its_usage(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("Grüße!").chunks(2)]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    assert_eq!(seen, [text("Grü"), text("ße!"), done(usage(2, 2))]);
    assert_eq!(error, None);
    assert_eq!((server.times_received("0#0"), server.times_served("0#0")), (1, 1));
    assert_eq!(server.served_usage(), usage(2, 2));
}

pub(crate) async fn a_reply_without_text_is_no_reply(adapter: Adapter) {
    let server = ModelServer::start([
        on("0#0").reply(""),
        on("0#1").reply(" \n").stop(StopReason::Length).usage(2, 9),
        on("0#2").reply("").stop(StopReason::Filtered),
    ])
    .await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    assert_eq!((seen, error), (vec![done(usage(2, 0))], None));
    let empty = |stop, usage| Err(ModelError::ReplyEmpty { stop, usage: Some(usage) });
    assert_eq!(ask(&*model, "0#0").await, empty(StopReason::Finished, usage(2, 0)));
    assert_eq!(ask(&*model, "0#1").await, empty(StopReason::Length, usage(2, 9)));
    // A reply that a filter withheld is reported as such.
    let filtered = ask(&*model, "0#2").await.unwrap();
    assert_eq!((filtered.text.as_str(), filtered.stop), ("", StopReason::Filtered));
}

pub(crate) async fn reasoning_is_kept_apart_from_the_answer(adapter: Adapter) {
    let rule = on("0#0").reasoning("hm").reply("yes").chunks(1);
    let server = ModelServer::start([rule]).await;
    let model = adapter.open(&server.base_url());
    let (seen, _) = deltas(stream(&*model, "0#0")).await;
    assert_eq!(seen, [ModelDelta::Reasoning("hm".to_owned()), text("yes"), done(usage(2, 1))]);
    assert_eq!(ask(&*model, "0#0").await.unwrap().text, "yes");
}

pub(crate) async fn each_reason_to_stop_is_told(adapter: Adapter) {
    let server = ModelServer::start([
        on("0#0").reply("a").stop(StopReason::Finished),
        on("0#1").reply("a").stop(StopReason::Length),
        on("0#2").reply("a").stop(StopReason::Filtered),
        on("0#3").reply("a").stop(StopReason::Other),
    ])
    .await;
    let model = adapter.open(&server.base_url());
    assert_eq!(ask(&*model, "0#0").await.unwrap().stop, StopReason::Finished);
    assert_eq!(ask(&*model, "0#1").await.unwrap().stop, StopReason::Length);
    assert_eq!(ask(&*model, "0#2").await.unwrap().stop, StopReason::Filtered);
    assert_eq!(ask(&*model, "0#3").await.unwrap().stop, StopReason::Other);
}

pub(crate) async fn cached_tokens_are_part_of_the_input(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("a").usage(1000, 10).cached(900)]).await;
    let model = adapter.open(&server.base_url());
    let expected = Usage { input_tokens: 1000, cached_tokens: 900, output_tokens: 10, ..Usage::default() };
    assert_eq!(ask(&*model, "0#0").await.unwrap().usage, Some(expected));
}

pub(crate) async fn an_effort_is_sent_in_the_words_of_the_provider(adapter: Adapter) {
    let server = ModelServer::start([on("0#*").reply("a")]).await;
    let model = adapter.open(&server.base_url());
    for (id, effort) in [("0#0", None), ("0#1", Some(Effort::Low))] {
        let prompt = Prompt { effort, ..prompt() };
        collect(model.stream(&prompt, &call(id)), 1000, |_| {}).await.unwrap();
    }
    let [without, with] = <[_; 2]>::try_from(server.requests()).unwrap().map(|request| request.json());
    let pointer = match adapter {
        Adapter::OpenAi | Adapter::Azure => "/reasoning_effort",
        Adapter::Responses => "/reasoning/effort",
        Adapter::Anthropic => "/output_config/effort",
        Adapter::Gemini => "/generationConfig/thinkingConfig/thinkingLevel",
        Adapter::Bedrock => "/outputConfig/effort",
    };
    let word = if matches!(adapter, Adapter::Gemini) { "LOW" } else { "low" };
    assert_eq!((without.pointer(pointer), with.pointer(pointer)), (None, Some(&json!(word))));
}

pub(crate) async fn a_price_becomes_a_cost(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("a").usage(1000, 10).cached(900)]).await;
    let price = Price {
        input_microusd_per_mtok: 3_000_000,
        cached_microusd_per_mtok: 300_000,
        cache_write_microusd_per_mtok: 3_750_000,
        output_microusd_per_mtok: 15_000_000,
        above: None,
    };
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "m".to_owned(),
        key: None,
        price: Some(price),
        label_calls: true,
    };
    let model = adapter.open_with(options);
    assert_eq!(model.facts().price, Some(price));
    let expected = Usage {
        input_tokens: 1000,
        cached_tokens: 900,
        output_tokens: 10,
        cost_microusd: 720,
        ..Usage::default()
    };
    assert_eq!(ask(&*model, "0#0").await.unwrap().usage, Some(expected));
}

pub(crate) async fn a_reply_in_one_document_is_taken(adapter: Adapter) {
    let rule = on("0#0").fault(Fault::NotStreamed).reasoning("hm").reply("whole").usage(5, 6).cached(2);
    let server = ModelServer::start([rule]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    let usage = Usage { input_tokens: 5, cached_tokens: 2, output_tokens: 6, ..Usage::default() };
    assert_eq!(seen, [ModelDelta::Reasoning("hm".to_owned()), text("whole"), done(usage)]);
    assert_eq!(error, None);
}

/// Deltas have no number: a repeated one is indistinguishable from a repeated word.
pub(crate) async fn a_doubled_event_doubles_its_text_and_nothing_else(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").fault(Fault::DuplicateDeltas).reply("ab").chunks(2)]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    assert_eq!(seen, [text("a"), text("a"), text("b"), text("b"), done(usage(2, 1))]);
    assert_eq!(error, None);
}

pub(crate) async fn a_long_reply_is_taken_up_to_the_bound(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").always(Fault::LongReply { bytes: 10_000_000 })]).await;
    let model = adapter.open(&server.base_url());
    let reply = ask(&*model, "0#0").await.unwrap();
    assert_eq!(reply.text.len(), 10_000_000);
    assert_eq!(reply.usage, Some(usage(2, 2_500_000)));
    let bounded = collect(stream(&*model, "0#0"), 8_000_000, |_| {}).await;
    assert_eq!(bounded, Err(ModelError::ReplyTooLong { bytes_max: 8_000_000 }));
}

pub(crate) async fn the_request_carries_key_and_call(adapter: Adapter) {
    let server = ModelServer::start([on("0.3#2").reply("a")]).await;
    let model = adapter.open(&server.base_url());
    let reply = ask(&*model, "0.3#2").await;
    assert_eq!(reply.map(|reply: Reply| reply.text), Ok("a".to_owned()));
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert_eq!(request.call.as_deref(), Some("0.3#2"));
    assert_eq!(request.prompt(), "Sys\nUser");
    let header = |name| request.header(name);
    let bearer = format!("Bearer {KEY}");
    match adapter {
        Adapter::OpenAi => {
            assert_eq!(request.path, "/v1/chat/completions");
            assert_eq!(header("authorization"), Some(bearer.as_str()));
        }
        Adapter::Azure => {
            let path = "/v1/openai/deployments/scripted/chat/completions?api-version=2024-10-21";
            assert_eq!((request.path.as_str(), header("api-key")), (path, Some(KEY)));
            assert_eq!(header("authorization"), None);
        }
        Adapter::Responses => {
            assert_eq!(request.path, "/v1/responses");
            assert_eq!(header("authorization"), Some(bearer.as_str()));
        }
        Adapter::Anthropic => {
            assert_eq!(request.path, "/v1/messages");
            assert_eq!((header("x-api-key"), header("anthropic-version")), (Some(KEY), Some("2026-10-21")));
        }
        Adapter::Gemini => {
            assert_eq!(request.path, "/v1/models/scripted:streamGenerateContent?alt=sse");
            assert_eq!(header("x-goog-api-key"), Some(KEY));
        }
        Adapter::Bedrock => {
            assert_eq!(request.path, "/v1/model/scripted/converse-stream");
            assert_eq!(header("x-amz-date"), Some("20150830T123600Z"));
            let authorization = header("authorization").unwrap();
            let signed = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, \
                          SignedHeaders=content-type;host;x-amz-date, Signature=";
            assert!(authorization.starts_with(signed), "{authorization}");
            assert!(!format!("{request:?}").contains(KEY), "a secret signs and does not travel");
        }
    }
}

pub(crate) async fn without_a_key_or_a_label_neither_is_sent(adapter: Adapter) {
    let server = ModelServer::start([spelunk_testkit::when(|prompt| prompt == "Sys\nUser").reply("a")]).await;
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "m".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    let model = adapter.open_with(options);
    assert_eq!(ask(&*model, "0#0").await.unwrap().text, "a");
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert_eq!(request.call, None);
    let names = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
    let keys: Vec<&str> = names.into_iter().filter_map(|name| request.header(name)).collect();
    match adapter {
        // The one adapter that always needs a key.
        Adapter::Bedrock => assert_eq!(keys, [format!("Bearer {BEARER}")]),
        Adapter::OpenAi | Adapter::Azure | Adapter::Responses | Adapter::Anthropic | Adapter::Gemini => {
            assert_eq!(keys, [""; 0]);
        }
    }
}

pub(crate) async fn the_address_and_the_name_are_the_reference(adapter: Adapter) {
    let model = adapter.open("http://127.0.0.1:9/v1/");
    let expected = ModelRef {
        provider: adapter.provider().to_owned(),
        name: "scripted".to_owned(),
        base_url: adapter.shown("http://127.0.0.1:9/v1"),
    };
    assert_eq!(model.reference(), &expected);
    assert_eq!(model.facts().price, Some(Price::FREE));
}

pub(crate) async fn tokens_written_to_a_cache_are_told_where_the_provider_tells(adapter: Adapter) {
    let server =
        ModelServer::start([on("0#0").reply("a").usage(1000, 10).cached(100).cache_written(800)]).await;
    let usage = ask(&*adapter.open(&server.base_url()), "0#0").await.unwrap().usage.unwrap();
    let cache_written_tokens = match adapter {
        Adapter::OpenAi | Adapter::Azure | Adapter::Responses | Adapter::Anthropic | Adapter::Bedrock => 800,
        Adapter::Gemini => 0,
    };
    let expected = Usage {
        input_tokens: 1000,
        cached_tokens: 100,
        output_tokens: 10,
        cache_written_tokens,
        cost_microusd: 0,
    };
    assert_eq!(usage, expected);
}

fn tool_call(adapter: Adapter, ordinal: usize, name: &str, arguments: &str) -> ToolCall {
    // Gemini gives a call no id and signs the first.
    let (id, signature) = match adapter {
        Adapter::Gemini => (format!("call-{ordinal}"), (ordinal == 0).then(|| "c2ln".to_owned())),
        Adapter::OpenAi | Adapter::Azure | Adapter::Responses | Adapter::Anthropic | Adapter::Bedrock => {
            (format!("call_{ordinal}"), None)
        }
    };
    ToolCall { id, name: name.to_owned(), arguments: arguments.to_owned(), signature }
}

pub(crate) async fn tool_calls_arrive_whole_and_in_order(adapter: Adapter) {
    let rule = |rule: Rule| {
        rule.reply("Looking.").usage(1, 2).tool_call("grep", r#"{"pattern":"Grüße"}"#).tool_call("now", "{}")
    };
    let server = ModelServer::start([rule(on("0#0")), rule(on("0#1").fault(Fault::NotStreamed))]).await;
    let model = adapter.open(&server.base_url());
    for id in ["0#0", "0#1"] {
        let reply = ask(&*model, id).await.unwrap();
        let calls =
            vec![tool_call(adapter, 0, "grep", r#"{"pattern":"Grüße"}"#), tool_call(adapter, 1, "now", "{}")];
        let (text, usage) = ("Looking.".to_owned(), Some(usage(1, 2)));
        assert_eq!(
            reply,
            Reply {
                text,
                stop: StopReason::ToolUse,
                usage,
                tool_calls: calls,
                answered_by: None,
                certainty_permille: None
            },
            "{id}"
        );
    }
}

pub(crate) async fn tools_and_their_results_are_sent(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("done")]).await;
    let model = adapter.open(&server.base_url());
    let schema = Arc::new(json!({ "type": "object", "properties": { "pattern": { "type": "string" } } }));
    let tool = Tool { name: "grep".to_owned(), description: "Finds lines.".to_owned(), schema };
    let called = tool_call(adapter, 0, "grep", r#"{"pattern":"x"}"#);
    let result = ToolResult {
        call_id: called.id.clone(),
        name: "grep".to_owned(),
        text: "a.md:3".to_owned(),
        is_error: false,
    };
    let messages = vec![
        Message::user("Where?"),
        Message::assistant("").with_parts([Part::ToolCall(called)]),
        Message::user("").with_parts([Part::ToolResult(result)]),
    ];
    let prompt = Prompt { messages, tools: vec![tool], must_call: true, ..prompt() };
    let reply = collect(model.stream(&prompt, &call("0#0")), 100, |_| {}).await;
    assert_eq!(reply.map(|reply| reply.text), Ok("done".to_owned()));
    let requests = server.requests();
    let body = requests.first().unwrap().body.clone();
    for said in ["Finds lines.", "grep", "pattern", "a.md:3"] {
        assert!(body.contains(said), "{said} is not in {body}");
    }
}

pub(crate) async fn a_schema_is_sent_and_its_refusal_has_a_type(adapter: Adapter) {
    let refusal = status(400).message("Unsupported: json_schema is not available for this model");
    let server = ModelServer::start([on("0#0").reply(r#"{"n":1}"#), on("0#1").always(refusal)]).await;
    let model = adapter.open(&server.base_url());
    let schema = json!({ "type": "object", "properties": { "n_found": { "type": "integer" } },
                         "required": ["n_found"], "additionalProperties": false });
    let prompt = Prompt { schema: Some(Arc::new(schema)), ..prompt() };
    let reply = collect(model.stream(&prompt, &call("0#0")), 100, |_| {}).await.unwrap();
    assert_eq!(reply.text, r#"{"n":1}"#);
    assert!(server.requests().first().unwrap().body.contains("n_found"));
    let error = collect(model.stream(&prompt, &call("0#1")), 100, |_| {}).await.unwrap_err();
    let detail = "Unsupported: json_schema is not available for this model".to_owned();
    assert_eq!(error, ModelError::FeatureRefused { feature: Feature::Schema, detail });
    assert_eq!(server.times_received("0#1"), 1);
}

pub(crate) async fn images_are_sent_and_their_refusal_has_a_type(adapter: Adapter) {
    let refusal = status(400).message("This model does not support image input");
    let server = ModelServer::start([on("0#0").reply("a cat"), on("0#1").always(refusal)]).await;
    let model = adapter.open(&server.base_url());
    // The catalogue knows no model of this name, so it is not known to support images.
    assert!(!model.facts().sees_images && !model.facts().reads_pdf);
    let image = |name: &str, media_type, bytes: &'static [u8]| {
        let digest = BlobId::from_hash([7; 32]);
        Part::Image(Image {
            name: name.to_owned(),
            media_type,
            width: 2,
            height: 3,
            pages: 1,
            digest,
            bytes: bytes.into(),
        })
    };
    let parts = [
        image("a.png", "image/png", b"\x89PNG"),
        image("b.jpg", "image/jpeg", b"\xff\xd8"),
        image("c.pdf#page=2", "application/pdf", b"%PDF-1"),
    ];
    let messages = vec![Message::user("What is it?").with_parts(parts)];
    let prompt = Prompt { messages, ..prompt() };
    let reply = collect(model.stream(&prompt, &call("0#0")), 100, |_| {}).await;
    assert_eq!(reply.map(|reply| reply.text), Ok("a cat".to_owned()));
    let body: Value = serde_json::from_str(&server.requests().first().unwrap().body).unwrap();
    let (path, expected) = message_with_images(adapter);
    assert_eq!(body.pointer(path), Some(&expected));
    let error = collect(model.stream(&prompt, &call("0#1")), 100, |_| {}).await.unwrap_err();
    let detail = "This model does not support image input".to_owned();
    assert_eq!(error, ModelError::FeatureRefused { feature: Feature::Images, detail });
}

/// Where the message is in the body, and how it is written.
fn message_with_images(adapter: Adapter) -> (&'static str, Value) {
    let (png, jpeg, pdf, text) = ("iVBORw==", "/9g=", "JVBERi0x", "What is it?");
    let pdf_url = format!("data:application/pdf;base64,{pdf}");
    match adapter {
        Adapter::OpenAi | Adapter::Azure => (
            "/messages/1",
            json!({ "role": "user", "content": [
                { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{png}") } },
                { "type": "image_url", "image_url": { "url": format!("data:image/jpeg;base64,{jpeg}") } },
                { "type": "file", "file": { "filename": "pages.pdf", "file_data": pdf_url } },
                { "type": "text", "text": text },
            ] }),
        ),
        Adapter::Responses => (
            "/input/0",
            json!({ "role": "user", "content": [
                { "type": "input_image", "image_url": format!("data:image/png;base64,{png}"), "detail": "auto" },
                { "type": "input_image", "image_url": format!("data:image/jpeg;base64,{jpeg}"), "detail": "auto" },
                { "type": "input_file", "filename": "pages.pdf", "file_data": pdf_url },
                { "type": "input_text", "text": text },
            ] }),
        ),
        Adapter::Anthropic => (
            "/messages/0",
            json!({ "role": "user", "content": [
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": png } },
                { "type": "image", "source": { "type": "base64", "media_type": "image/jpeg", "data": jpeg } },
                { "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": pdf } },
                { "type": "text", "text": text },
            ] }),
        ),
        Adapter::Gemini => (
            "/contents/0",
            json!({ "role": "user", "parts": [
                { "inlineData": { "mimeType": "image/png", "data": png } },
                { "inlineData": { "mimeType": "image/jpeg", "data": jpeg } },
                { "inlineData": { "mimeType": "application/pdf", "data": pdf } },
                { "text": text },
            ] }),
        ),
        Adapter::Bedrock => (
            "/messages/0",
            json!({ "role": "user", "content": [
                { "image": { "format": "png", "source": { "bytes": png } } },
                { "image": { "format": "jpeg", "source": { "bytes": jpeg } } },
                { "document": { "format": "pdf", "name": "07".repeat(32), "source": { "bytes": pdf } } },
                { "text": text },
            ] }),
        ),
    }
}
