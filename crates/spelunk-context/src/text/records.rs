//! The records of a document: the lines of JSON lines, or the elements of a JSON array. They are located without being
//! parsed or held: a mark every 64 KiB says which record begins there, and one read from a mark finds a record.

mod array;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use self::array::ArrayScan;
use super::{LazyText, TextError};

const MARK_BYTES: u64 = 64 * 1024;

/// How much is read at a time while counting, and while looking for one record.
const COUNT_BYTES: u64 = 1024 * 1024;
const SEEK_BYTES: u64 = MARK_BYTES;

/// The format of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordShape {
    /// One value per line; blank lines do not count.
    Lines,
    /// The elements of one array.
    Array,
}

/// The records of one document, numbered from 0.
#[derive(Debug, Clone)]
pub struct JsonRecords {
    text: Arc<LazyText>,
    shape: RecordShape,
    n_records: u64,
    marks: Arc<[Mark]>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    byte: u64,
    record: u64,
}

impl JsonRecords {
    /// Counts the records by reading the whole document. An array must be well-formed, whatever its elements contain.
    pub fn open(text: Arc<LazyText>, shape: RecordShape) -> Result<Self, TextError> {
        let (mut marks, mut n_records): (Vec<Mark>, _) = (Vec::new(), 0);
        let scan = Scan { shape, text: &text, from: 0, read_bytes: COUNT_BYTES };
        scan.each(&mut |record| {
            if marks.last().is_none_or(|mark| record.start >= mark.byte + MARK_BYTES) {
                marks.push(Mark { byte: record.start, record: n_records });
            }
            n_records += 1;
            ControlFlow::Continue(())
        })?;
        text.fresh(())?;
        Ok(Self { text, shape, n_records, marks: marks.into() })
    }

    /// The number of records.
    pub fn n_records(&self) -> u64 {
        self.n_records
    }

    /// The text of a record, masked like any other.
    pub fn record(&self, record: u64) -> Result<String, TextError> {
        let range = self.bytes_of(record)?;
        self.text.reader.require_small(range.end - range.start, LazyText::SLICE_BYTES_MAX)?;
        self.text.fresh(self.text.masked(range)?)
    }

    fn bytes_of(&self, record: u64) -> Result<Range<u64>, TextError> {
        let n_before = self.marks.partition_point(|mark| mark.record <= record);
        let no_record =
            || TextError::NoRecord { name: self.text.name().to_owned(), record, n_records: self.n_records };
        let mark = n_before.checked_sub(1).and_then(|idx| self.marks.get(idx)).ok_or_else(no_record)?;
        let (mut left, mut found) = (record - mark.record, None);
        let scan = Scan { shape: self.shape, text: &self.text, from: mark.byte, read_bytes: SEEK_BYTES };
        scan.each(&mut |range| {
            if left > 0 {
                left -= 1;
                return ControlFlow::Continue(());
            }
            found = Some(range);
            ControlFlow::Break(())
        })?;
        found.ok_or_else(no_record)
    }
}

struct Scan<'t> {
    shape: RecordShape,
    text: &'t LazyText,
    /// The beginning of the text or of a record.
    from: u64,
    read_bytes: u64,
}

impl Scan<'_> {
    fn each(&self, found: &mut dyn FnMut(Range<u64>) -> ControlFlow<()>) -> Result<(), TextError> {
        match self.shape {
            RecordShape::Lines => self.each_line(found),
            RecordShape::Array => self.each_element(found),
        }
    }

    fn each_line(&self, found: &mut dyn FnMut(Range<u64>) -> ControlFlow<()>) -> Result<(), TextError> {
        let mut record = None;
        self.each_block(&mut |at, block| {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', block) {
                extend_record(&mut record, at + start as u64, &block[start..end]);
                if let Some(record) = record.take() {
                    found(record)?;
                }
                start = end + 1;
            }
            extend_record(&mut record, at + start as u64, &block[start..]);
            ControlFlow::Continue(())
        })?;
        if let Some(record) = record {
            // It is the last one, so it does not matter whether more are wanted.
            let _ = found(record);
        }
        Ok(())
    }

    fn each_element(&self, found: &mut dyn FnMut(Range<u64>) -> ControlFlow<()>) -> Result<(), TextError> {
        let mut scan = if self.from == 0 { ArrayScan::new() } else { ArrayScan::inside() };
        let mut fault = None;
        let is_whole = self.each_block(&mut |at, block| match scan.feed(at, block, found) {
            Ok(flow) => flow,
            Err(why) => {
                fault = Some(why);
                ControlFlow::Break(())
            }
        })?;
        let fault = fault.or_else(|| scan.fault_at_end().filter(|_| is_whole));
        match fault {
            Some(why) => Err(TextError::NoRecords { name: self.text.name().to_owned(), why }),
            None => Ok(()),
        }
    }

    /// Reads block by block; returns whether it reached the end.
    fn each_block(
        &self,
        block_read: &mut dyn FnMut(u64, &[u8]) -> ControlFlow<()>,
    ) -> Result<bool, TextError> {
        let (mut at, mut block) = (self.from, Vec::new());
        while at < self.text.bytes() {
            let end = (at + self.read_bytes).min(self.text.bytes());
            self.text.reader.read(at..end, &mut block)?;
            if block_read(at, &block).is_break() {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }
}

/// Adds the next bytes of a line, which may span several blocks, to its range without surrounding whitespace.
fn extend_record(record: &mut Option<Range<u64>>, at: u64, bytes: &[u8]) {
    let body = bytes.trim_ascii();
    if body.is_empty() {
        return;
    }
    let n_before = bytes.len() - bytes.trim_ascii_start().len();
    let start = at + n_before as u64;
    let end = start + body.len() as u64;
    *record = Some(record.take().map_or(start, |record| record.start)..end);
}
