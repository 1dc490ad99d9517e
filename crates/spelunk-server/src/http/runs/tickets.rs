//! Tickets: the server's commitments, written to disk before they are acknowledged. A ticket contains the request of a
//! queued run, marks a run that the server has to finish, remembers a client's idempotency key, or records why a run
//! could not start. After a crash, the tickets list the remaining work and how often each attempt crashed. A ticket or
//! an upload counts only if it is signed with the user's key: files that came with a repository start no runs.

mod wire;

use std::io;

use serde_json::{Value, json};
use spelunk_engine::{Clock as _, SystemClock};
use spelunk_fs::{EntryKind, PrivateDir};
use spelunk_journal::{Disk as _, FileDisk, JournalError};
use spelunk_types::RunId;

use super::super::{Client, Problem};

pub(super) use wire::{Key, Progress, Refusal, SnapshotSource, Ticket};

const FORMAT: u64 = 1;
const QUESTION_CHARS_MAX: usize = 500;
/// How often a run may crash the server without making progress.
pub(super) const CRASHES_MAX: u64 = 2;
/// Larger files are not tickets.
const TICKET_BYTES_MAX: u64 = 256 << 20;

impl Refusal {
    pub(super) fn of(problem: &Problem) -> Self {
        let Problem { code, detail, hint, .. } = problem.clone();
        Self { is_of_question: false, code, message: detail, hint }
    }
}

impl Ticket {
    pub(super) fn new(run: &RunId, client: Client, progress: Progress, request: Value) -> Self {
        let (run, at_ms) = (run.clone(), SystemClock.now_ms());
        Self {
            run,
            client: client.name,
            at_ms,
            progress,
            key: None,
            request,
            uploads: Vec::new(),
            snapshots: Vec::new(),
            buckets: Vec::new(),
        }
    }

    /// The question, or the last message of a conversation.
    pub(super) fn question(&self) -> &str {
        let said = self.request["messages"].as_array().and_then(|messages| messages.last());
        let said = said.map(|message| &message["content"]);
        self.request["question"].as_str().or_else(|| said?.as_str()).unwrap_or_default()
    }

    /// A summary for lists: the request may be long, and is on disk.
    pub(super) fn lean(&self) -> Self {
        let question: String = self.question().chars().take(QUESTION_CHARS_MAX).collect();
        Self { request: json!({ "question": question }), ..self.clone() }
    }

    pub(super) fn json(&self) -> Value {
        let mut ticket = json!(self);
        ticket["format"] = json!(FORMAT);
        ticket
    }

    pub(super) fn of(value: Value) -> Option<Self> {
        let is_ours = value["format"].as_u64() == Some(FORMAT);
        is_ours.then(|| serde_json::from_value(value).ok()).flatten()
    }
}

/// The ticket store: `server/` in the workspace.
#[derive(Debug)]
pub(crate) struct Tickets {
    disk: FileDisk,
    key: [u8; 32],
}

impl Tickets {
    pub(crate) fn new(workspace: PrivateDir, key: [u8; 32]) -> Self {
        Self { disk: FileDisk::of(workspace), key }
    }

    pub(super) fn workspace(&self) -> &PrivateDir {
        self.disk.dir()
    }

    /// Durable when this returns.
    pub(super) fn write(&self, ticket: &Ticket) -> Result<(), JournalError> {
        self.write_signed(name(&ticket.run), ticket.json().to_string().as_bytes())
    }

