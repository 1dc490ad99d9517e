//! Faults: every way in which a provider can fail, for use in a script.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// One failed attempt. A fault that contains text takes it from the rule's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Fault {
    /// An HTTP status with the provider's error body; see [`status`].
    Status(StatusFault),
    /// The connection is closed after the request was read, without a reply.
    HangUp,
    /// No headers, ever. The gate is notified that the request arrived.
    StallBeforeHeaders,
    /// The first piece, then nothing, ever.
    StallMidStream,
    /// The first piece, then a clean end of the body without the provider's end mark.
    CutStream,
    /// The first piece, then the connection is reset.
    AbortStream,
    /// The first piece, then an event that is not JSON.
    MalformedJson,
    /// The first piece, then an event that is not UTF-8.
    InvalidUtf8,
    /// A web page with status 200.
    WrongContentType,
    /// Every event twice, including the end mark.
    DuplicateDeltas,
    /// A good reply of this many bytes.
    LongReply { bytes: usize },
    /// The first piece, then the error event that corresponds to this status, which it would have had before the stream.
    ErrorEvent { status: u16 },
    /// Exactly this body with status 200, whatever the request was. Does not count as served.
    Raw { content_type: &'static str, body: Vec<u8> },
    /// A good reply as one JSON document, although a stream was requested.
    NotStreamed,
}

/// An HTTP status with the provider's error body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct StatusFault {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) code: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
}

/// A response with this HTTP status and an error body in the provider's format.
pub fn status(status: u16) -> StatusFault {
    StatusFault { status, message: format!("scripted status {status}"), code: None, headers: Vec::new() }
}

impl StatusFault {
    /// Requests a wait in the `retry-after-ms` header.
    pub fn retry_after_ms(self, wait_ms: u64) -> Self {
        self.header("retry-after-ms", &wait_ms.to_string())
    }

    /// Requests a wait in the `retry-after` header.
    pub fn retry_after_s(self, wait_s: u64) -> Self {
        self.header("retry-after", &wait_s.to_string())
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The `error.message` of the body.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The `error.code` of the body (`error.type` in the Anthropic format) instead of the default one for the status.
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}

impl From<StatusFault> for Fault {
    fn from(fault: StatusFault) -> Self {
        Self::Status(fault)
    }
}

/// A port on which nothing listens, while this value exists.
#[derive(Debug)]
pub struct ClosedPort {
    // Bound but never listening: connections are refused, and no other process can take the port meanwhile.
    _socket: TcpSocket,
    address: SocketAddr,
}

impl ClosedPort {
    /// Reserves a port.
    pub fn reserve() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket can be made");
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a loopback port is free");
        let address = socket.local_addr().expect("a bound socket has an address");
        Self { _socket: socket, address }
    }

    /// `http://127.0.0.1:PORT/v1`, where every connection is refused.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}
