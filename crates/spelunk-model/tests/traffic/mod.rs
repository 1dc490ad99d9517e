//! Many concurrent calls, and many calls in sequence.

use std::process::Command;

use futures_util::future::join_all;
use spelunk_model::ModelDelta;
use spelunk_testkit::{ClosedPort, Gate, ModelServer, on};
use spelunk_types::{StopReason, Usage};

use crate::adapter::{Adapter, ask, deltas, next, stream};

#[tokio::test]
async fn a_thousand_streams_are_open_at_once() {
    thousand_streams(Adapter::OpenAi).await;
    thousand_streams(Adapter::Anthropic).await;
}

async fn thousand_streams(adapter: Adapter) {
    let gate = Gate::new();
    let server = ModelServer::start([on("0#*").reply("ab").chunks(2).usage(1, 1).gate(&gate)]).await;
    let model = adapter.open(&server.base_url());
    let streams = (0..1000).map(|ordinal| stream(&*model, &format!("0#{ordinal}")));
    let begun = join_all(streams.map(|mut stream| async {
        let first = next(&mut stream).await;
        assert_eq!(first, Some(Ok(ModelDelta::Text("a".to_owned()))));
        stream
    }))
    .await;
    gate.reached(1000).await;
    gate.open();
    let ends = join_all(begun.into_iter().map(deltas)).await;
    let usage = Usage { input_tokens: 1, output_tokens: 1, ..Usage::default() };
    let done = ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) };
    assert_eq!(ends, vec![(vec![ModelDelta::Text("b".to_owned()), done], None); 1000]);
    let expected = Usage { input_tokens: 1000, output_tokens: 1000, ..Usage::default() };
    assert_eq!(server.served_usage(), expected);
}

#[tokio::test]
async fn calls_after_each_other_share_connections() {
    let server = ModelServer::start([on("0#*").reply("text")]).await;
    let model = Adapter::OpenAi.open(&server.base_url());
    for ordinal in 0..10 {
        assert_eq!(ask(&*model, &format!("0#{ordinal}")).await.unwrap().text, "text");
    }
    // A call that follows immediately may find the connection not yet back in the pool.
    assert!(server.connections() <= 2, "{} connections", server.connections());
}

/// The proxy settings are read from the environment when a client is built, so this runs one test of this binary in a
/// process where every proxy variable points to a closed port.
#[test]
fn a_local_server_is_asked_past_any_proxy() {
    let closed = ClosedPort::reserve().base_url();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "contract::openai::a_reply_arrives_in_pieces_and_ends_with_its_usage"])
        .envs(
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
                .map(|name| (name, &closed)),
        )
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    let summary = String::from_utf8(child.stdout).unwrap();
    assert!(summary.contains("1 passed; 0 failed"), "{summary}");
}
