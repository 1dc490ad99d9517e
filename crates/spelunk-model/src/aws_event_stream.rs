//! The binary event stream of AWS, parsed incrementally: length, headers, payload, and a checksum over each part. A
//! frame is returned as the JSON text `{"<event>": <payload>}`, so that a decoder reads it like any other event.

use crate::event_parser::{EventParser, StreamFault};

const PRELUDE_BYTES: usize = 12;

const FRAME_BYTES_MIN: usize = 16;

#[derive(Debug)]
pub(crate) struct EventStreamParser {
    frame_bytes_max: usize,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that belong to finished frames.
    consumed: usize,
}

impl EventStreamParser {
    pub(crate) fn new(frame_bytes_max: usize) -> Self {
        Self { frame_bytes_max, buffer: Vec::new(), consumed: 0 }
    }
}

impl EventParser for EventStreamParser {
    fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        self.buffer.extend_from_slice(bytes);
    }

    fn next_event(&mut self) -> Option<Result<String, StreamFault>> {
        let rest = self.buffer.get(self.consumed..).unwrap_or_default();
        let prelude = rest.get(..PRELUDE_BYTES)?;
        let frame_len = match checked_len(prelude, self.frame_bytes_max) {
            Ok(frame_len) => frame_len,
            Err(fault) => return Some(Err(fault)),
        };
        let frame = rest.get(..frame_len)?;
        let event = event_of(frame);
        self.consumed += frame_len;
        Some(event)
    }
}

/// The prelude must be complete. Numbers are big-endian.
fn checked_len(prelude: &[u8], frame_bytes_max: usize) -> Result<usize, StreamFault> {
    if number(prelude, 8) != Some(crc32fast::hash(prelude.get(..8).unwrap_or_default())) {
        return Err(StreamFault::Damaged("the checksum of its header does not match"));
    }
    let frame_len = number(prelude, 0).unwrap_or(0) as usize;
    if frame_len > frame_bytes_max {
        return Err(StreamFault::TooLong);
    }
    let headers_len = number(prelude, 4).unwrap_or(0) as usize;
    if frame_len < FRAME_BYTES_MIN || headers_len > frame_len - FRAME_BYTES_MIN {
        return Err(StreamFault::Damaged("its lengths are inconsistent"));
    }
    Ok(frame_len)
}

/// The lengths of the frame must have been checked.
fn event_of(frame: &[u8]) -> Result<String, StreamFault> {
    let damaged = StreamFault::Damaged("its lengths are inconsistent");
    let body_end = frame.len().checked_sub(4).ok_or(damaged)?;
    let (checked, checksum) = frame.split_at_checked(body_end).ok_or(damaged)?;
    if number(checksum, 0) != Some(crc32fast::hash(checked)) {
        return Err(StreamFault::Damaged("its checksum does not match"));
    }
    let headers_len = number(frame, 4).ok_or(damaged)? as usize;
    let headers_end = PRELUDE_BYTES.checked_add(headers_len).ok_or(damaged)?;
    let names = FrameHeaders::read(checked.get(PRELUDE_BYTES..headers_end).ok_or(damaged)?)?;
    let payload = checked.get(headers_end..).ok_or(damaged)?;
    let payload = str::from_utf8(payload).map_err(|_| StreamFault::NotUtf8)?;
    // An error without a payload is described by its headers alone.
    let (name, payload) = match (&names.event, &names.exception, &names.error) {
        (_, Some(exception), _) => (exception.as_str(), payload.to_owned()),
        (_, None, Some(code)) => {
            (code.as_str(), serde_json::json!({ "message": names.error_message }).to_string())
        }
        (Some(event), None, None) => (event.as_str(), payload.to_owned()),
        (None, None, None) => return Err(StreamFault::Damaged("it has no event type")),
    };
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(StreamFault::Damaged("its event type is not valid"));
    }
    let payload = if payload.trim().is_empty() { "{}" } else { &payload };
    Ok(format!("{{\"{name}\":{payload}}}"))
}

#[derive(Debug, Default)]
struct FrameHeaders {
    event: Option<String>,
    exception: Option<String>,
    error: Option<String>,
    error_message: Option<String>,
}

impl FrameHeaders {
    fn read(mut headers: &[u8]) -> Result<Self, StreamFault> {
        let damaged = StreamFault::Damaged("a header is not valid");
        let mut names = Self::default();
        while !headers.is_empty() {
            let (name_len, rest) = headers.split_first().ok_or(damaged)?;
            let (name, rest) = rest.split_at_checked(usize::from(*name_len)).ok_or(damaged)?;
            let (kind, rest) = rest.split_first().ok_or(damaged)?;
            let (value, rest) = split_value(*kind, rest).ok_or(damaged)?;
            headers = rest;
            let text = || str::from_utf8(value).map(str::to_owned).map_err(|_| StreamFault::NotUtf8);
            match name {
                b":event-type" => names.event = Some(text()?),
                b":exception-type" => names.exception = Some(text()?),
                b":error-code" => names.error = Some(text()?),
                b":error-message" => names.error_message = Some(text()?),
                _ => {}
            }
        }
        Ok(names)
    }
}

fn split_value(kind: u8, rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let value_len = match kind {
        // True and false have no value.
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        9 => 16,
        // Bytes and strings have a length prefix.
        6 | 7 => {
            let (high_low, rest) = rest.split_at_checked(2)?;
            let value_len = u16::from_be_bytes(high_low.try_into().ok()?);
            return rest.split_at_checked(usize::from(value_len));
        }
        _ => return None,
    };
    rest.split_at_checked(value_len)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
