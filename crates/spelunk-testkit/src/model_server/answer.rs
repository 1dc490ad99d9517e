//! From a request to the bytes of its response: good replies and every fault.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;

use super::book::{Recorded, ServerState};
use super::http::Connection;
use super::traffic;
use crate::dialect::{Dialect, ScriptedReply, Streamed, model_list, prompt_of, vectors};
use crate::fault::{Fault, StatusFault};

/// What happens to the connection after a response.
enum After {
    Keep(Connection),
    Close,
}

/// The size of one piece of a long reply.
const LONG_PIECE_BYTES: usize = 65_536;

/// Serves one connection until either side closes it. A client that leaves early is not an error.
pub(super) async fn serve(stream: TcpStream, book: Arc<ServerState>) {
    let Ok(mut connection) = Connection::new(stream) else { return };
    while let Ok(Some(request)) = connection.read_request().await {
        match answer(connection, &book, request).await {
            Ok(After::Keep(kept)) => connection = kept,
            Ok(After::Close) | Err(_) => return,
        }
    }
}

struct Exchange<'a> {
    book: &'a ServerState,
    call: Option<String>,
    dialect: Dialect,
    is_streamed: bool,
    spoken: ScriptedReply,
}

async fn answer(mut connection: Connection, book: &ServerState, request: Recorded) -> io::Result<After> {
    let body = request.json();
    let other = SideRequest::of(&request, &body);
    let call = other.as_ref().map(|other| other.name.to_owned()).or_else(|| request.call.clone());
    let prompt = prompt_of(&body);
    let found = book.receive(&request, call.as_deref(), &prompt);
    if let (None | Some((None, ..)), Some(other)) = (&found, &other) {
        connection.respond(200, "application/json", &[], other.body.to_string().as_bytes()).await?;
        return Ok(After::Keep(connection));
    }
    let dialect = if other.is_some() { Some(Dialect::OpenAi) } else { Dialect::of_path(&request.path) };
    let (Some((fault, text, manner)), Some(dialect)) = (found, dialect) else {
        return refuse(connection, book, request).await;
    };
    wait(manner.delay_ms).await;
    let spoken = ScriptedReply {
        model: body["model"].as_str().unwrap_or("scripted").to_owned(),
        usage: manner.usage_of(&prompt, &text),
        text,
        manner,
        with_usage: body["stream_options"]["include_usage"] == Value::Bool(true),
        with_logprobs: body["logprobs"] == Value::Bool(true),
    };
    let is_streamed = dialect.is_streamed(&request.path, &body);
    traffic::keep(dialect, &request, is_streamed, fault.is_none().then_some(&spoken));
    let exchange = Exchange { book, call, dialect, is_streamed, spoken };
    match fault {
        Some(fault) => exchange.fail(connection, fault).await,
        None => exchange.reply(connection).await,
    }
}

/// Answers a request that no rule matches with a message that appears in the test's failure.
async fn refuse(mut connection: Connection, book: &ServerState, request: Recorded) -> io::Result<After> {
    let name = request.call.as_deref().unwrap_or("a request without a call");
    let message = format!("no rule of the script answers {name} to `{}`", request.path);
    let dialect = Dialect::of_path(&request.path).unwrap_or(Dialect::OpenAi);
    let body = dialect.error_body(418, &message, None).to_string();
    book.refuse(request);
    connection.respond(418, "application/json", &[], body.as_bytes()).await?;
    Ok(After::Keep(connection))
}

