//! Server-sent events, read incrementally: any cutting of the bytes into chunks gives the same events. Only the data of
//! an event is kept, because both providers repeat the name inside it.

use std::mem;

/// The longest event taken. A reply's text is bounded by the engine; this bounds what is held before it is text.
pub(crate) const EVENT_BYTES_MAX: usize = 16_000_000;

/// What makes a stream unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseFault {
    /// A line is not UTF-8.
    NotUtf8,
    /// An event is longer than is taken.
    TooLong,
}

/// Takes bytes, gives events.
#[derive(Debug)]
pub(crate) struct SseParser {
    event_bytes_max: usize,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that belong to finished lines.
    consumed: usize,
    /// Bytes of `buffer` known to hold no line end after `consumed`; without it a long line is searched again and again.
    searched: usize,
    /// The line before ended with CR: a LF right after it belongs to that end.
    after_cr: bool,
    is_first_line: bool,
    data: Option<String>,
}

impl SseParser {
    pub(crate) fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            buffer: Vec::new(),
            consumed: 0,
            searched: 0,
            after_cr: false,
            is_first_line: true,
            data: None,
        }
    }

    /// Takes more bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.consumed);
        self.searched = self.searched.saturating_sub(self.consumed);
        self.consumed = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The data of the next whole event. After a fault the stream is of no use.
    pub(crate) fn next_event(&mut self) -> Option<Result<String, SseFault>> {
        while let Some(line) = self.next_line() {
            if line.len() > self.event_bytes_max {
                return Some(Err(SseFault::TooLong));
            }
            let Ok(line) = str::from_utf8(&line) else { return Some(Err(SseFault::NotUtf8)) };
            let is_first = mem::take(&mut self.is_first_line);
            let line = line.strip_prefix('\u{feff}').filter(|_| is_first).unwrap_or(line);
            if line.is_empty() {
                match self.data.take() {
                    Some(data) => return Some(Ok(data)),
                    None => continue,
                }
            }
            if let Err(fault) = self.take_field(line) {
                return Some(Err(fault));
            }
        }
        let pending = self.buffer.len() - self.consumed;
        (pending > self.event_bytes_max).then_some(Err(SseFault::TooLong))
    }

    /// The event whose blank line is missing at the end of the stream. A line without its end is dropped.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.data.take()
    }

    /// The next whole line without its end, which is LF, CRLF or CR.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        if self.after_cr {
            match self.buffer.get(self.consumed) {
                Some(b'\n') => {
                    self.consumed += 1;
                    self.after_cr = false;
                }
                Some(_) => self.after_cr = false,
                // The question stays open until a byte arrives.
                None => {}
            }
        }
        let from = self.searched.max(self.consumed);
        let unsearched = self.buffer.get(from..).unwrap_or_default();
        let Some(offset) = unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = from + offset;
        let line = self.buffer.get(self.consumed..end).unwrap_or_default().to_vec();
        self.after_cr = self.buffer.get(end) == Some(&b'\r');
        self.consumed = end + 1;
        Some(line)
    }

    fn take_field(&mut self, line: &str) -> Result<(), SseFault> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name != "data" {
            return Ok(());
        }
        let value = value.strip_prefix(' ').unwrap_or(value);
        let data = match self.data.take() {
            Some(data) => data + "\n" + value,
            None => value.to_owned(),
        };
        if data.len() > self.event_bytes_max {
            return Err(SseFault::TooLong);
        }
        self.data = Some(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
