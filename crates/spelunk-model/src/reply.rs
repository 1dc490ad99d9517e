//! From a request to a stream of deltas: status, content type, events, end. Each provider has a decoder that interprets
//! the events.

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::stream;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;

use crate::error_mapping::{RequestContext, retry_after};
use crate::event_parser::{EVENT_BYTES_MAX, EventParser, StreamFault};
use crate::http::deepest_cause;
use crate::sse::SseParser;
use crate::wire::error::ProviderError;
use crate::{ModelDelta, ModelError, ModelStream, Price, Secret};

/// For replies that are no streams.
const BODY_BYTES_MAX: usize = 16_000_000;

const ERROR_BODY_BYTES_MAX: usize = 65_536;

/// Decodes one provider's format. A `Done` delta ends the reply; the cost is filled in later.
pub(crate) trait Decode: Send + 'static {
    const STREAM_TYPE: &'static str = "text/event-stream";

    fn parser() -> Box<dyn EventParser> {
        Box::new(SseParser::new(EVENT_BYTES_MAX))
    }

    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault>;

    /// The stream ended without `Done`.
    fn end(&mut self) -> Result<Vec<ModelDelta>, ReplyFault> {
        Err(ReplyFault::Cut)
    }

    /// A complete reply from a server that does not stream.
    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault>;
}

impl From<StreamFault> for ReplyFault {
    fn from(fault: StreamFault) -> Self {
        match fault {
            StreamFault::NotUtf8 => Self::Malformed("an event is not UTF-8".to_owned()),
            StreamFault::TooLong => Self::TooLong(EVENT_BYTES_MAX),
            StreamFault::Damaged(what) => Self::Malformed(format!("a frame is damaged: {what}")),
        }
    }
}

pub(crate) fn parse_event<T: DeserializeOwned>(data: &str) -> Result<T, ReplyFault> {
    serde_json::from_str(data)
        .map_err(|error| ReplyFault::Malformed(format!("an event is not valid: {error}")))
}

pub(crate) fn parse_whole<T: DeserializeOwned>(body: &str) -> Result<T, ReplyFault> {
    serde_json::from_str(body)
        .map_err(|error| ReplyFault::Malformed(format!("the reply is not valid: {error}")))
}

/// A piece of the answer, unless it is empty.
pub(crate) fn text_delta(text: String) -> Option<ModelDelta> {
    (!text.is_empty()).then_some(ModelDelta::Text(text))
}

/// A piece of the reasoning, unless it is empty.
pub(crate) fn reasoning_delta(text: String) -> Option<ModelDelta> {
    (!text.is_empty()).then_some(ModelDelta::Reasoning(text))
}

/// A fault found by a decoder, before the provider's details are added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplyFault {
    /// Not in the provider's format.
    Malformed(String),
    Cut,
    /// The provider reported an error inside the stream; this is its status outside of one.
    Refused(u16, ProviderError),
    /// Something in it exceeds this limit in bytes.
    TooLong(usize),
}

/// A request that is sent when its signing keys or the like have been fetched.
pub(crate) type Unsent = Pin<Box<dyn Future<Output = Result<Prepared, ModelError>> + Send>>;

pub(crate) struct Prepared {
    pub(crate) request: RequestBuilder,
    /// Secrets in it that no error may quote.
    pub(crate) secrets: Vec<Secret>,
}

pub(crate) fn stream_reply<D: Decode>(
    request: Unsent,
    context: RequestContext,
    price: Option<Price>,
    decoder: D,
) -> ModelStream {
    let source = Source::Unsent(request);
    let reader = ReplyReader { context, price, decoder, ready: VecDeque::new(), owes_sign: false, source };
    Box::pin(stream::try_unfold(reader, ReplyReader::advance))
}

/// The response to a request; anything but a 200 is an error.
pub(crate) async fn accept(
    sent: reqwest::Result<Response>,
    context: &RequestContext,
) -> Result<Response, ModelError> {
    let response = sent.map_err(|error| context.unreachable(&deepest_cause(&error)))?;
    let status = response.status();
    if status == StatusCode::OK {
        return Ok(response);
    }
    let retry_after = retry_after(response.headers());
    let (body, _) = read_body(response, ERROR_BODY_BYTES_MAX).await;
    let said = ProviderError::of_body(&String::from_utf8_lossy(&body));
    Err(context.refused(status.as_u16(), retry_after, &said))
}

/// The JSON text of a response that is not streamed.
pub(crate) async fn read_json(response: Response, context: &RequestContext) -> Result<String, ModelError> {
    let content_type = content_type(response.headers());
    if content_type != "application/json" {
        return Err(context.malformed(&format!("its content type is `{content_type}`")));
    }
    read_text(response, context).await
}

async fn read_text(response: Response, context: &RequestContext) -> Result<String, ModelError> {
    match read_body(response, BODY_BYTES_MAX).await {
        (bytes, BodyEnd::Whole) => String::from_utf8(bytes).map_err(|_| context.malformed("it is not UTF-8")),
        (_, BodyEnd::TooLong) => Err(ModelError::ReplyTooLong { bytes_max: BODY_BYTES_MAX as u64 }),
        (_, BodyEnd::Cut) => Err(ModelError::StreamCut),
    }
}

