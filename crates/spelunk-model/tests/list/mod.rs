//! Listing models: how a local server is recognised, and what else may answer on its port.

use std::time::Duration;

use spelunk_model::{ListShape, ModelError, Secret, list_models, list_models_as};
use spelunk_testkit::{ClosedPort, Fault, ModelServer, on, status};

use crate::adapter::KEY;

const TIMEOUT: Duration = Duration::from_secs(5);

async fn list(fault: impl Into<Fault>) -> Result<Vec<String>, ModelError> {
    let server = ModelServer::start([on("models").always(fault)]).await;
    list_models(&server.base_url(), None, TIMEOUT).await
}

fn json(body: &str) -> Fault {
    Fault::Raw { content_type: "application/json", body: body.as_bytes().to_vec() }
}

fn malformed<T>(detail: &str) -> Result<T, ModelError> {
    Err(ModelError::ReplyMalformed { detail: detail.to_owned() })
}

#[tokio::test]
async fn the_names_come_in_the_order_of_the_server() {
    let body =
        r#"{"object":"list","data":[{"id":"qwen","object":"model","meta":{"n":1}},{"id":"gemma:2b"}]}"#;
    assert_eq!(list(json(body)).await, Ok(vec!["qwen".to_owned(), "gemma:2b".to_owned()]));
    assert_eq!(list(json(r#"{"data":[]}"#)).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_key_is_sent_where_there_is_one() {
    let server = ModelServer::start([]).await;
    let names = list_models(&format!("{}/", server.base_url()), Some(&Secret::new(KEY)), TIMEOUT).await;
    assert_eq!(names, Ok(vec!["scripted".to_owned()]));
    let requests = server.requests();
    assert_eq!(
        requests.first().and_then(|request| request.header("authorization")),
        Some("Bearer sk-very-secret")
    );
}

#[tokio::test]
async fn another_service_on_the_port_is_not_taken_for_a_model_server() {
    assert_eq!(
        list(json(r#"{"models":[]}"#)).await,
        malformed("the list is not valid: missing field `data` at line 1 column 13")
    );
    assert_eq!(
        list(json(r#"{"data":[{"name":"x"}]}"#)).await,
        malformed("the list is not valid: missing field `id` at line 1 column 21")
    );
    assert_eq!(
        list(json("[]")).await,
        malformed(
            "the list is not valid: invalid length 0, expected struct ModelList with 1 element at line 1 column 2"
        )
    );
    assert_eq!(list(Fault::WrongContentType).await, malformed("its content type is `text/html`"));
    let error = list(status(500)).await;
    assert_eq!(error, Err(ModelError::ServerError { status: 500, detail: "scripted status 500".to_owned() }));
}

#[tokio::test]
async fn nobody_there_is_told() {
    let port = ClosedPort::reserve();
    let error = list_models(&port.base_url(), None, TIMEOUT).await;
    let detail = "Connection refused (os error 111)".to_owned();
    assert_eq!(error, Err(ModelError::Unreachable { base_url: port.base_url(), detail }));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left_after_the_timeout() {
    let server = ModelServer::start([on("models").always(Fault::StallBeforeHeaders)]).await;
    let error = list_models(&server.base_url(), None, Duration::from_millis(20)).await;
    assert_eq!(error, Err(ModelError::TimedOut { after_ms: 20 }));
}

/// The request to a server that returns this body, and the result.
async fn listed(
    shape: ListShape,
    body: &str,
) -> (Result<Vec<String>, ModelError>, String, Vec<Option<String>>) {
    let server = ModelServer::start([on("models").always(json(body))]).await;
    let key = Secret::new(KEY);
    let names = list_models_as(shape, &server.base_url(), Some(&key), TIMEOUT).await;
    let request = server.requests().remove(0);
    let headers = ["authorization", "x-api-key", "anthropic-version", "x-goog-api-key"];
    (names, request.path.clone(), headers.map(|header| request.header(header).map(str::to_owned)).to_vec())
}

#[tokio::test]
async fn anthropic_is_asked_in_its_own_way() {
    let body = r#"{"data":[{"type":"model","id":"claude-a","display_name":"A"},{"id":"claude-b"}],"has_more":false}"#;
    let (names, path, headers) = listed(ListShape::Anthropic, body).await;
    assert_eq!(names, Ok(vec!["claude-a".to_owned(), "claude-b".to_owned()]));
    assert_eq!(path, "/v1/models?limit=1000");
    assert_eq!(headers, [None, Some(KEY.to_owned()), Some("2026-10-21".to_owned()), None]);
}

#[tokio::test]
async fn gemini_is_asked_in_its_own_way() {
    let body = r#"{"models":[{"name":"models/gemini-a","inputTokenLimit":1},{"name":"tuned/b"}]}"#;
    let (names, path, headers) = listed(ListShape::Gemini, body).await;
    assert_eq!(names, Ok(vec!["gemini-a".to_owned(), "tuned/b".to_owned()]));
    assert_eq!(path, "/v1/models?pageSize=1000");
    assert_eq!(headers, [None, None, None, Some(KEY.to_owned())]);
    let (names, ..) = listed(ListShape::Gemini, r#"{"data":[]}"#).await;
    assert_eq!(names, malformed("the list is not valid: missing field `models` at line 1 column 11"));
}

#[test]
fn providers_that_list_elsewhere_have_no_shape() {
    let shapes = ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "azure", "command"]
        .map(ListShape::of);
    let (openai, anthropic, gemini) = (ListShape::OpenAi, ListShape::Anthropic, ListShape::Gemini);
    assert_eq!(shapes, [Some(openai), Some(openai), Some(anthropic), Some(gemini), None, None, None]);
}