impl Exchange<'_> {
    async fn reply(self, connection: Connection) -> io::Result<After> {
        if !self.is_streamed {
            return self.send_whole(connection).await;
        }
        let streamed = self.dialect.streamed(&self.spoken);
        self.send_streamed(connection, streamed).await
    }

    async fn fail(mut self, mut connection: Connection, fault: Fault) -> io::Result<After> {
        match fault {
            Fault::Status(status) => self.send_status(connection, &status).await,
            Fault::HangUp => Ok(After::Close),
            Fault::StallBeforeHeaders => {
                self.pass_gate().await;
                connection.wait_for_leave().await?;
                Ok(After::Close)
            }
            Fault::WrongContentType => {
                let page = b"<html><body>This is not the page you are looking for.</body></html>";
                connection.respond(200, "text/html; charset=utf-8", &[], page).await?;
                Ok(After::Keep(connection))
            }
            Fault::Raw { content_type, body } => {
                connection.respond(200, content_type, &[], &body).await?;
                Ok(After::Keep(connection))
            }
            Fault::NotStreamed => self.send_whole(connection).await,
            Fault::DuplicateDeltas => {
                let Streamed { head, pieces, tail } = self.dialect.streamed(&self.spoken);
                let twice = |events: Vec<Vec<u8>>| events.into_iter().map(|event| event.repeat(2)).collect();
                let streamed = Streamed { head: twice(head), pieces: twice(pieces), tail: twice(tail) };
                self.send_streamed(connection, streamed).await
            }
            Fault::LongReply { bytes } => {
                self.spoken.text = "x".repeat(bytes);
                self.spoken.manner.n_chunks = bytes.div_ceil(LONG_PIECE_BYTES).max(1);
                self.spoken.usage.output_tokens = bytes.div_ceil(4) as u64;
                self.reply(connection).await
            }
            Fault::StallMidStream => {
                self.send_beginning(&mut connection).await?;
                connection.wait_for_leave().await?;
                Ok(After::Close)
            }
            Fault::CutStream => self.end_with(connection, b"").await,
            Fault::MalformedJson => {
                let event = self.dialect.raw_event(b"{\"type\": ");
                self.end_with(connection, &event).await
            }
            Fault::InvalidUtf8 => {
                let event = self.dialect.raw_event(b"{\"type\": \"\xff\xfe\"}");
                self.end_with(connection, &event).await
            }
            Fault::ErrorEvent { status } => {
                let event = self.dialect.error_event(status);
                self.end_with(connection, &event).await
            }
            Fault::AbortStream => {
                self.send_beginning(&mut connection).await?;
                connection.reset()?;
                Ok(After::Close)
            }
        }
    }

    async fn send_status(self, mut connection: Connection, fault: &StatusFault) -> io::Result<After> {
        let body = self.dialect.error_body(fault.status, &fault.message, fault.code.as_deref()).to_string();
        connection.respond(fault.status, "application/json", &fault.headers, body.as_bytes()).await?;
        Ok(After::Keep(connection))
    }

    async fn send_whole(self, mut connection: Connection) -> io::Result<After> {
        let body = self.dialect.whole(&self.spoken).to_string();
        self.book.serve(self.call.as_deref(), self.spoken.usage);
        connection.respond(200, "application/json", &[], body.as_bytes()).await?;
        Ok(After::Keep(connection))
    }

    async fn send_streamed(self, mut connection: Connection, streamed: Streamed) -> io::Result<After> {
        if self.spoken.manner.is_at_once {
            let Streamed { head, pieces, tail } = streamed;
            let body = [head, pieces, tail].concat().concat();
            self.book.serve(self.call.as_deref(), self.spoken.usage);
            connection.respond(200, self.dialect.stream_type(), &[], &body).await?;
            return Ok(After::Keep(connection));
        }
        connection.open_stream(self.dialect.stream_type()).await?;
        connection.send_piece(&streamed.head.concat()).await?;
        for (piece_idx, piece) in streamed.pieces.iter().enumerate() {
            if piece_idx == 1 {
                self.pass_gate().await;
            }
            if piece_idx > 0 {
                wait(self.spoken.manner.pace_ms).await;
            }
            connection.send_piece(piece).await?;
        }
        if streamed.pieces.len() <= 1 {
            self.pass_gate().await;
        }
        self.book.serve(self.call.as_deref(), self.spoken.usage);
        connection.close_stream(&streamed.tail.concat()).await?;
        Ok(After::Keep(connection))
    }

    /// Sends headers and the first piece, then waits at the gate.
    async fn send_beginning(&self, connection: &mut Connection) -> io::Result<()> {
        let streamed = self.dialect.streamed(&self.spoken);
        connection.open_stream(self.dialect.stream_type()).await?;
        connection.send_piece(&streamed.head.concat()).await?;
        connection.send_piece(streamed.pieces.first().map_or(b"".as_slice(), Vec::as_slice)).await?;
        self.pass_gate().await;
        Ok(())
    }

    /// Sends the beginning, this event, and ends the body cleanly.
    async fn end_with(self, mut connection: Connection, event: &[u8]) -> io::Result<After> {
        self.send_beginning(&mut connection).await?;
        connection.close_stream(event).await?;
        Ok(After::Keep(connection))
    }

    async fn pass_gate(&self) {
        if let Some(gate) = &self.spoken.manner.gate {
            gate.pass().await;
        }
    }
}

/// A request for something other than a reply: answered without a rule, or with a rule's fault.
struct SideRequest {
    name: &'static str,
    body: Value,
}

impl SideRequest {
    fn of(request: &Recorded, body: &Value) -> Option<Self> {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", path) if path.split('?').next() == Some("/v1/models") => {
                Some(Self { name: "models", body: model_list() })
            }
            ("POST", "/v1/embeddings") => Some(Self { name: "embed", body: vectors(body) }),
            _ => None,
        }
    }
}

/// A wait of zero uses no timer: timers have millisecond resolution.
async fn wait(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