/// The content type without its parameters, in lower case.
fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

struct ReplyReader<D> {
    context: RequestContext,
    price: Option<Price>,
    decoder: D,
    ready: VecDeque<ModelDelta>,
    /// Whether bytes arrived since the last delta.
    owes_sign: bool,
    source: Source,
}

enum Source {
    Unsent(Unsent),
    Events(Response, Box<dyn EventParser>),
    Ended,
}

impl<D: Decode> ReplyReader<D> {
    async fn advance(mut self) -> Result<Option<(ModelDelta, Self)>, ModelError> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Ok(Some((self.delivered(delta), self)));
            }
            self = match std::mem::replace(&mut self.source, Source::Ended) {
                Source::Unsent(request) => self.open(request).await?,
                Source::Events(response, parser) => self.read_on(response, parser).await?,
                Source::Ended => return Ok(None),
            };
        }
    }

    /// Fills in the cost. Nothing is read after the end.
    fn delivered(&mut self, delta: ModelDelta) -> ModelDelta {
        let ModelDelta::Done { stop, mut usage } = delta else { return delta };
        self.source = Source::Ended;
        self.ready.clear();
        // Without a known price, the cost that the provider reported is kept.
        if let (Some(usage), Some(price)) = (&mut usage, self.price) {
            usage.cost_microusd = price.cost_microusd(usage);
        }
        ModelDelta::Done { stop, usage }
    }

    async fn open(mut self, unsent: Unsent) -> Result<Self, ModelError> {
        let Prepared { request, secrets } = unsent.await?;
        self.context.keys.extend(secrets);
        let response = accept(request.send().await, &self.context).await?;
        match content_type(response.headers()).as_str() {
            streamed if streamed == D::STREAM_TYPE => {
                self.source = Source::Events(response, D::parser());
            }
            "application/json" => {
                let body = read_text(response, &self.context).await?;
                let deltas = self.decoder.whole(&body);
                self.take(deltas)?;
            }
            "" => return Err(self.context.malformed("it has no content type")),
            other => return Err(self.context.malformed(&format!("its content type is `{other}`"))),
        }
        Ok(self)
    }

    /// Decodes the next event, or waits for more bytes. Bytes that yield no delta yet (a partial tool call, a ping, a
    /// comment) produce a sign of life: without it, a silence timeout would cut a model off in the middle of a long
    /// call. At most one is emitted per read.
    async fn read_on(
        mut self,
        mut response: Response,
        mut parser: Box<dyn EventParser>,
    ) -> Result<Self, ModelError> {
        match parser.next_event() {
            Some(Ok(data)) => {
                let deltas = self.decoder.event(&data);
                self.take(deltas)?;
                self.source = Source::Events(response, parser);
            }
            Some(Err(fault)) => self.take(Err(fault.into()))?,
            None if std::mem::take(&mut self.owes_sign) => {
                self.ready.push_back(ModelDelta::Reasoning(String::new()));
                self.source = Source::Events(response, parser);
            }
            None => match response.chunk().await {
                Ok(Some(bytes)) => {
                    parser.push(&bytes);
                    self.owes_sign = true;
                    self.source = Source::Events(response, parser);
                }
                // A connection that breaks after everything important arrived counts as an end.
                Ok(None) | Err(_) => self.close(parser.finish())?,
            },
        }
        Ok(self)
    }

    fn close(&mut self, last_event: Option<String>) -> Result<(), ModelError> {
        if let Some(data) = last_event {
            let deltas = self.decoder.event(&data);
            self.take(deltas)?;
        }
        let is_done = self.ready.iter().any(|delta| matches!(delta, ModelDelta::Done { .. }));
        if !is_done {
            let deltas = self.decoder.end();
            self.take(deltas)?;
        }
        Ok(())
    }

    fn take(&mut self, deltas: Result<Vec<ModelDelta>, ReplyFault>) -> Result<(), ModelError> {
        match deltas {
            Ok(deltas) => {
                self.owes_sign &= deltas.is_empty();
                self.ready.extend(deltas);
                Ok(())
            }
            Err(ReplyFault::Malformed(detail)) => Err(self.context.malformed(&detail)),
            Err(ReplyFault::Cut) => Err(ModelError::StreamCut),
            Err(ReplyFault::Refused(status, said)) => Err(self.context.refused(status, None, &said)),
            Err(ReplyFault::TooLong(bytes_max)) => {
                Err(ModelError::ReplyTooLong { bytes_max: bytes_max as u64 })
            }
        }
    }
}

enum BodyEnd {
    Whole,
    TooLong,
    Cut,
}

async fn read_body(mut response: Response, bytes_max: usize) -> (Vec<u8>, BodyEnd) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) => body.extend_from_slice(&bytes),
            Ok(None) => return (body, BodyEnd::Whole),
            Err(_) => return (body, BodyEnd::Cut),
        }
        if body.len() > bytes_max {
            body.truncate(bytes_max);
            return (body, BodyEnd::TooLong);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
