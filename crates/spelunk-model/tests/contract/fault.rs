//! Every fault, and the exact error it becomes.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt};
use spelunk_model::{ModelDelta, ModelError};
use spelunk_testkit::{ClosedPort, Fault, Gate, ModelServer, on, status};
use spelunk_types::Explain;

use crate::adapter::{Adapter, KEY, ask, deltas, next, stream};

/// The error of a call that meets only this fault, and the base URL in the error.
async fn error(adapter: Adapter, fault: impl Into<Fault>) -> (ModelError, String) {
    let server = ModelServer::start([on("0#0").always(fault)]).await;
    let model = adapter.open(&server.base_url());
    (ask(&*model, "0#0").await.unwrap_err(), adapter.shown(&server.base_url()))
}

/// The deltas before a stream breaks, and the error.
async fn broken(adapter: Adapter, fault: Fault) -> (Vec<ModelDelta>, Option<ModelError>) {
    let server = ModelServer::start([on("0#0").fault(fault).reply("abcdef")]).await;
    let model = adapter.open(&server.base_url());
    let seen = deltas(stream(&*model, "0#0")).await;
    assert_eq!(server.times_served("0#0"), 0);
    seen
}

fn beginning() -> Vec<ModelDelta> {
    vec![ModelDelta::Text("ab".to_owned())]
}

fn malformed(detail: &str) -> ModelError {
    ModelError::ReplyMalformed { detail: detail.to_owned() }
}

pub(crate) async fn a_refused_key_is_told_without_the_key(adapter: Adapter) {
    let fault = status(401).message(format!("Incorrect API key provided: {KEY}. Get one\nelsewhere."));
    let (seen, base_url) = error(adapter, fault).await;
    let detail = "Incorrect API key provided: [key]. Get one elsewhere.".to_owned();
    assert_eq!(seen, ModelError::Unauthorized { base_url, detail });
    assert!(!format!("{seen} {seen:?}").contains(KEY));
    let (seen, base_url) = error(adapter, status(403)).await;
    assert_eq!(seen, ModelError::Unauthorized { base_url, detail: "scripted status 403".to_owned() });
}

pub(crate) async fn a_model_nobody_knows_is_told(adapter: Adapter) {
    let (seen, base_url) = error(adapter, status(404)).await;
    let detail = "scripted status 404".to_owned();
    assert_eq!(seen, ModelError::NotFound { base_url, model: "scripted".to_owned(), detail });
}

pub(crate) async fn too_many_requests_are_told_with_and_without_a_wait(adapter: Adapter) {
    let (seen, _) = error(adapter, status(429)).await;
    assert_eq!(seen, ModelError::RateLimited { retry_after: None });
    let (seen, _) = error(adapter, status(429).retry_after_ms(5)).await;
    assert_eq!(seen, ModelError::RateLimited { retry_after: Some(Duration::from_millis(5)) });
    let (seen, _) = error(adapter, status(429).retry_after_s(2)).await;
    assert_eq!(seen, ModelError::RateLimited { retry_after: Some(Duration::from_secs(2)) });
    let date = status(429).header("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT");
    let (seen, _) = error(adapter, date.clone()).await;
    assert_eq!(seen, ModelError::RateLimited { retry_after: None });
    let (seen, _) = error(adapter, date.header("date", "Wed, 21 Oct 2026 07:27:20 GMT")).await;
    assert_eq!(seen, ModelError::RateLimited { retry_after: Some(Duration::from_secs(40)) });
}

pub(crate) async fn missing_capacity_is_told(adapter: Adapter) {
    let (seen, _) = error(adapter, status(529)).await;
    assert_eq!(seen, ModelError::Overloaded { retry_after: None });
    let (seen, _) = error(adapter, status(503).retry_after_s(1)).await;
    assert_eq!(seen, ModelError::Overloaded { retry_after: Some(Duration::from_secs(1)) });
}

pub(crate) async fn a_broken_server_is_told(adapter: Adapter) {
    let (seen, _) = error(adapter, status(500)).await;
    assert_eq!(seen, ModelError::ServerError { status: 500, detail: "scripted status 500".to_owned() });
}

pub(crate) async fn a_refused_request_is_told(adapter: Adapter) {
    let (seen, _) = error(adapter, status(400)).await;
    assert_eq!(seen, ModelError::RequestRefused { status: 400, detail: "scripted status 400".to_owned() });
}

