//! Segments: the parts in which a long document is planned and read, so that memory use does not grow with its length.
//! A segment ends after its last line end or, if it has none, between two characters.

use crate::scan_read::is_as_scanned;
use crate::{DocEntry, ReadError, Reader, Segment, SourceError, View};

const WHOLE_BYTES_MAX: u64 = 32 << 20;

/// The longest segment. Reading one takes a few times its size, and several documents are read at once.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 8 << 20;

impl View {
    /// The text that a chunk's spans refer to: its segment or the document, unchanged since the scan.
    pub fn read_part(&self, document: &DocEntry, segment: Option<&Segment>) -> Result<String, SourceError> {
        let Some(Segment { bytes, prelude }) = segment else { return self.read_owned(document) };
        let reader = open(self, document).map_err(|error| error.of_document(&document.name))?;
        let mut text = reader.slice(bytes.clone()).map_err(|error| error.of_document(&document.name))?;
        text.insert_str(0, prelude);
        Ok(text)
    }
}

/// Opens a document that is read in segments. None if it is read whole: it is short, or it is UTF-16, which must be
/// decoded, and longer than a reader accepts.
pub(crate) fn open_long(view: &View, document: &DocEntry) -> Result<Option<Reader>, ReadError> {
    if document.bytes <= WHOLE_BYTES_MAX {
        return Ok(None);
    }
    match open(view, document) {
        Err(ReadError::TooLarge { .. }) => Ok(None),
        opened => opened.map(Some),
    }
}

/// The check applies to the file that the reader has open: the reader returns nothing once the file is modified.
fn open(view: &View, document: &DocEntry) -> Result<Reader, ReadError> {
    let reader = Reader::of_document(view, document)?;
    if is_as_scanned(document)? {
        Ok(reader)
    } else {
        Err(ReadError::Changed { name: document.name.clone() })
    }
}

pub(crate) fn segment_end(reader: &Reader, start: u64, bytes_max: u64) -> Result<u64, ReadError> {
    let reach = start.saturating_add(bytes_max);
    if reach >= reader.bytes() {
        return Ok(reader.bytes());
    }
    if let Some(newline) = reader.line_end_before(reach, bytes_max)? {
        return Ok(newline + 1);
    }
    let end = reader.cut_to_chars(start..reach)?.end;
    // A character longer than a segment is cut.
    Ok(if end > start { end } else { reach })
}
