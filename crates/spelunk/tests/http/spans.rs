//! Spans of finished runs, sent to a collector if one is set.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value;

use crate::scene::{NOTE, REPLY, Scene, answering};

/// Accepts one request and returns its head and its body.
fn collect(listener: &TcpListener, status: &str) -> (String, Value) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let answer =
        format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{{}}");
    reader.get_mut().write_all(answer.as_bytes()).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

#[test]
fn a_finished_run_is_sent_to_the_collector() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asking = scene.ask(&model).env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
    let asking = asking.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=spelunk").start();
    let (head, body) = collect(&listener, "200 OK");
    assert!(
        head.starts_with("post /v1/traces http/1.1\r\n") && head.contains("x-team: spelunk\r\n"),
        "{head}"
    );
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["invoke_agent spelunk", "chat scripted", "invoke_agent direct"]);
    assert!(!body.to_string().contains("magic number"));
    assert!(asking.wait_with_output().unwrap().status.success());
}

#[test]
fn a_collector_that_refuses_costs_a_warning() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asking = scene.ask(&model).env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).start();
    collect(&listener, "401 Unauthorized");
    let output = asking.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("warning: the spans of run"), "{said}");
}
