//! Appends to the journal of a run. Each message names its predecessor, so that a writer that lost its
//! lease unnoticed cannot write. Each has an id, so that it can be sent again if no answer comes.

use std::time::Instant;

use async_nats::HeaderMap;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use bytes::Bytes;
use spelunk_types::RunId;

use crate::{AGAIN, Fleet, FleetError, Result, refused};

/// The error codes of a full store.
const FULL: [ErrorCode; 4] = [
    ErrorCode::STREAM_STORE_FAILED,
    ErrorCode::STORAGE_RESOURCES_EXCEEDED,
    ErrorCode::INSUFFICIENT_RESOURCES,
    ErrorCode::ACCOUNT_RESOURCES_EXCEEDED,
];
/// The space reserved for the headers of a message.
const HEADERS_BYTES: usize = 512;

/// What to do after a message was not acknowledged.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// It is unknown whether it was stored: send it again.
    Again,
    /// A message is in its place: look whether it is this one.
    Look,
    /// It will never be stored.
    Stop,
}

impl Fleet {
    /// The largest payload of a message.
    pub(crate) fn message_bytes_max(&self) -> usize {
        self.inner.payload_max.saturating_sub(HEADERS_BYTES)
    }

    /// Appends after message `seq_before` (0 if the journal is empty), at `offset` bytes. Returns the
    /// number of the new message. Blocking.
    pub(crate) fn publish(&self, run: &RunId, (seq_before, offset): (u64, u64), bytes: &[u8]) -> Result<u64> {
        let (run, bytes) = (run.clone(), Bytes::copy_from_slice(bytes));
        self.wait(|fleet| async move { fleet.publish_until_stored(run, seq_before, offset, bytes).await })
    }

    async fn publish_until_stored(
        &self,
        run: RunId,
        seq_before: u64,
        offset: u64,
        bytes: Bytes,
    ) -> Result<u64> {
        let subject = self.subject_of(&run);
        let id = format!("{run}/{offset}/{}", self.inner.writer);
        let began = Instant::now();
        loop {
            let message = PublishMessage::build()
                .payload(bytes.clone())
                .message_id(&id)
                .expected_last_subject_sequence(seq_before);
            let sent = match self.connected().context.send_publish(subject.clone(), message).await {
                Ok(acknowledged) => acknowledged.await,
                Err(error) => Err(error),
            };
            let error = match sent {
                Ok(stored) => return Ok(stored.sequence),
                Err(error) => error,
            };
            match next(&error) {
                Next::Stop => return Err(FleetError::Full { why: reason(&error) }),
                Next::Look => match self.last_message(&subject).await {
                    Ok(Some((seq, headers))) if is_ours(&headers, &id) => return Ok(seq),
                    Ok(_) => return Err(FleetError::TakenOver { run }),
                    Err(_) => {}
                },
                Next::Again => {}
            }
            let what = "store an event".to_owned();
            let error =
                self.explained(FleetError::Silent { what, seconds: began.elapsed().as_secs() }, began);
            let may_wait = !self.is_closing() && began.elapsed() < self.inner.options.outage_max;
            if !(may_wait && matches!(error, FleetError::Silent { .. })) {
                return Err(error);
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// The number and headers of the last message of a subject, read from the leader of the stream.
    pub(crate) async fn last_message(&self, subject: &str) -> Result<Option<(u64, HeaderMap)>> {
        use async_nats::jetstream::stream::LastRawMessageErrorKind;
        match self.connected().journal.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some((message.sequence, message.headers))),
            Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
            Err(error) => Err(refused("read a journal")(error)),
        }
    }
}

fn is_ours(headers: &HeaderMap, id: &str) -> bool {
    headers.get(NATS_MESSAGE_ID).is_some_and(|there| there.as_str() == id)
}

fn next(error: &PublishError) -> Next {
    match error.kind() {
        PublishErrorKind::WrongLastSequence | PublishErrorKind::WrongLastMessageId => Next::Look,
        PublishErrorKind::MaxPayloadExceeded => Next::Stop,
        PublishErrorKind::StreamNotFound
        | PublishErrorKind::TimedOut
        | PublishErrorKind::BrokenPipe
        | PublishErrorKind::MaxAckPending => Next::Again,
        PublishErrorKind::Other => match jetstream_error(error) {
            // A sole writer sometimes gets this while the leader changes.
            Some(error) if error.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT => {
                Next::Again
            }
            Some(error) if FULL.contains(&error.error_code()) => Next::Stop,
            Some(error) if error.code() >= 500 => Next::Again,
            Some(_) => Next::Stop,
            None => Next::Again,
        },
    }
}

/// Whether an error message of the client contains a code of a full store.
pub(crate) fn says_full(text: &str) -> bool {
    let code = text.rsplit_once("error code ").and_then(|(_, code)| code.trim_end_matches(')').parse().ok());
    code.is_some_and(|code| FULL.contains(&ErrorCode(code)))
}

fn jetstream_error(error: &PublishError) -> Option<&JetStreamError> {
    std::error::Error::source(error).and_then(|source| source.downcast_ref())
}

fn reason(error: &PublishError) -> String {
    jetstream_error(error).map_or_else(|| error.to_string(), ToString::to_string)
}
