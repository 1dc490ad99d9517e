//! A minimal client of the server: it writes requests byte by byte if a test needs that, and reads responses and event
//! streams as they arrive.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use spelunk_testkit::ModelServer;

use crate::scene::{QUESTION, Scene, wait_for};

/// Longer than anything in these tests takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    /// Sent with every request.
    pub(crate) token: Option<String>,
}

impl Server {
    pub(crate) fn start(scene: &Scene, args: &[&str], model: Option<&ModelServer>) -> Self {
        let mut call = scene.spelunk(["serve", "--listen", "127.0.0.1:0"]);
        for arg in args {
            call = call.arg(arg);
        }
        if let Some(model) = model {
            call = call.server(model);
        }
        let mut child = call.start();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (lines, stderr) = (Arc::clone(&log), BufReader::new(child.stderr.take().unwrap()));
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        let address = wait_for("the address", || {
            assert!(child.try_wait().unwrap().is_none(), "the server ended: {:?}", log.lock().unwrap());
            let log = log.lock().unwrap();
            log.iter().find_map(|line| line.strip_prefix("listening on http://")?.parse().ok())
        });
        Self { child, address, log, token: None }
    }

    /// A server that was started in another way.
    pub(crate) fn of(child: Child, address: SocketAddr) -> Self {
        Self { child, address, log: Arc::default(), token: None }
    }

    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Its standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// The log once it contains `part`: lines are written after the responses they are about.
    pub(crate) fn log_with(&self, part: &str) -> String {
        let until = std::time::Instant::now() + Duration::from_secs(30);
        while !self.log().contains(part) && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        self.log()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop and returns its exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        let kill = std::process::Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(kill.success());
        self.child.wait().unwrap().code()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        if let Some(token) = &self.token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head
    }

    /// One request on its own connection.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let head = self.head(method, path, headers) + "Connection: close\r\n";
        let length = format!("Content-Length: {}\r\n\r\n", body.len());
        // A server that rejects early closes before it has read everything.
        drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(length.as_bytes())));
        drop(stream.write_all(body));
        Answer::read(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    /// Asks about the notes and returns the run.
    pub(crate) fn ask(&self) -> String {
        self.ask_with(&json!({ "question": QUESTION, "paths": ["notes"] }))
    }

    pub(crate) fn ask_with(&self, request: &Value) -> String {
        let answer = self.post("/v1/runs", request);
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Watches a run to its end.
    pub(crate) fn finish(&self, run: &str) -> Vec<Event> {
        self.watch(run, 0).collect()
    }

    pub(crate) fn watch(&self, run: &str, after: u64) -> Events {
        let mut stream = self.connect();
        let path = format!("/v1/runs/{run}/events");
        let after = after.to_string();
        let mut headers = vec![("Accept", "text/event-stream")];
        if after != "0" {
            headers.push(("Last-Event-ID", &after));
        }
        let head = self.head("GET", &path, &headers);
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        Events::open(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let is_chunked =
            headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let mut bytes = Vec::new();
        if is_chunked {
            while let Some(chunk) = read_chunk(&mut reader) {
                bytes.extend(chunk);
            }
        } else {
            drop(reader.read_to_end(&mut bytes));
        }
        Self { status, headers, body: String::from_utf8(bytes).unwrap() }
    }

    /// Reads a response from a connection that stays open.
    pub(crate) fn read_one(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut bytes = vec![0; length.and_then(|(_, length)| length.parse().ok()).unwrap_or_default()];
        reader.read_exact(&mut bytes).unwrap();
        Self { status, headers, body: String::from_utf8(bytes).unwrap() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The status and the code of a problem.
    #[track_caller]
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.body);
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        for member in ["type", "title", "detail", "code"] {
            assert!(problem[member].is_string(), "{problem}");
        }
        (self.status, problem["code"].as_str().unwrap().to_owned())
    }
}

fn read_head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no answer: {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    (status, headers)
}

/// The next chunk; `None` at the end or if the connection was closed.
fn read_chunk(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    Some(chunk).filter(|_| length > 0)
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) kind: String,
    pub(crate) data: String,
}

/// A stream of events.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    text: String,
}

impl Events {
    fn open(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        assert_eq!(status, 200);
        assert!(headers.contains(&("content-type".into(), "text/event-stream".into())), "{headers:?}");
        Self { reader, text: String::new() }
    }
}

impl Iterator for Events {
    type Item = Event;

    /// Comments are skipped.
    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                let field = |name: &str| {
                    block
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
                };
                if let Some(data) = field("data") {
                    let id = field("id").map(|id| id.parse().unwrap());
                    return Some(Event { id, kind: field("event").unwrap(), data });
                }
            }
            let chunk = read_chunk(&mut self.reader)?;
            self.text += &String::from_utf8(chunk).unwrap();
        }
    }
}

/// The sequence numbers of the recorded events.
pub(crate) fn ids(events: &[Event]) -> Vec<u64> {
    events.iter().filter_map(|event| event.id).collect()
}

/// Sends JSON on a connection that stays open.
pub(crate) fn write_post(stream: &mut TcpStream, path: &str, body: &Value) {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
}

/// Reads until this text has come.
pub(crate) fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while !text.contains(wanted) {
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "it ended: {text}");
        text += &String::from_utf8_lossy(&piece[..n]);
    }
    text
}