pub(crate) async fn a_prompt_that_is_too_long_is_told(adapter: Adapter) {
    let (seen, _) = error(adapter, status(400).message("prompt is too long: 9 > 8")).await;
    assert_eq!(seen, ModelError::PromptTooLong { detail: "prompt is too long: 9 > 8".to_owned() });
    let (seen, _) = error(adapter, status(400).code("context_length_exceeded").message("no")).await;
    assert_eq!(seen, ModelError::PromptTooLong { detail: "no".to_owned() });
    let (seen, _) = error(adapter, status(413).message("maximum context length is 8")).await;
    assert_eq!(seen, ModelError::PromptTooLong { detail: "maximum context length is 8".to_owned() });
}

/// The key must not be sent to another host.
pub(crate) async fn a_redirect_is_not_followed(adapter: Adapter) {
    let elsewhere = ModelServer::start([on("0#0").reply("stolen")]).await;
    let fault = status(307).header("location", &format!("{}/chat/completions", elsewhere.base_url()));
    let (seen, _) = error(adapter, fault).await;
    assert_eq!(seen, ModelError::RequestRefused { status: 307, detail: "scripted status 307".to_owned() });
    assert_eq!(elsewhere.requests(), []);
}

pub(crate) async fn nobody_listening_is_told(adapter: Adapter) {
    let port = ClosedPort::reserve();
    let model = adapter.open(&port.base_url());
    let seen = ask(&*model, "0#0").await.unwrap_err();
    let detail = "Connection refused (os error 111)".to_owned();
    assert_eq!(seen, ModelError::Unreachable { base_url: adapter.shown(&port.base_url()), detail });
}

pub(crate) async fn a_closed_connection_is_told(adapter: Adapter) {
    let (seen, base_url) = error(adapter, Fault::HangUp).await;
    let detail = "connection closed before message completed".to_owned();
    assert_eq!(seen, ModelError::Unreachable { base_url, detail });
}

pub(crate) async fn a_stream_without_its_end_mark_is_cut(adapter: Adapter) {
    assert_eq!(broken(adapter, Fault::CutStream).await, (beginning(), Some(ModelError::StreamCut)));
}

pub(crate) async fn a_stream_that_breaks_off_is_cut(adapter: Adapter) {
    let gate = Gate::new();
    let rule = on("0#0").fault(Fault::AbortStream).reply("abcdef").gate(&gate);
    let server = ModelServer::start([rule]).await;
    let model = adapter.open(&server.base_url());
    let mut stream = stream(&*model, "0#0");
    assert_eq!(next(&mut stream).await, Some(Ok(ModelDelta::Text("ab".to_owned()))));
    gate.open();
    assert_eq!(next(&mut stream).await, Some(Err(ModelError::StreamCut)));
    assert_eq!(stream.next().await, None);
}

pub(crate) async fn an_event_that_is_not_json_is_malformed(adapter: Adapter) {
    let expected = malformed(match adapter {
        // The payload of a frame is nested inside its event.
        Adapter::Bedrock => "an event is not valid: expected value at line 1 column 31",
        Adapter::OpenAi | Adapter::Azure | Adapter::Responses | Adapter::Anthropic | Adapter::Gemini => {
            "an event is not valid: EOF while parsing a value at line 1 column 9"
        }
    });
    assert_eq!(broken(adapter, Fault::MalformedJson).await, (beginning(), Some(expected)));
}

pub(crate) async fn an_event_that_is_not_utf8_is_malformed(adapter: Adapter) {
    let expected = malformed("an event is not UTF-8");
    assert_eq!(broken(adapter, Fault::InvalidUtf8).await, (beginning(), Some(expected)));
}

pub(crate) async fn another_content_type_is_malformed_and_named(adapter: Adapter) {
    let expected = malformed("its content type is `text/html`");
    assert_eq!(broken(adapter, Fault::WrongContentType).await, (Vec::new(), Some(expected)));
}

pub(crate) async fn an_error_inside_the_stream_is_the_same_error(adapter: Adapter) {
    let limited = ModelError::RateLimited { retry_after: None };
    assert_eq!(broken(adapter, Fault::ErrorEvent { status: 429 }).await, (beginning(), Some(limited)));
    let overloaded = ModelError::Overloaded { retry_after: None };
    assert_eq!(broken(adapter, Fault::ErrorEvent { status: 529 }).await, (beginning(), Some(overloaded)));
    let server_error = ModelError::ServerError { status: 500, detail: "scripted status 500".to_owned() };
    assert_eq!(broken(adapter, Fault::ErrorEvent { status: 500 }).await, (beginning(), Some(server_error)));
    let refused = ModelError::RequestRefused { status: 400, detail: "scripted status 400".to_owned() };
    assert_eq!(broken(adapter, Fault::ErrorEvent { status: 400 }).await, (beginning(), Some(refused)));
}

