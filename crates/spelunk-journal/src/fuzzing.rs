//! Private parsers, exposed for the fuzz targets only; not a stable API.

use spelunk_types::{Event, RunId};

use crate::{JournalError, Record, journal, line};

/// A line with a valid checksum, so that a fuzzer gets to the text: an object without its closing brace.
pub fn sealed(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    line::seal(0, &mut bytes);
    bytes
}

/// The journal line of an event.
pub fn written(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    line::write(event, &mut bytes);
    bytes
}

/// The complete lines of a journal and their size in bytes.
pub fn read(bytes: &[u8], run: &RunId) -> Result<(Vec<Record>, usize), JournalError> {
    journal::read_lines(bytes, run, 1)
}

/// One line without its newline, at any position.
pub fn read_line(line: &[u8], seq: u64) -> Result<Record, String> {
    line::read(line, seq)
}