    /// The ticket of a run, with the full request.
    pub(super) fn read(&self, run: &RunId) -> Result<Ticket, JournalError> {
        let name = name(run);
        let bytes = self.read_signed(&name)?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "it is not a ticket");
        Ticket::of(value).ok_or_else(|| JournalError::Read { name, source: broken() })
    }

    /// Every ticket, and the number of files that are not ours; those are left alone.
    pub(super) fn read_all(&self) -> Result<(Vec<Ticket>, usize), JournalError> {
        let unusable = |source| JournalError::Read { name: FOLDER.into(), source };
        let (mut tickets, mut n_foreign) = (Vec::new(), 0);
        for file in self.workspace().list(FOLDER).map_err(unusable)? {
            let is_plain = file.kind == EntryKind::File && file.len <= TICKET_BYTES_MAX;
            let ticket =
                is_plain.then(|| self.read_signed(&format!("{FOLDER}/{}", file.name)).ok()).flatten();
            match ticket.and_then(|bytes| Ticket::of(serde_json::from_slice(&bytes).ok()?)) {
                Some(ticket) if name(&ticket.run) == format!("{FOLDER}/{}", file.name) => {
                    tickets.push(ticket);
                }
                Some(_) | None => n_foreign += 1,
            }
        }
        // Run ids sort by time.
        tickets.sort_by(|a, b| a.run.cmp(&b.run));
        Ok((tickets, n_foreign))
    }

    pub(super) fn remove(&self, run: &RunId) {
        // Removing a missing file is fine; if a ticket cannot be removed, it is later read as done.
        drop(self.workspace().remove_all(&name(run)));
        self.remove_uploads(run);
        self.forget_tries(run);
    }

    /// Records that work on a run is about to start; durable when this returns. Returns the number of earlier attempts
    /// that did not end and added no events to the journal: each of them crashed the server.
    pub(super) fn note_try(&self, run: &RunId, n_events: u64) -> Result<u64, JournalError> {
        let name = tries_name(run);
        let read = self.disk.read(&name);
        let bytes = read.map_err(|source| JournalError::Read { name: name.clone(), source })?;
        let noted: Value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let is_where_it_was = noted["n_events"].as_u64() == Some(n_events);
        let n_crashes = if is_where_it_was { noted["n_tries"].as_u64().unwrap_or(0) } else { 0 };
        let noted = json!({ "n_tries": n_crashes.saturating_add(1), "n_events": n_events }).to_string();
        let written = self.disk.create(&name, noted.as_bytes());
        written.map_err(|source| JournalError::Write { name, source })?;
        Ok(n_crashes)
    }

    /// Called when the server has released a run without crashing.
    pub(super) fn forget_tries(&self, run: &RunId) {
        drop(self.workspace().remove_all(&tries_name(run)));
    }

    /// Stores an uploaded file until its run has started.
    pub(super) fn keep_upload(&self, run: &RunId, idx: usize, bytes: &[u8]) -> Result<(), JournalError> {
        self.write_signed(upload_name(run, idx), bytes)
    }

    pub(super) fn upload(&self, run: &RunId, idx: usize) -> Result<Vec<u8>, JournalError> {
        self.read_signed(&upload_name(run, idx))
    }

    /// Called once the run has its own copy.
    pub(super) fn remove_uploads(&self, run: &RunId) {
        drop(self.workspace().remove_all(&format!("server/uploads/{run}")));
    }

    /// The signature covers the name, so that no file can replace another.
    fn signature(&self, name: &str, bytes: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(name.as_bytes()).update(b"\n").update(bytes).finalize()
    }

    fn write_signed(&self, name: String, bytes: &[u8]) -> Result<(), JournalError> {
        let signed = [self.signature(&name, bytes).as_bytes(), bytes].concat();
        self.disk.create(&name, &signed).map_err(|source| JournalError::Write { name, source })
    }

    fn read_signed(&self, name: &str) -> Result<Vec<u8>, JournalError> {
        let unread = |source| JournalError::Read { name: name.to_owned(), source };
        let lost = || io::Error::from(io::ErrorKind::NotFound);
        let mut signed = self.disk.read(name).and_then(|bytes| bytes.ok_or_else(lost)).map_err(unread)?;
        let foreign = || io::Error::new(io::ErrorKind::InvalidData, "this server did not write it");
        let signature = *signed.first_chunk::<32>().ok_or_else(foreign).map_err(unread)?;
        let bytes = signed.split_off(signature.len());
        // Compared in constant time.
        if self.signature(name, &bytes) == signature { Ok(bytes) } else { Err(unread(foreign())) }
    }
}

const FOLDER: &str = "server/tickets";

fn name(run: &RunId) -> String {
    format!("{FOLDER}/{run}.json")
}

fn tries_name(run: &RunId) -> String {
    format!("server/tries/{run}.json")
}

