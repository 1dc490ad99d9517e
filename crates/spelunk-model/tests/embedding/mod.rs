//! Embeddings over HTTP, good and broken.

use std::time::Duration;

use spelunk_model::{EmbeddingClient, ModelError, ModelOptions, Secret};
use spelunk_testkit::{ClosedPort, Fault, ModelServer, on, status};
use spelunk_types::Explain;

use crate::adapter::KEY;

fn options(base_url: &str) -> ModelOptions {
    ModelOptions {
        base_url: base_url.to_owned(),
        name: "e".to_owned(),
        key: Some(Secret::new(KEY)),
        price: None,
        label_calls: false,
    }
}

fn client(base_url: &str) -> EmbeddingClient {
    EmbeddingClient::openai(options(base_url), Duration::from_mins(2)).unwrap()
}

fn texts() -> Vec<String> {
    ["one", "two words"].map(str::to_owned).to_vec()
}

async fn openai_error(fault: impl Into<Fault>) -> ModelError {
    let server = ModelServer::start([on("embed").always(fault)]).await;
    let error = client(&server.base_url()).embed(&texts()).await.unwrap_err();
    assert_eq!(server.requests().len(), 1, "nothing is tried again");
    assert!(!format!("{error} {error:?}").contains(KEY) && error.hint().is_some(), "{error:?}");
    error
}

fn json(body: &str) -> Fault {
    Fault::Raw { content_type: "application/json", body: body.as_bytes().to_vec() }
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts() {
    let server = ModelServer::start([]).await;
    let embedded = client(&server.base_url()).embed(&texts()).await.unwrap();
    assert_eq!(embedded.vectors, [[3.0, 1.0, 0.5], [9.0, 2.0, 0.5]]);
    let requests = server.requests();
    let sent: Vec<(&str, &str, Option<&str>)> = requests
        .iter()
        .map(|request| (request.path.as_str(), request.body.as_str(), request.header("authorization")))
        .collect();
    let bearer = Some("Bearer sk-very-secret");
    let body = r#"{"encoding_format":"float","input":["one","two words"],"model":"e"}"#;
    assert_eq!(sent, [("/v1/embeddings", body, bearer)]);
}

#[tokio::test]
async fn no_texts_are_no_request() {
    let server = ModelServer::start([]).await;
    assert_eq!(client(&server.base_url()).embed(&[]).await.unwrap().vectors, Vec::<Vec<f32>>::new());
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn vectors_that_do_not_fit_the_texts_are_refused() {
    let malformed = |detail: &str| ModelError::ReplyMalformed { detail: detail.to_owned() };
    let row = |index: usize, vector: &str| format!(r#"{{"index":{index},"embedding":{vector}}}"#);
    let data = |rows: &[String]| json(&format!(r#"{{"data":[{}]}}"#, rows.join(",")));
    let cases = [
        (data(&[row(0, "[1]")]), "it contains 1 vectors for 2 texts"),
        (data(&[row(0, "[1]"), row(0, "[1]")]), "its rows are not numbered from 0"),
        (data(&[row(0, "[1]"), row(7, "[1]")]), "its rows are not numbered from 0"),
        (data(&[row(0, "[1]"), row(1, "[1,2]")]), "its vectors differ in length"),
        (data(&[row(0, "[]"), row(1, "[]")]), "a vector has 0 dimensions"),
        (data(&[row(0, "[1e300]"), row(1, "[1]")]), "a vector contains a value that is not a number"),
        (json("{}"), "the vectors are not valid: missing field `data` at line 1 column 2"),
        (Fault::WrongContentType, "its content type is `text/html`"),
    ];
    for (fault, detail) in cases {
        assert_eq!(openai_error(fault).await, malformed(detail));
    }
}

#[tokio::test]
async fn refusals_are_the_same_errors_as_those_of_models() {
    assert_eq!(openai_error(status(429)).await, ModelError::RateLimited { retry_after: None });
    let detail = format!("wrong key {KEY}");
    let error = openai_error(status(401).message(detail)).await;
    assert!(
        matches!(&error, ModelError::Unauthorized { detail, .. } if detail == "wrong key [key]"),
        "{error:?}"
    );
    assert!(matches!(openai_error(status(404)).await, ModelError::NotFound { model, .. } if model == "e"));
    assert!(matches!(openai_error(Fault::HangUp).await, ModelError::Unreachable { .. }));
    let port = ClosedPort::reserve();
    let error = client(&port.base_url()).embed(&texts()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_stays_silent_is_not_waited_for() {
    let server = ModelServer::start([on("embed").always(Fault::StallBeforeHeaders)]).await;
    let client = EmbeddingClient::openai(options(&server.base_url()), Duration::from_millis(50)).unwrap();
    assert_eq!(client.embed(&texts()).await, Err(ModelError::TimedOut { after_ms: 50 }));
}