/// The timeout is up to the engine.
pub(crate) async fn a_server_that_says_nothing_is_waited_for(adapter: Adapter) {
    let gate = Gate::new();
    let server = ModelServer::start([on("0#0").always(Fault::StallBeforeHeaders).gate(&gate)]).await;
    let model = adapter.open(&server.base_url());
    let mut stream = stream(&*model, "0#0");
    tokio::select! {
        delta = stream.next() => panic!("nothing was sent: {delta:?}"),
        () = gate.reached(1) => {}
    }
    assert_eq!(stream.next().now_or_never(), None);
}

pub(crate) async fn a_stream_that_pauses_is_waited_for(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").fault(Fault::StallMidStream).reply("abcdef")]).await;
    let model = adapter.open(&server.base_url());
    let mut stream = stream(&*model, "0#0");
    assert_eq!(next(&mut stream).await, Some(Ok(ModelDelta::Text("ab".to_owned()))));
    assert_eq!(next(&mut stream).now_or_never(), None);
}

pub(crate) async fn a_fault_is_never_tried_again(adapter: Adapter) {
    let rule = on("0#0").fault(Fault::HangUp).fault(status(503)).fault(Fault::CutStream).reply("ok");
    let server = ModelServer::start([rule]).await;
    let model = adapter.open(&server.base_url());
    let mut n_failed = 0;
    while ask(&*model, "0#0").await.is_err() {
        n_failed += 1;
    }
    assert_eq!((n_failed, server.times_received("0#0"), server.times_served("0#0")), (3, 4, 1));
}

/// A hundred concurrent calls, all refused: nothing is sent twice, and the requested wait is reported each time.
pub(crate) async fn a_storm_of_refusals_is_one_request_per_call(adapter: Adapter) {
    let server = ModelServer::start([on("0#*").always(status(429).retry_after_s(7))]).await;
    let model = adapter.open(&server.base_url());
    let names: Vec<String> = (0..100).map(|ordinal| format!("0#{ordinal}")).collect();
    let errors = join_all(names.iter().map(|name| ask(&*model, name))).await;
    let limited = Err(ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) });
    assert_eq!(errors, vec![limited; 100]);
    assert_eq!(server.requests().len(), 100);
}

pub(crate) async fn an_empty_body_is_a_cut_stream_or_malformed(adapter: Adapter) {
    let raw = |content_type| Fault::Raw { content_type, body: Vec::new() };
    let stream_type = match adapter {
        Adapter::Bedrock => "application/vnd.amazon.eventstream",
        Adapter::OpenAi | Adapter::Azure | Adapter::Responses | Adapter::Anthropic | Adapter::Gemini => {
            "text/event-stream"
        }
    };
    assert_eq!(error(adapter, raw(stream_type)).await.0, ModelError::StreamCut);
    let (seen, _) = error(adapter, raw("application/json")).await;
    assert!(matches!(seen, ModelError::ReplyMalformed { .. }), "{seen:?}");
}

/// `https` to a port that speaks plain HTTP.
pub(crate) async fn another_protocol_on_the_port_is_unreachable(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("a")]).await;
    let base_url = server.base_url().replace("http://", "https://");
    let seen = ask(&*adapter.open(&base_url), "0#0").await.unwrap_err();
    let expected = adapter.shown(&base_url);
    assert!(matches!(&seen, ModelError::Unreachable { base_url, .. } if *base_url == expected), "{seen:?}");
    assert_eq!(server.requests(), []);
}

/// Whatever a server sends back, even the key itself.
pub(crate) async fn every_error_has_a_hint_and_none_shows_the_key(adapter: Adapter) {
    let echo =
        |code: u16| Fault::from(status(code).message(format!("you sent {KEY} and nobody wants {KEY}")));
    let raw = |content_type| Fault::Raw { content_type, body: format!("{{\"{KEY}\": {KEY}").into_bytes() };
    let mut faults: Vec<Fault> = [400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529].map(echo).to_vec();
    faults.extend([
        raw("text/event-stream"),
        raw("application/json"),
        raw("application/vnd.amazon.eventstream"),
    ]);
    faults.extend([
        Fault::WrongContentType,
        Fault::HangUp,
        Fault::CutStream,
        Fault::MalformedJson,
        Fault::InvalidUtf8,
    ]);
    for fault in faults {
        let (seen, _) = error(adapter, fault.clone()).await;
        let hint = seen.hint();
        let shown = format!("{seen} {seen:?} {hint:?}");
        assert!(!shown.contains(KEY), "{fault:?}: {shown}");
        assert!(hint.is_some_and(|hint| !hint.is_empty()), "{fault:?} has no hint");
    }
    let port = ClosedPort::reserve();
    let model = adapter.open(&port.base_url());
    let seen = ask(&*model, "0#0").await.unwrap_err();
    assert!(seen.hint().is_some() && !format!("{seen:?}").contains(KEY), "{seen:?}");
}