fn upload_name(run: &RunId, idx: usize) -> String {
    format!("server/uploads/{run}/{idx}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests place files by hand")]

    use super::*;

    fn ticket(tail: u32, progress: Progress) -> Ticket {
        Ticket {
            run: RunId::new(1_700_000_000_000, tail),
            client: "ci".into(),
            at_ms: 1,
            progress,
            key: Some(Key { key: "k".into(), digest: "d".into() }),
            request: json!({ "question": "why?" }),
            uploads: vec!["a.txt".into()],
            snapshots: Vec::new(),
            buckets: Vec::new(),
        }
    }

    #[test]
    fn a_ticket_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let tickets = Tickets::new(PrivateDir::new(dir.path()), [7; 32]);
        assert_eq!(tickets.read_all().unwrap(), (vec![], 0));
        let refusal = Refusal { is_of_question: false, code: "c".into(), message: "m".into(), hint: None };
        let written: Vec<Ticket> = [
            Progress::Waiting,
            Progress::Begun,
            Progress::More { after_seq: 7 },
            Progress::Again { after_seq: 9 },
            Progress::Ended,
            Progress::Withdrawn,
            Progress::Refused { refusal: Box::new(refusal) },
        ]
        .into_iter()
        .zip(0..)
        .map(|(progress, tail)| ticket(tail, progress))
        .collect();
        for ticket in &written {
            tickets.write(ticket).unwrap();
        }
        assert_eq!(tickets.read_all().unwrap(), (written.clone(), 0));
        tickets.keep_upload(&written[0].run, 0, b"text").unwrap();
        assert_eq!(tickets.upload(&written[0].run, 0).unwrap(), b"text");
        tickets.remove(&written[0].run);
        assert!(tickets.upload(&written[0].run, 0).is_err());
        assert_eq!(tickets.read_all().unwrap(), (written[1..].to_vec(), 0));
    }

    #[test]
    fn tries_are_counted_as_long_as_a_run_gets_no_further() {
        let dir = tempfile::tempdir().unwrap();
        let tickets = Tickets::new(PrivateDir::new(dir.path()), [7; 32]);
        let run = RunId::new(1_700_000_000_000, 1);
        let noted = [0, 0, 0, 4, 4, 9].map(|n_events| tickets.note_try(&run, n_events).unwrap());
        assert_eq!(noted, [0, 1, 2, 0, 1, 0]);
        assert_eq!(tickets.note_try(&run, 9).unwrap(), 1);
        tickets.forget_tries(&run);
        assert_eq!(tickets.note_try(&run, 9).unwrap(), 0);
        tickets.remove(&run);
        assert_eq!(std::fs::read_dir(dir.path().join("server/tries")).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_ticket_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("server/tickets");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        for (name, text) in [("a.json", "{"), ("b.json", "[]"), ("c.json", r#"{"format":2}"#), ("d.json", "")]
        {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let tickets = Tickets::new(PrivateDir::new(dir.path()), [7; 32]);
        assert_eq!(tickets.read_all().unwrap(), (vec![], 5));
    }

    #[test]
    fn a_ticket_or_an_upload_that_somebody_else_wrote_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let tickets = |key| Tickets::new(PrivateDir::new(dir.path()), [key; 32]);
        let (theirs, ours) = (ticket(1, Progress::Waiting), ticket(2, Progress::Waiting));
        tickets(1).write(&theirs).unwrap();
        tickets(1).keep_upload(&theirs.run, 0, b"text").unwrap();
        tickets(2).write(&ours).unwrap();
        assert_eq!(tickets(2).read_all().unwrap(), (vec![ours.clone()], 1));
        assert!(tickets(2).read(&theirs.run).is_err());
        assert!(tickets(2).upload(&theirs.run, 0).is_err());
        // One of our files under another name, or modified, does not count as ours.
        let file = |ticket: &Ticket| dir.path().join(name(&ticket.run));
        std::fs::copy(file(&ours), file(&theirs)).unwrap();
        assert_eq!(tickets(2).read_all().unwrap(), (vec![ours.clone()], 1));
        let mut bytes = std::fs::read(file(&ours)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(file(&ours), bytes).unwrap();
        assert_eq!(tickets(2).read_all().unwrap(), (vec![], 2));
    }
}
