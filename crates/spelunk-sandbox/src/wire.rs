//! The protocol between the host and a worker process: frames of a `u32` little-endian length and JSON, the same for
//! every backend. Hostile code may control a worker, so a frame is checked for size and shape before it is parsed.

mod cell;
mod message;
mod setup;
mod shape;
#[cfg(test)]
mod tests;
mod value;

use std::io::{Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use cell::{CellEnd, HostCall, HostReply, Output, Raised, Step};
pub(crate) use message::{Confine, Request, Response, Survey, Work};
pub use setup::{HostFunction, SandboxLimits, Setup};
pub use value::parse_json;

/// The longest frame to a worker: a setup with all its variables.
pub(crate) const REQUEST_BYTES_MAX: usize = 512 << 20;
/// The longest frame from a worker. The worker refuses to send a longer one, so only a hostile worker exceeds it.
pub(crate) const RESPONSE_BYTES_MAX: usize = 128 << 20;
const READ_BYTES: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// A smaller message would have succeeded.
    #[error("a frame {0}")]
    Size(String),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl WireError {
    pub(crate) fn is_size(&self) -> bool {
        matches!(self, Self::Size(_))
    }

    fn long(n_bytes: usize, bytes_max: usize) -> Self {
        Self::Size(format!("of {n_bytes} bytes; the maximum is {bytes_max}"))
    }
}

pub(crate) fn encode<T: Serialize>(message: &T, bytes_max: usize) -> Result<Vec<u8>, WireError> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    shape::check(frame.get(4..).unwrap_or_default())?;
    let head = head(frame.len() - 4, bytes_max)?;
    for (slot, byte) in frame.iter_mut().zip(head) {
        *slot = byte;
    }
    Ok(frame)
}

pub(crate) fn head(n_bytes: usize, bytes_max: usize) -> Result<[u8; 4], WireError> {
    let length = u32::try_from(n_bytes).ok().filter(|_| n_bytes <= bytes_max);
    Ok(length.ok_or_else(|| WireError::long(n_bytes, bytes_max))?.to_le_bytes())
}

pub(crate) fn announced(head: [u8; 4], bytes_max: usize) -> Result<usize, WireError> {
    let n_bytes = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
    if n_bytes > bytes_max {
        return Err(WireError::long(n_bytes, bytes_max));
    }
    Ok(n_bytes)
}

pub(crate) fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, WireError> {
    shape::check(body)?;
    Ok(serde_json::from_slice(body)?)
}

/// Reads a message, blocking. `None` at the end of the stream.
pub(crate) fn read<T: DeserializeOwned>(
    input: &mut impl Read,
    bytes_max: usize,
) -> Result<Option<T>, WireError> {
    read_body(input, bytes_max)?.map(|body| decode(&body)).transpose()
}

/// Reads the body of a frame, blocking. `None` at the end of the stream.
pub(crate) fn read_body(input: &mut impl Read, bytes_max: usize) -> Result<Option<Vec<u8>>, WireError> {
    let mut head = [0; 4];
    match input.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let n_bytes = announced(head, bytes_max)?;
    // The announced length is only a claim: memory grows with the bytes that actually arrive.
    let mut body = Vec::with_capacity(n_bytes.min(READ_BYTES));
    input.take(n_bytes as u64).read_to_end(&mut body)?;
    Ok((body.len() == n_bytes).then_some(body))
}

pub(crate) fn write<T: Serialize>(
    output: &mut impl Write,
    message: &T,
    bytes_max: usize,
) -> Result<(), WireError> {
    output.write_all(&encode(message, bytes_max)?)?;
    Ok(output.flush()?)
}
