//! Torn tails, damage, formats.

use std::sync::Arc;

use proptest::prelude::*;
use spelunk_journal::{Disk, Journal, JournalError, Record, SyncMode, Workspace};
use spelunk_testkit::{Crash, FaultDisk};
use spelunk_types::{Event, EventKind, Explain};

use crate::{at_root, finished, run, started, warned};

fn name() -> String {
    format!("runs/{}/journal.jsonl", run())
}

/// A journal of a start, some warnings and an end, each appended by itself.
fn written(messages: &[&str]) -> Arc<FaultDisk> {
    let disk = Arc::new(FaultDisk::sound());
    let mut journal = Journal::create(disk.clone(), &run());
    journal.append(1, vec![at_root(started())]).unwrap();
    for message in messages {
        journal.append(2, vec![at_root(warned(message))]).unwrap();
    }
    journal.append(3, vec![at_root(finished())]).unwrap();
    disk
}

fn bytes(disk: &FaultDisk) -> Vec<u8> {
    disk.read(&name()).unwrap().unwrap()
}

fn on_disk(bytes: &[u8]) -> Arc<FaultDisk> {
    let disk = FaultDisk::sound();
    disk.put(&name(), bytes);
    Arc::new(disk)
}

fn open(disk: &Arc<FaultDisk>) -> Result<(Vec<Event>, u64), JournalError> {
    Journal::open(disk.clone(), &run()).map(|opened| (opened.events, opened.bytes_dropped))
}

