//! The scripted server itself, as far as a client can observe it.

use spelunk_model::ModelError;
use spelunk_testkit::{Fault, ModelServer, on, status, when};

use crate::adapter::{Adapter, ask};

async fn text(server: &ModelServer, id: &str) -> Result<String, ModelError> {
    let model = Adapter::OpenAi.open(&server.base_url());
    ask(&*model, id).await.map(|reply| reply.text)
}

#[tokio::test]
async fn the_first_rule_that_matches_wins() {
    let server = ModelServer::start([
        on("0#0").reply("exact"),
        on("0.*#0").reply("any child"),
        when(|prompt| prompt.contains("User")).reply("by prompt"),
    ])
    .await;
    assert_eq!(text(&server, "0#0").await, Ok("exact".to_owned()));
    assert_eq!(text(&server, "0.7#0").await, Ok("any child".to_owned()));
    assert_eq!(text(&server, "0.7#1").await, Ok("by prompt".to_owned()));
}

#[tokio::test]
async fn each_call_of_a_pattern_meets_the_faults_for_itself() {
    let server = ModelServer::start([on("0.*#0").fault(Fault::CutStream).reply("ok")]).await;
    assert_eq!(text(&server, "0.0#0").await, Err(ModelError::StreamCut));
    assert_eq!(text(&server, "0.1#0").await, Err(ModelError::StreamCut));
    assert_eq!(text(&server, "0.0#0").await, Ok("ok".to_owned()));
    assert_eq!(text(&server, "0.1#0").await, Ok("ok".to_owned()));
}

#[tokio::test]
async fn a_request_nobody_wrote_a_rule_for_is_refused_and_remembered() {
    let server = ModelServer::start([on("0#0").fault(status(500))]).await;
    let detail = "no rule of the script answers 0#1 to `/v1/chat/completions`".to_owned();
    assert_eq!(text(&server, "0#1").await, Err(ModelError::RequestRefused { status: 418, detail }));
    let scripted = ModelError::ServerError { status: 500, detail: "scripted status 500".to_owned() };
    assert_eq!(text(&server, "0#0").await, Err(scripted));
    let detail = "no rule of the script answers 0#0 to `/v1/chat/completions`".to_owned();
    assert_eq!(text(&server, "0#0").await, Err(ModelError::RequestRefused { status: 418, detail }));
    let calls: Vec<_> = server.unexpected().into_iter().map(|request| request.call).collect();
    assert_eq!(calls, [Some("0#1".to_owned()), Some("0#0".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_test_with_paused_time_is_served() {
    let server = ModelServer::start([on("0#0").reply("text").delay_ms(2).pace_ms(1)]).await;
    assert_eq!(text(&server, "0#0").await, Ok("text".to_owned()));
}

#[test]
fn a_test_without_a_runtime_starts_and_stops_a_server() {
    let server = ModelServer::start_blocking([on("0#0").reply("text")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(text(&server, "0#0")), Ok("text".to_owned()));
    let base_url = server.base_url();
    drop(server);
    let model = Adapter::OpenAi.open(&base_url);
    let error = runtime.block_on(ask(&*model, "0#0"));
    let detail = "Connection refused (os error 111)".to_owned();
    assert_eq!(error, Err(ModelError::Unreachable { base_url, detail }));
}
