//! Server-sent events, parsed incrementally: any split of the bytes into chunks gives the same events. Only the data of
//! an event is kept, because providers repeat the name inside it.

use std::mem;

use serde::de::IgnoredAny;

use crate::event_parser::{EventParser, StreamFault};

#[derive(Debug, Default)]
pub(crate) struct SseParser {
    event_bytes_max: usize,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that belong to finished lines.
    consumed: usize,
    /// Bytes of `buffer` after `consumed` known to contain no newline; without it, a long line
    /// would be searched repeatedly.
    searched: usize,
    /// The previous line ended with CR: an LF right after it belongs to that line ending.
    after_cr: bool,
    is_first_line: bool,
    data: Option<String>,
}

impl SseParser {
    pub(crate) fn new(event_bytes_max: usize) -> Self {
        Self { event_bytes_max, is_first_line: true, ..Self::default() }
    }

    /// The next complete line without its ending, which is LF, CRLF or CR.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        if self.after_cr {
            match self.buffer.get(self.consumed) {
                Some(b'\n') => {
                    self.consumed += 1;
                    self.after_cr = false;
                }
                Some(_) => self.after_cr = false,
                // Undecided until another byte arrives.
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

    fn take_field(&mut self, line: &str) -> Result<(), StreamFault> {
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
            return Err(StreamFault::TooLong);
        }
        self.data = Some(data);
        Ok(())
    }
}

impl EventParser for SseParser {
    fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.consumed);
        self.searched = self.searched.saturating_sub(self.consumed);
        self.consumed = 0;
        self.buffer.extend_from_slice(bytes);
    }

    fn next_event(&mut self) -> Option<Result<String, StreamFault>> {
        while let Some(line) = self.next_line() {
            if line.len() > self.event_bytes_max {
                return Some(Err(StreamFault::TooLong));
            }
            let Ok(line) = str::from_utf8(&line) else { return Some(Err(StreamFault::NotUtf8)) };
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
        (pending > self.event_bytes_max).then_some(Err(StreamFault::TooLong))
    }

    /// The event before a missing blank line. A line without an ending counts if nothing can be missing from it.
    fn finish(&mut self) -> Option<String> {
        let before = self.data.clone();
        let rest = self.buffer.split_off(self.consumed);
        let is_taken = str::from_utf8(&rest).is_ok_and(|line| self.take_field(line).is_ok());
        self.data.take().filter(|data| is_taken && is_complete(data)).or(before)
    }
}

/// Whether this is the data of a whole event, as the providers write them.
fn is_complete(data: &str) -> bool {
    data == "[DONE]" || data.starts_with('{') && serde_json::from_str::<IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests;
