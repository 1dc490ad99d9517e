//! Private readers, for the fuzz targets alone: nothing here is promised to anybody.

use spelunk_types::{Event, RunId};

use crate::{JournalError, Record, journal, line};

/// A line with the checksum that its text has, so that what is wrong with the text is found behind it. The text is an
/// object without its closing brace.
pub fn sealed(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    line::seal(0, &mut bytes);
    bytes
}

/// The line of an event.
pub fn written(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    line::write(event, &mut bytes);
    bytes
}

/// The whole lines of a journal.
pub fn read(bytes: &[u8], run: &RunId) -> Result<Vec<Record>, JournalError> {
    journal::read_lines(bytes, run).map(|(records, _)| records)
}

/// One line without its newline, wherever it stands.
pub fn read_line(line: &[u8], seq: u64) -> Result<Record, String> {
    line::read(line, seq)
}
