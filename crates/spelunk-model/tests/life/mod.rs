//! Signs of life: bytes that yield no delta yet. A long tool call arrives in hundreds of fragments, and a silence
//! timeout must see that it grows.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use spelunk_model::ModelDelta;

use crate::adapter::{Adapter, deltas, stream};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server for one request that sends a piece of its stream for each message on the channel, and ends when the sender
/// is dropped.
fn server(pieces: &'static [&'static str]) -> (String, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (go, told) = channel();
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        read_request(&mut BufReader::new(connection.try_clone().unwrap()));
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        connection.write_all(head.as_bytes()).unwrap();
        for piece in pieces {
            if told.recv().is_err() {
                return;
            }
            connection.write_all(piece.as_bytes()).unwrap();
        }
    });
    (base_url, go)
}

/// Reads the whole request: closing a connection with unread bytes loses the end of the reply.
fn read_request(reader: &mut impl BufRead) {
    let head: Vec<String> =
        reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
}

/// Each piece but the last yields exactly one sign of life and nothing else; the last yields the rest of the reply.
async fn check(adapter: Adapter, pieces: &'static [&'static str], said: &[&str]) {
    let (base_url, go) = server(pieces);
    let model = adapter.open(&base_url);
    let mut stream = stream(&*model, "0#0");
    for piece in &pieces[..pieces.len() - 1] {
        go.send(()).unwrap();
        let sign =
            tokio::time::timeout(PATIENCE, stream.next()).await.expect("the stream shows that it lives");
        assert_eq!(sign, Some(Ok(ModelDelta::Reasoning(String::new()))), "{piece}");
        assert_eq!(stream.next().now_or_never(), None, "{piece}");
    }
    go.send(()).unwrap();
    let (seen, error) = deltas(stream).await;
    let seen: Vec<String> = seen.iter().map(|delta| format!("{delta:?}")).collect();
    assert_eq!((seen.iter().map(String::as_str).collect::<Vec<_>>(), error), (said.to_vec(), None));
}

#[tokio::test]
async fn fragments_of_a_tool_call_of_openai_are_signs_of_life() {
    check(
        Adapter::OpenAi,
        &[
            ": OPENROUTER PROCESSING\n\n",
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"grep\",\"arguments\":\"{\"}}]}}]}\n\n",
            // Even half an event counts.
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":",
            "{\"arguments\":\"}\"}}]}}]}\n\ndata: [DONE]\n\n",
        ],
        &[
            r#"ToolCall(ToolCall { id: "a", name: "grep", arguments: "{}", signature: None })"#,
            "Done { stop: Other, usage: None }",
        ],
    )
    .await;
}

#[tokio::test]
async fn fragments_of_a_tool_call_of_anthropic_are_signs_of_life() {
    check(
        Adapter::Anthropic,
        &[
            "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
            "data: {\"type\":\"ping\"}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"grep\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"}\"}}\n\n\
             data: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_stop\"}\n\n",
        ],
        &[
            r#"ToolCall(ToolCall { id: "a", name: "grep", arguments: "{}", signature: None })"#,
            "Done { stop: Other, usage: None }",
        ],
    )
    .await;
}

#[tokio::test]
async fn fragments_of_a_tool_call_of_responses_are_signs_of_life() {
    check(
        Adapter::Responses,
        &[
            "data: {\"type\":\"response.created\"}\n\n",
            "data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"yes\"}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
        ],
        &[r#"Text("yes")"#, "Done { stop: Finished, usage: None }"],
    )
    .await;
}
