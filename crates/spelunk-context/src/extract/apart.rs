//! Reads a document in a worker process: the program sends the bytes and receives the text, or how the worker ended. A
//! file of 60 kB can take gigabytes, and the parsing libraries limit none of it.

use std::sync::{Condvar, Mutex, PoisonError};

use spelunk_types::{WorkBounds, WorkError, WorkLine, workers};

use super::{ExtractError, ExtractKind, INPUT_BYTES_MAX, PageRange, PdfPages, extract, pdf_pages};

/// The name of the worker task.
pub const EXTRACT_TASK: &str = "extract";

/// Limits for one document: its bytes, its text and the tree between them, which is several times as large.
const BOUNDS: WorkBounds = WorkBounds { memory_bytes_max: 768 << 20, cpu_ms_max: 60_000 };

/// Documents read concurrently over all scans of the program: this bounds what hostile ones can use together.
const AT_ONCE_MAX: usize = 4;

/// The longest web page read in this process: reading one takes a few times its size.
const HTML_BYTES_MAX: usize = 1 << 20;

/// The text of a document, read in a worker process unless it is a short web page.
pub(crate) fn extract_apart(kind: ExtractKind, bytes: &[u8]) -> Result<String, ExtractError> {
    let tag = match kind {
        ExtractKind::Html if bytes.len() <= HTML_BYTES_MAX => return extract(kind, bytes),
        ExtractKind::Html => HTML,
        ExtractKind::Pdf => PDF,
        ExtractKind::Docx => DOCX,
    };
    match ask_worker(&[tag], bytes)? {
        Some(reply) => decode(reply),
        None => extract(kind, bytes),
    }
}

pub(crate) fn pages_apart(bytes: &[u8], range: Option<PageRange>) -> Result<PdfPages, ExtractError> {
    let mut task = vec![PAGES];
    if let Some(PageRange { first, last }) = range {
        task.extend(first.to_be_bytes());
        task.extend(last.to_be_bytes());
    }
    match ask_worker(&task, bytes)? {
        Some(reply) => decode_pages(reply),
        None => pdf_pages(bytes, range),
    }
}

fn ask_worker(task: &[u8], bytes: &[u8]) -> Result<Option<Vec<u8>>, ExtractError> {
    let Some(workers) = workers() else { return Ok(None) };
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    let _slot = WorkerSlot::take();
    let reply = workers.start(EXTRACT_TASK, BOUNDS).and_then(|mut line| {
        line.send(task)?;
        line.send(bytes)?;
        line.receive()
    });
    reply.map(Some).map_err(lost)
}

/// The worker's side: reads one document and sends its text, or pages of it.
pub fn serve_extract(mut line: Box<dyn WorkLine>) -> Result<(), WorkError> {
    let task = line.receive()?;
    let bytes = line.receive()?;
    let reply = match task.as_slice() {
        [HTML] => encode(extract(ExtractKind::Html, &bytes)),
        [DOCX] => encode(extract(ExtractKind::Docx, &bytes)),
        [PAGES, range @ ..] => encode_pages(pdf_pages(&bytes, page_range(range))),
        _ => encode(extract(ExtractKind::Pdf, &bytes)),
    };
    line.send(&reply)
}

fn page_range(bytes: &[u8]) -> Option<PageRange> {
    let ([first, last], []) = bytes.as_chunks::<4>() else { return None };
    Some(PageRange { first: u32::from_be_bytes(*first), last: u32::from_be_bytes(*last) })
}

const PDF: u8 = 1;
const DOCX: u8 = 2;
const HTML: u8 = 3;
const PAGES: u8 = 4;

fn lost(error: WorkError) -> ExtractError {
    match error {
        WorkError::Memory { bytes_max } => ExtractError::TooCostly { bytes_max },
        WorkError::Time { .. } => ExtractError::TooSlow,
        WorkError::Crashed { how } => ExtractError::Crashed { how },
        WorkError::NoWorker { why } => ExtractError::NoWorker { why },
    }
}

