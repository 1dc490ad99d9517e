//! Journals and events: damage is an error and never a panic, a truncated journal is a prefix of the original, and
//! parsing and writing round-trips.

use spelunk_journal::{Record, fuzzing};
use spelunk_types::{Event, RunId};

use crate::choice::{body_of, number_of};

/// Parses the input as a journal, as it is and with valid checksums.
pub(crate) fn journal(data: &[u8]) {
    let (number, body) = (number_of(data), body_of(data));
    check_journal(number, body);
    let mut sealed = Vec::new();
    for line in body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let text = line.strip_suffix(b"}").unwrap_or(line);
        let mut line = text.to_vec();
        fuzzing::seal(0, &mut line);
        for seq in 1..4 {
            if let Ok(record) = fuzzing::read_line(line.trim_ascii_end(), seq) {
                assert_eq!(record.seq(), seq, "the place that was asked for");
                check_record(&record);
            }
        }
        sealed.extend(line);
    }
    check_journal(number, &sealed);
}

fn check_journal(number: u64, bytes: &[u8]) {
    let run = RunId::new(1, 1);
    let Ok((records, whole)) = fuzzing::read_lines(bytes, &run, 1) else { return };
    for (record, seq) in records.iter().zip(1..) {
        assert_eq!(record.seq(), seq, "contiguous from 1");
    }
    if bytes.is_empty() {
        return;
    }
    let at = usize::try_from(number % bytes.len() as u64).expect("a place in memory");
    let (cut, _) = fuzzing::read_lines(&bytes[..at], &run, 1).expect("a journal that breaks off can be read");
    assert!(records.starts_with(&cut), "what breaks off is the beginning");
    let mut damaged = bytes.to_vec();
    damaged[at] ^= 1 << (number >> 61);
    if let Ok((read, _)) = fuzzing::read_lines(&damaged, &run, 1) {
        assert!(records.starts_with(&read), "damage invents nothing");
        // The line after the complete ones may be torn or have a hole, and a complete line without its newline becomes
        // a part of it.
        assert!(at + 1 >= whole, "damage in a complete line is found");
    }
}

fn check_record(record: &Record) {
    let Record::Known(event) = record else { return };
    let mut line = Vec::new();
    fuzzing::write(event, &mut line);
    let again = fuzzing::read_line(line.trim_ascii_end(), event.seq);
    assert_eq!(again.as_ref(), Ok(record), "what is written is read as the same");
}

/// Parses the input as one event, in both ways in which events are parsed.
pub(crate) fn events(data: &[u8]) {
    let body = body_of(data);
    let whole = serde_json::from_slice::<Event>(body);
    let parts = Event::from_parts(|| serde_json::from_slice(body), || serde_json::from_slice(body));
    if let Ok(event) = &parts {
        let text = serde_json::to_vec(event).expect("an event can be written");
        let again: Event = serde_json::from_slice(&text).expect("and read again");
        assert_eq!(&again, event, "and is the same");
        assert!(!event.kind.name().is_empty());
    }
    if let (Ok(whole), Ok(parts)) = (&whole, &parts) {
        assert_eq!(whole, parts, "at once or in parts");
    }
    assert_eq!(
        whole.is_ok(),
        parts.is_ok(),
        "an event for one is an event for the other: {whole:?} {parts:?}"
    );
}
