//! Private parsers, exposed for the fuzz targets only; not a stable API.

use crate::aws_event_stream::EventStreamParser;
use crate::event_parser::EventParser;
pub use crate::hosted::catalogue_line;
use crate::sse::SseParser;

/// The events in these pieces of a stream, and the fault that ends it, if any.
pub fn sse_events(pieces: &[&[u8]], event_bytes_max: usize) -> (Vec<String>, Option<String>) {
    events(SseParser::new(event_bytes_max), pieces)
}

/// The same for the binary stream of AWS.
pub fn frame_events(pieces: &[&[u8]], frame_bytes_max: usize) -> (Vec<String>, Option<String>) {
    events(EventStreamParser::new(frame_bytes_max), pieces)
}

fn events(mut parser: impl EventParser, pieces: &[&[u8]]) -> (Vec<String>, Option<String>) {
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece);
        while let Some(event) = parser.next_event() {
            match event {
                Ok(event) => events.push(event),
                Err(fault) => return (events, Some(format!("{fault:?}"))),
            }
        }
    }
    events.extend(parser.finish());
    (events, None)
}