/// The errors that a worker reports by their tag alone.
const PLAIN_ERRORS: [(u8, ExtractError); 5] = [
    (b'e', ExtractError::Encrypted),
    (b'n', ExtractError::NoText),
    (b'l', ExtractError::TooLarge),
    (b's', ExtractError::TooSlow),
    (b'b', ExtractError::NotBuilt),
];

/// The text, followed by one byte for the kind of outcome.
pub(super) fn encode(outcome: Result<String, ExtractError>) -> Vec<u8> {
    let (tag, text) = match outcome {
        Ok(text) => (b't', text),
        Err(ExtractError::Damaged { what }) => (b'd', what),
        Err(error) => match PLAIN_ERRORS.iter().find(|(_, plain)| *plain == error) {
            Some((tag, _)) => (*tag, String::new()),
            None => (b'c', error.to_string()),
        },
    };
    let mut message = text.into_bytes();
    message.push(tag);
    message
}

/// The file, four numbers, and one byte for the kind of outcome.
pub(super) fn encode_pages(outcome: Result<PdfPages, ExtractError>) -> Vec<u8> {
    let pages = match outcome {
        Ok(pages) => pages,
        Err(error) => return encode(Err(error)),
    };
    let PdfPages { n_of_file, n_pages, width, height, bytes: mut message } = pages;
    message.extend([n_of_file, n_pages, width, height].into_iter().flat_map(u32::to_be_bytes));
    message.push(b'p');
    message
}

pub(super) fn decode_pages(mut message: Vec<u8>) -> Result<PdfPages, ExtractError> {
    let broken = || ExtractError::Crashed { how: "its output is damaged".to_owned() };
    if message.last() != Some(&b'p') {
        return Err(decode(message).err().unwrap_or_else(broken));
    }
    let numbers = message.len().checked_sub(17).map(|start| message.split_off(start)).ok_or_else(broken)?;
    let ([n_of_file, n_pages, width, height], _) = numbers.as_chunks::<4>() else { return Err(broken()) };
    let number = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes);
    let (n_of_file, n_pages) = (number(n_of_file), number(n_pages));
    Ok(PdfPages { n_of_file, n_pages, width: number(width), height: number(height), bytes: message })
}

const COMPLAINT_CHARS_MAX: usize = 200;

/// A worker may be controlled by a malicious document: its output is validated like any text.
pub(super) fn decode(mut message: Vec<u8>) -> Result<String, ExtractError> {
    let tag = message.pop();
    let Ok(text) = String::from_utf8(message) else {
        return Err(ExtractError::Crashed { how: "its output is not text".to_owned() });
    };
    let plain = PLAIN_ERRORS.into_iter().find(|(plain, _)| Some(*plain) == tag).map(|(_, error)| error);
    Err(match tag {
        Some(b't') if text.len() <= super::OUTPUT_BYTES_MAX => return Ok(text),
        Some(b't') => ExtractError::TooLarge,
        Some(b'd') => ExtractError::Damaged { what: text.chars().take(COMPLAINT_CHARS_MAX).collect() },
        _ => plain.unwrap_or_else(|| ExtractError::Crashed { how: "its output is empty".to_owned() }),
    })
}

struct WorkerSlot;

static N_READING: Mutex<usize> = Mutex::new(0);
static IS_FREE: Condvar = Condvar::new();

impl WorkerSlot {
    fn take() -> Self {
        let n_reading = N_READING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_reading = IS_FREE
            .wait_while(n_reading, |n_reading| *n_reading >= AT_ONCE_MAX)
            .unwrap_or_else(PoisonError::into_inner);
        *n_reading += 1;
        Self
    }
}

impl Drop for WorkerSlot {
    fn drop(&mut self) {
        *N_READING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        IS_FREE.notify_one();
    }
}