fn refusal(bytes: &[u8]) -> String {
    open(&on_disk(bytes)).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn events_come_back_as_they_were_written_with_contiguous_numbers() {
    let (events, dropped) = open(&written(&["a", "b"])).unwrap();
    let shown: Vec<(u64, EventKind)> = events.into_iter().map(|event| (event.seq, event.kind)).collect();
    assert_eq!(shown, [(1, started()), (2, warned("a")), (3, warned("b")), (4, finished())]);
    assert_eq!(dropped, 0);
}

#[test]
fn a_torn_last_line_is_dropped_and_writing_goes_on_behind_the_last_whole_one() {
    let whole = bytes(&written(&["a"]));
    let disk = on_disk(&whole[..whole.len() - 7]);
    let mut opened = Journal::open(disk.clone(), &run()).unwrap();
    assert_eq!((opened.events.len(), opened.journal.seq_last()), (2, 2));
    let event = opened.journal.append(9, vec![at_root(warned("after"))]).unwrap().remove(0);
    assert_eq!(event.seq, 3);
    let (events, dropped) = open(&disk).unwrap();
    assert_eq!((events.len(), events[2].kind.clone(), dropped), (3, warned("after"), 0));
}

#[test]
fn damage_is_refused_by_line_and_says_how_to_repair() {
    let whole = String::from_utf8(bytes(&written(&["a", "b"]))).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let swapped = [lines[0], lines[2], lines[1], lines[3]].concat();
    let missing = [lines[0], lines[2], lines[3]].concat();
    let flipped = whole.replace("\"a\"", "\"A\"");
    let blank = [lines[0], "\n", lines[1]].concat();
    assert_eq!(
        refusal(swapped.as_bytes()),
        "journal line 2 of run `3f9a2b1c` is damaged: expected seq 2, found 3"
    );
    assert_eq!(
        refusal(missing.as_bytes()),
        "journal line 2 of run `3f9a2b1c` is damaged: expected seq 2, found 3"
    );
    assert_eq!(
        refusal(flipped.as_bytes()),
        "journal line 2 of run `3f9a2b1c` is damaged: its checksum does not match"
    );
    assert_eq!(
        refusal(blank.as_bytes()),
        "journal line 2 of run `3f9a2b1c` is damaged: it is too short to be an event"
    );
    let error = open(&on_disk(flipped.as_bytes())).unwrap_err();
    assert_eq!(error.hint().unwrap(), "run `spelunk repair 3f9a2b1c` to keep the first 1 events");
}

/// A line as a newer engine would write it: a valid checksum over fields we do not know.
fn line(body: &str) -> Vec<u8> {
    let sum: String = blake3::hash(body.as_bytes()).to_hex().chars().take(8).collect();
    format!("{body},\"sum\":\"{sum}\"}}\n").into_bytes()
}

#[test]
fn a_newer_format_is_refused_as_such() {
    let newer = line(r#"{"seq":1,"at_ms":1,"frame":"0","type":"run.started","format":3,"soul":"yes""#);
    assert_eq!(
        refusal(&newer),
        "run `3f9a2b1c` has a journal of format 3; this version reads formats up to 2"
    );
}

#[test]
fn an_unknown_event_can_be_looked_at_but_not_resumed() {
    let mut bytes = bytes(&written(&[]));
    bytes.extend(line(r#"{"seq":3,"at_ms":1,"frame":"0","type":"cell.dreamt","of":"sheep""#));
    let refused =
        "run `3f9a2b1c` contains an event `cell.dreamt` (line 3) that this version does not support";
    assert_eq!(refusal(&bytes), refused);
    let records = Journal::read(on_disk(&bytes).as_ref(), &run()).unwrap();
    let Record::Unknown { seq, name, raw } = &records[2] else { panic!("known: {:?}", records[2]) };
    assert_eq!((*seq, name.as_str(), raw["of"].as_str()), (3, "cell.dreamt", Some("sheep")));
}

#[test]
fn a_journal_that_does_not_open_with_a_start_is_refused() {
    let disk = Arc::new(FaultDisk::sound());
    Journal::create(disk.clone(), &run()).append(1, vec![at_root(finished())]).unwrap();
    let expected = "journal line 1 of run `3f9a2b1c` is damaged: a journal must begin with run.started, not with run.finished";
    assert_eq!(open(&disk).unwrap_err().to_string(), expected);
}

#[test]
fn after_a_failed_write_nothing_more_is_written() {
    let disk = Arc::new(FaultDisk::sound().full_at(2));
    let mut journal = Journal::create(disk.clone(), &run());
    journal.append(1, vec![at_root(started())]).unwrap();
    let first = journal.append(2, vec![at_root(warned("a"))]).unwrap_err();
    assert_eq!(first.to_string(), format!("could not write `{}`", name()));
    assert_eq!(std::error::Error::source(&first).unwrap().to_string(), "no storage space");
    let n_writes = disk.n_writes();
    journal.append(3, vec![at_root(warned("b"))]).unwrap_err();
    assert_eq!(disk.n_writes(), n_writes);
    let (events, _) = open(&Arc::new(disk.after(Crash::Torn))).unwrap();
    assert_eq!(events.len(), 1);
}

#[test]
fn a_synced_event_survives_a_lost_tail_and_a_buffered_one_may_not() {
    let disk = Arc::new(FaultDisk::sound());
    let workspace = Workspace::on(disk.clone()).with_sync_mode(SyncMode::Power);
    let mut journal = workspace.create_journal(&run());
    journal.append(1, vec![at_root(started()), at_root(warned("with the start"))]).unwrap();
    journal.append(2, vec![at_root(warned("after it"))]).unwrap();
    let (events, _) = open(&Arc::new(disk.after(Crash::LostTail))).unwrap();
    assert_eq!(events.len(), 2);
    let (events, _) = open(&Arc::new(disk.after(Crash::Torn))).unwrap();
    assert_eq!(events.len(), 3);
}

#[test]
fn where_only_the_process_may_die_a_line_is_written_at_once_and_synced_with_the_next_promise() {
    let disk = Arc::new(FaultDisk::sound());
    let mut journal = Workspace::on(disk.clone()).create_journal(&run());
    let after = |crash| open(&Arc::new(disk.after(crash))).map(|(events, _)| events.len()).ok();
    journal.append(1, vec![at_root(started())]).unwrap();
    journal.append(2, vec![at_root(warned("a"))]).unwrap();
    assert!(journal.is_ahead());
    assert_eq!((after(Crash::Torn), after(Crash::LostTail)), (Some(2), None));
    journal.sync().1.sync().unwrap();
    journal.append(3, vec![at_root(warned("b"))]).unwrap();
    assert_eq!((after(Crash::Torn), after(Crash::LostTail)), (Some(3), Some(2)));
    journal.append(4, vec![at_root(finished())]).unwrap();
    assert!(!journal.is_ahead());
    assert_eq!((after(Crash::Torn), after(Crash::LostTail)), (Some(4), Some(4)));
}

#[test]
fn zeros_that_a_power_cut_left_in_the_middle_end_the_journal() {
    let long = "x".repeat(600);
    let whole = bytes(&written(&["a", &long, "b"]));
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    let mut holed = whole.clone();
    holed[lines[1] + 40..lines[1] + 40 + 512].fill(0);
    let disk = on_disk(&holed);
    let (events, dropped) = open(&disk).unwrap();
    assert_eq!((events.len(), dropped), (2, (whole.len() - lines[1]) as u64));
    assert_eq!(bytes(&disk), whole[..lines[1]]);
    // Fewer zeros are no sector of a disk.
    let mut damaged = whole.clone();
    damaged[lines[1] + 40..lines[1] + 40 + 511].fill(0);
    assert!(matches!(open(&on_disk(&damaged)), Err(JournalError::Damaged { line: 3, .. })));
}

proptest! {
    #[test]
    fn whatever_was_written_is_read(messages in proptest::collection::vec(".{0,40}", 0..12)) {
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let (events, _) = open(&written(&messages)).unwrap();
        let read: Vec<EventKind> = events.into_iter().map(|event| event.kind).collect();
        let mut expected = vec![started()];
        expected.extend(messages.iter().map(|message| warned(message)));
        expected.push(finished());
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_prefix_opens_to_a_prefix_of_the_events(cut in 0.0..1.0f64) {
        let whole = bytes(&written(&["a", "b", "c"]));
        let (events, _) = open(&on_disk(&whole)).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a length")]
        let cut = (whole.len() as f64 * cut) as usize;
        let n_whole = whole[..cut].split(|b| *b == b'\n').count() - 1;
        let (prefix, dropped) = open(&on_disk(&whole[..cut])).unwrap();
        prop_assert_eq!(&prefix[..], &events[..n_whole]);
        let kept = whole[..cut].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        prop_assert_eq!(dropped, (cut - kept) as u64);
    }

    /// Any changed byte is detected. A changed final newline turns the last line into a torn one, which is dropped.
    #[test]
    fn any_changed_byte_is_noticed(at in 0.0..1.0f64, flip in 1..=255u8) {
        let mut bytes = bytes(&written(&["a", "b"]));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a length")]
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] ^= flip;
        match open(&on_disk(&bytes)) {
            Err(JournalError::Damaged { .. }) => {}
            Ok((events, dropped)) => prop_assert!(at == bytes.len() - 1 && events.len() == 3 && dropped > 0),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

#[test]
fn a_torn_first_line_makes_room_for_the_run_that_begins_again() {
    let whole = bytes(&written(&[]));
    let first = whole.iter().position(|b| *b == b'\n').unwrap();
    // From the first byte to everything but the newline, and the zeros that a power cut leaves.
    for torn in [&whole[..1], &whole[..first / 2], &whole[..first], &[0; 512]] {
        let disk = on_disk(torn);
        let mut journal = Journal::create(disk.clone(), &run());
        journal.append(1, vec![at_root(started())]).unwrap();
        journal.append(3, vec![at_root(finished())]).unwrap();
        assert_eq!(bytes(&disk), whole);
    }
    // A journal with events belongs to an existing run.
    let disk = on_disk(&whole);
    let refused = Journal::create(disk.clone(), &run()).append(1, vec![at_root(started())]).unwrap_err();
    assert_eq!(refused.to_string(), format!("could not write `{}`", name()));
    assert_eq!(bytes(&disk), whole);
}

#[test]
fn a_journal_that_was_removed_is_not_begun_anew_in_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(spelunk_journal::FileDisk::new(directory.path()));
    let mut journal = Journal::create(disk, &run());
    journal.append(1, vec![at_root(started())]).unwrap();
    std::fs::remove_dir_all(directory.path().join("runs")).unwrap();
    let refused = journal.append(2, vec![at_root(warned("a"))]).unwrap_err();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(cause, "it was removed during the run");
    assert_eq!(refused.hint().unwrap(), "ask again: the record of the run is lost");
    assert!(!directory.path().join("runs").exists());
}
