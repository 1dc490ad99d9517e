//! A minimal client of the protocol: it writes and reads lines, and insists that every line is JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use spelunk_testkit::ModelServer;

use crate::scene::Scene;

/// The revision without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";
/// The last revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";

pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    n_sent: u64,
    /// Sent with every request if there is no handshake.
    meta: Option<Value>,
    /// Unsolicited messages of the server.
    pub(crate) notices: Vec<Value>,
}

impl Client {
    /// Starts the server without sending anything.
    pub(crate) fn silent(scene: &Scene, args: &[&str], server: Option<&ModelServer>) -> Self {
        let mut call = scene.spelunk(["mcp"]);
        for arg in args {
            call = call.arg(arg);
        }
        if let Some(server) = server {
            call = call.server(server);
        }
        let mut child = call.open();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not_json": line }));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        Self { child, stdin, lines, n_sent: 0, meta: None, notices: Vec::new() }
    }

    /// A client with a handshake.
    pub(crate) fn legacy(
        scene: &Scene,
        args: &[&str],
        server: Option<&ModelServer>,
        capabilities: &Value,
    ) -> Self {
        let mut client = Self::silent(scene, args, server);
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.request("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], LEGACY, "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// A client without one.
    pub(crate) fn modern(
        scene: &Scene,
        args: &[&str],
        server: Option<&ModelServer>,
        capabilities: &Value,
    ) -> Self {
        let mut client = Self::silent(scene, args, server);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    /// A plain client: with a handshake, without a model.
    pub(crate) fn plain(scene: &Scene) -> Self {
        Self::legacy(scene, &[], None, &json!({}))
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin
            .write_all(line.as_bytes())
            .and_then(|()| stdin.write_all(b"\n"))
            .and_then(|()| stdin.flush())
            .unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.n_sent += 1;
        if let Some(meta) = &self.meta {
            let own = params["_meta"].take();
            let mut meta = meta.clone();
            for (name, value) in own.as_object().into_iter().flatten() {
                meta[name] = value.clone();
            }
            params["_meta"] = meta;
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.n_sent, "method": method, "params": params }));
        self.n_sent
    }

    /// The next line from the server.
    pub(crate) fn next(&mut self) -> Value {
        self.lines.recv_timeout(Duration::from_mins(1)).expect("the server says nothing")
    }

    /// The response to a request; other messages are kept.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.next();
            if line["id"] == id && line.get("method").is_none() {
                return line;
            }
            self.notices.push(line);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// The text of a tool's response; a failure is marked.
    pub(crate) fn text(&mut self, tool: &str, arguments: &Value) -> String {
        text_of(&self.call(tool, arguments))
    }

    /// The data of a tool's response.
    pub(crate) fn data(&mut self, tool: &str, arguments: &Value) -> Value {
        self.call(tool, arguments)["structuredContent"].clone()
    }

    /// The next request from the server; earlier messages are kept.
    pub(crate) fn asked(&mut self) -> Value {
        loop {
            let line = self.next();
            if line.get("method").is_some() && line.get("id").is_some() {
                return line;
            }
            self.notices.push(line);
        }
    }

    /// Closes standard input and waits. Returns the exit code and standard error.
    pub(crate) fn close(mut self) -> (i32, String) {
        drop(self.stdin.take());
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (code, stderr)
    }

    /// Kills the server.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // A failed test leaves no server behind.
        if std::thread::panicking() {
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

pub(crate) fn text_of(result: &Value) -> String {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    if result["isError"] == true { format!("FAILED {text}") } else { text.to_owned() }
}
