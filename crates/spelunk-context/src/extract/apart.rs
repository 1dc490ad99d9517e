//! Reads a document in a worker process: the program sends the bytes and receives the text, or how the worker ended. A
//! file of 60 kB can take gigabytes, and the parsing libraries limit none of it.

use std::sync::{Condvar, Mutex, PoisonError};

use spelunk_types::{WorkBounds, WorkError, WorkLine, workers};

use super::{ExtractError, ExtractKind, INPUT_BYTES_MAX, extract};

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
    let Some(workers) = workers() else { return extract(kind, bytes) };
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    let _slot = WorkerSlot::take();
    let reply = workers.start(EXTRACT_TASK, BOUNDS).and_then(|mut line| {
        line.send(&[tag])?;
        line.send(bytes)?;
        line.receive()
    });
    decode(reply.map_err(lost)?)
}

/// The worker's side: reads one document and sends its text.
pub fn serve_extract(mut line: Box<dyn WorkLine>) -> Result<(), WorkError> {
    let kind = match line.receive()?.as_slice() {
        [HTML] => ExtractKind::Html,
        [DOCX] => ExtractKind::Docx,
        _ => ExtractKind::Pdf,
    };
    let bytes = line.receive()?;
    line.send(&encode(extract(kind, &bytes)))
}

const PDF: u8 = 1;
const DOCX: u8 = 2;
const HTML: u8 = 3;

fn lost(error: WorkError) -> ExtractError {
    match error {
        WorkError::Memory { bytes_max } => ExtractError::TooCostly { bytes_max },
        WorkError::Time { .. } => ExtractError::TooSlow,
        WorkError::Crashed { how } => ExtractError::Crashed { how },
        WorkError::NoWorker { why } => ExtractError::NoWorker { why },
    }
}

/// The text, whose length is that of the message, after one byte for the kind of outcome.
pub(super) fn encode(outcome: Result<String, ExtractError>) -> Vec<u8> {
    let (tag, text) = match outcome {
        Ok(text) => (b't', text),
        Err(ExtractError::Damaged { what }) => (b'd', what),
        Err(ExtractError::Encrypted) => (b'e', String::new()),
        Err(ExtractError::NoText) => (b'n', String::new()),
        Err(ExtractError::TooLarge) => (b'l', String::new()),
        Err(ExtractError::TooSlow) => (b's', String::new()),
        Err(ExtractError::NotBuilt) => (b'b', String::new()),
        Err(
            other @ (ExtractError::TooCostly { .. }
            | ExtractError::Crashed { .. }
            | ExtractError::InUse { .. }
            | ExtractError::NoWorker { .. }),
        ) => (b'c', other.to_string()),
    };
    let mut message = text.into_bytes();
    message.push(tag);
    message
}

/// Characters kept of an error message.
const COMPLAINT_CHARS_MAX: usize = 200;

/// A worker may be controlled by a malicious document: its output is validated like any text.
pub(super) fn decode(mut message: Vec<u8>) -> Result<String, ExtractError> {
    let tag = message.pop();
    let Ok(text) = String::from_utf8(message) else {
        return Err(ExtractError::Crashed { how: "its output is not text".to_owned() });
    };
    Err(match tag {
        Some(b't') if text.len() <= super::OUTPUT_BYTES_MAX => return Ok(text),
        Some(b't' | b'l') => ExtractError::TooLarge,
        Some(b'd') => ExtractError::Damaged { what: text.chars().take(COMPLAINT_CHARS_MAX).collect() },
        Some(b'e') => ExtractError::Encrypted,
        Some(b'n') => ExtractError::NoText,
        Some(b's') => ExtractError::TooSlow,
        Some(b'b') => ExtractError::NotBuilt,
        Some(_) | None => ExtractError::Crashed { how: "its output is empty".to_owned() },
    })
}

/// A slot of the concurrency limit.
pub(crate) struct WorkerSlot;

static N_READING: Mutex<usize> = Mutex::new(0);
static IS_FREE: Condvar = Condvar::new();

impl WorkerSlot {
    pub(crate) fn take() -> Self {
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
