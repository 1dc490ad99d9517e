//! One line of a journal: an event as JSON, with a checksum as its last field. The newline completes the line: anything
//! after the last newline is a torn write, and any fault before it is damage.

use serde_json::Value;
use spelunk_types::{Event, EventKind, RunId};

use crate::JournalError;

/// What a reader finds in one line.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Record {
    /// An event that this engine knows.
    Known(Box<Event>),
    /// An event from a newer engine, kept unchanged for display; a run that contains one cannot be resumed here.
    Unknown { seq: u64, name: String, raw: Value },
}

impl Record {
    /// The sequence number.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Known(event) => event.seq,
            Self::Unknown { seq, .. } => *seq,
        }
    }

    /// The event, if this engine knows it.
    pub fn event(&self) -> Option<&Event> {
        if let Self::Known(event) = self { Some(event) } else { None }
    }

    /// The event of a run that this engine must understand in full.
    pub(crate) fn known(self, run: &RunId) -> Result<Box<Event>, JournalError> {
        match self {
            Self::Known(event) => Ok(event),
            Self::Unknown { seq, name, .. } => {
                Err(JournalError::UnknownEvent { run: run.clone(), line: seq, name })
            }
        }
    }
}

const SUM_FIELD: &[u8] = b",\"sum\":\"";
const SUM_DIGITS: usize = 8;
/// The field, its digits and `"}`.
const TAIL_BYTES: usize = SUM_FIELD.len() + SUM_DIGITS + 2;

/// Appends the line of an event.
pub fn write(event: &Event, into: &mut Vec<u8>) {
    let start = into.len();
    serde_json::to_writer(&mut *into, event).expect("events have string keys and no failing serialiser");
    let closing = into.pop();
    debug_assert_eq!(closing, Some(b'}'));
    seal(start, into);
}

/// Completes the line that begins at `start` and lacks its closing brace.
pub fn seal(start: usize, into: &mut Vec<u8>) {
    let sum = checksum(into.get(start..).unwrap_or_default());
    into.extend_from_slice(SUM_FIELD);
    into.extend_from_slice(sum.as_bytes());
    into.extend_from_slice(b"\"}\n");
}

/// Parses a line without its newline; the error describes what is wrong with it.
pub fn read(line: &[u8], expected_seq: u64) -> Result<Record, String> {
    let body_len = line.len().checked_sub(TAIL_BYTES).ok_or("it is too short to be an event")?;
    let (body, tail) = line.split_at(body_len);
    let digits = tail.strip_prefix(SUM_FIELD).and_then(|rest| rest.strip_suffix(b"\"}"));
    let digits = digits.ok_or("it has no checksum")?;
    if digits != checksum(body).as_bytes() {
        return Err("its checksum does not match".into());
    }
    let record = parse(line)?;
    if record.seq() != expected_seq {
        return Err(format!("expected seq {expected_seq}, found {}", record.seq()));
    }
    Ok(record)
}

fn parse(line: &[u8]) -> Result<Record, String> {
    let refused = match Event::from_parts(|| serde_json::from_slice(line), || serde_json::from_slice(line)) {
        Ok(event) => return Ok(Record::Known(Box::new(event))),
        Err(refused) => refused,
    };
    // The checksum is valid, so this is what was written: an event of a newer engine, or a bug of ours.
    let raw: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let name = raw.get("type").and_then(Value::as_str);
    match (name, raw.get("seq").and_then(Value::as_u64)) {
        (Some(name), Some(seq)) if !EventKind::NAMES.contains(&name) => {
            Ok(Record::Unknown { seq, name: name.to_owned(), raw })
        }
        (Some("run.started"), Some(seq)) => Ok(Record::Unknown { seq, name: "run.started".into(), raw }),
        (Some(_) | None, _) => Err(refused.to_string()),
    }
}

fn checksum(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(SUM_DIGITS).collect()
}
