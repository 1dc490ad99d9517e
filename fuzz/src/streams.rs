//! Provider streams: any split of the bytes gives the same events and the same end. What another node of a fleet sends is
//! here, too.

use serde_json::Value;
use spelunk_model::fuzzing::{frame_events, sse_events};
use spelunk_model::{read_call, read_piece, write_call, write_piece};

use crate::choice::{body_of, number_of, pieces};

/// Limits, the first so low that inputs exceed it.
const BYTES_MAX: [usize; 2] = [200, 1 << 20];

/// Server-sent events.
pub(crate) fn sse(data: &[u8]) {
    let (number, body) = (number_of(data), body_of(data));
    for bytes_max in BYTES_MAX {
        let (events, fault) = sse_events(&[body], bytes_max);
        assert_eq!(sse_events(&pieces(number, body), bytes_max), (events.clone(), fault), "any cutting");
        assert!(events.iter().all(|event| event.len() <= bytes_max), "no event is too long");
        let n_bytes: usize = events.iter().map(String::len).sum();
        assert!(n_bytes <= body.len(), "no more than was sent");
    }
}

/// A call from another node, or a piece of its reply: what can be read is read again as the same.
pub(crate) fn remote(data: &[u8]) {
    let body = body_of(data);
    if let Some((prompt, call)) = read_call(body) {
        assert_eq!(read_call(&write_call(&prompt, &call)), Some((prompt, call)));
    }
    if let Some(piece) = read_piece(body) {
        assert_eq!(read_piece(&write_piece(&piece)), Some(piece));
    }
}

/// The event stream of AWS: the bytes as they are, and as frames with valid checksums. A line is a frame: a name, `|`,
/// and the payload, or the bytes of the headers instead of the name.
pub(crate) fn frames(data: &[u8]) {
    let (number, body) = (number_of(data), body_of(data));
    check(number, body);
    let (mut named, mut raw) = (Vec::new(), Vec::new());
    for line in body.split(|byte| *byte == b'\n') {
        let at = line.iter().position(|byte| *byte == b'|').unwrap_or(line.len());
        let (head, payload) = (&line[..at], line.get(at + 1..).unwrap_or_default());
        let head = &head[..head.len().min(255)];
        let mut header = b"\x0b:event-type\x07\0".to_vec();
        header.push(u8::try_from(head.len()).expect("it was cut"));
        header.extend_from_slice(head);
        let frame = frame(&header, payload);
        check_named(head, payload, &frame);
        named.extend(frame);
        raw.extend(self::frame(head, payload));
    }
    check(number, &named);
    check(number, &raw);
}

fn check(number: u64, bytes: &[u8]) {
    for bytes_max in BYTES_MAX {
        let (events, fault) = frame_events(&[bytes], bytes_max);
        assert!(events.iter().all(|event| event.starts_with("{\"") && event.ends_with('}')));
        assert_eq!(frame_events(&pieces(number, bytes), bytes_max), (events, fault), "any cutting");
    }
}

/// A name of letters and a JSON payload give an event with that name and payload.
fn check_named(name: &[u8], payload: &[u8], frame: &[u8]) {
    let Ok(expected) = serde_json::from_slice::<Value>(payload) else { return };
    let (events, fault) = frame_events(&[frame], 1 << 20);
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    assert_eq!((events.len(), fault.is_none()), (usize::from(is_name), is_name), "{fault:?}");
    for event in events {
        let event: Value = serde_json::from_str(&event).expect("JSON in JSON");
        let name = str::from_utf8(name).expect("it is ASCII");
        assert_eq!(event[name], expected);
    }
}

fn frame(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let number = |len: usize| u32::try_from(len).expect("inputs are short").to_be_bytes();
    let mut frame = number(headers.len() + payload.len() + 16).to_vec();
    frame.extend(number(headers.len()));
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame.extend_from_slice(headers);
    frame.extend_from_slice(payload);
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame
}
