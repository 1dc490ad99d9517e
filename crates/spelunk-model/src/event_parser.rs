//! What stream parsers have in common: bytes in, events out, however the bytes are split.

/// The longest event accepted. The engine bounds a reply's text; this bounds the buffer before it is text.
pub(crate) const EVENT_BYTES_MAX: usize = 16_000_000;

/// An incremental parser: bytes in, event texts out.
pub(crate) trait EventParser: Send {
    fn push(&mut self, bytes: &[u8]);

    /// The data of the next complete event. After a fault the stream is unusable.
    fn next_event(&mut self) -> Option<Result<String, StreamFault>>;

    /// The last event, if the stream ended without marking its end.
    fn finish(&mut self) -> Option<String> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamFault {
    /// A text in it is not UTF-8.
    NotUtf8,
    TooLong,
    /// A checksum or a length is wrong.
    Damaged(&'static str),
}
