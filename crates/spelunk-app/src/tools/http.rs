//! The HTTP client for MCP servers. The library's own client bounds the events of a stream, but not
//! a reply that is a single JSON body; this one bounds both.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of message needs no reply")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

#[derive(Clone)]
pub(super) struct BoundedClient {
    pub(super) client: Client,
    pub(super) bytes_max: usize,
}

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let accepted = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut request = self.client.post(uri.as_ref()).header(ACCEPT, accepted).json(&message);
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        if let Some(session) = &session_id {
            request = request.header(HEADER_SESSION_ID, session.as_ref());
        }
        let response = request.send().await?;
        let status = response.status();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (session, kind) = (header(HEADER_SESSION_ID), header(CONTENT_TYPE.as_str()).unwrap_or_default());
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if session_id.is_some() => return Err(StreamableHttpError::SessionExpired),
            _ if !status.is_success() => {
                let body = self.read(response).await?;
                return refused(&message, session_id.is_some(), status, &body);
            }
            _ => {}
        }
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        let body = self.read(response).await?;
        match serde_json::from_slice(&body) {
            Ok(reply) => Ok(StreamableHttpPostResponse::Json(reply, session)),
            // Nobody waits for a reply to anything but a request.
            Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(unexpected(format!("it is not a message: {error}"))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failed> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Failed> {
        let (client, bytes_max) = (&self.client, self.bytes_max);
        let opening = client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            bytes_max,
        );
        opening.await
    }
}

impl BoundedClient {
    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Failed> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await? {
            if body.len() + piece.len() > self.bytes_max {
                return Err(unexpected(format!("it has more than {} bytes", self.bytes_max)));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// The events of a response. An event ends with an empty line.
    fn events(&self, response: Response) -> Events {
        let (bytes_max, mut n_bytes, mut is_line_empty) = (self.bytes_max, 0, true);
        let pieces = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(io::Error::other)?;
            for byte in &piece {
                n_bytes = if *byte == b'\n' && is_line_empty { 0 } else { n_bytes + 1 };
                is_line_empty = matches!(byte, b'\n') || (is_line_empty && *byte == b'\r');
            }
            if n_bytes > bytes_max {
                return Err(io::Error::other(format!("an event has more than {bytes_max} bytes")));
            }
            Ok(piece)
        });
        SseStream::from_bytes_stream(pieces).boxed()
    }
}

fn unexpected(why: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why))
}

/// A refusal may be a JSON-RPC error. A server of the older era may reject `server/discover` in any
/// form, and is then asked to initialize.
fn refused(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    status: StatusCode,
    body: &[u8],
) -> Result<StreamableHttpPostResponse, Failed> {
    let is_access = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let said = match serde_json::from_slice(body) {
        Ok(ServerJsonRpcMessage::Error(said)) if !is_access => Some(said),
        _ => None,
    };
    let discovers = match message {
        ClientJsonRpcMessage::Request(request) if !has_session && status.is_client_error() && !is_access => {
            matches!(request.request, ClientRequest::DiscoverRequest(_)).then(|| request.id.clone())
        }
        _ => None,
    };
    let refused = || ErrorData::invalid_request(format!("HTTP {status}"), None);
    match (discovers, said) {
        (Some(id), said) => {
            let error = ServerJsonRpcMessage::error(said.map_or_else(refused, |said| said.error), Some(id));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        (None, Some(said)) => Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(said), None)),
        (None, None) => Err(unexpected(format!("HTTP {status}"))),
    }
}
