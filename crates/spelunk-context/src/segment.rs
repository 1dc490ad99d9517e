//! Segments: the parts in which a long document is planned and read, so that what is held does not grow with it. A segment
//! ends behind the last line end in it, and between two characters where it has none.

use crate::scan_read::is_as_scanned;
use crate::{DocEntry, ReadError, Reader, Segment, SourceError, View};

/// Longer documents are not held whole.
const WHOLE_BYTES_MAX: u64 = 32 << 20;

/// The longest segment. Reading one takes a few times its size, and several documents are read at once.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 8 << 20;

impl View {
    /// The text that the spans of a chunk count in: that of its segment, or of the whole document. Its bytes must still be
    /// those that were scanned.
    pub fn read_part(&self, document: &DocEntry, segment: Option<&Segment>) -> Result<String, SourceError> {
        let Some(Segment { bytes, prelude }) = segment else { return self.read_owned(document) };
        let reader = open(self, document).map_err(|error| error.of_document(&document.name))?;
        let mut text = reader.slice(bytes.clone()).map_err(|error| error.of_document(&document.name))?;
        text.insert_str(0, prelude);
        Ok(text)
    }
}

/// Opens a document that is read in segments. None where it is read whole: it is short, or it is UTF-16, which has to be
/// decoded, and longer than a reader takes.
pub(crate) fn open_long(view: &View, document: &DocEntry) -> Result<Option<Reader>, ReadError> {
    if document.bytes <= WHOLE_BYTES_MAX {
        return Ok(None);
    }
    match open(view, document) {
        Err(ReadError::TooLarge { .. }) => Ok(None),
        opened => opened.map(Some),
    }
}

/// What is looked at is the file that the reader has open: it gives nothing out once that is written to.
fn open(view: &View, document: &DocEntry) -> Result<Reader, ReadError> {
    let reader = Reader::of_document(view, document)?;
    if is_as_scanned(document)? {
        Ok(reader)
    } else {
        Err(ReadError::Changed { name: document.name.clone() })
    }
}

/// Where the segment that begins at `start` ends.
pub(crate) fn segment_end(reader: &Reader, start: u64, bytes_max: u64) -> Result<u64, ReadError> {
    let reach = start.saturating_add(bytes_max);
    if reach >= reader.bytes() {
        return Ok(reader.bytes());
    }
    if let Some(newline) = reader.line_end_before(reach, bytes_max)? {
        return Ok(newline + 1);
    }
    let end = reader.cut_to_chars(start..reach)?.end;
    // A character that is longer than a segment is cut.
    Ok(if end > start { end } else { reach })
}
