//! The workspace of a node: a local copy of what the fleet shares. Journals and blobs are written to
//! the fleet first; everything else (prompts, indexes, files for people) is local.

use std::collections::{BTreeSet, HashMap};
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::jetstream::stream::DirectGetErrorKind;
use spelunk_fs::PrivateDir;
use spelunk_journal::{Disk, FileDisk, GcReport, JournalError, Lease, SharedRuns};
use spelunk_types::{BlobId, RunId};

use crate::garbage::GRACE;
use crate::lease::Leases;
use crate::nodes::subjects;
use crate::{Fleet, FleetError, PATIENCE, Result, lock, refused};

/// A copy that was compared this recently is not compared again.
const FRESH: Duration = Duration::from_millis(50);
/// How long to wait for a replica that has not received the last message yet.
const LAG: Duration = Duration::from_secs(10);
/// How much of a journal is read before it is written to the copy.
const GATHER_BYTES: usize = 1 << 20;

/// How many copies are remembered before unused ones are forgotten.
const COPIES_MAX: usize = 10_000;

/// The workspace of a node.
pub struct FleetWorkspace {
    fleet: Fleet,
    local: FileDisk,
    leases: Arc<Leases>,
    copies: Mutex<HashMap<RunId, Arc<Mutex<Copy>>>>,
}

/// The local copy of a journal.
#[derive(Debug, Default)]
struct Copy {
    /// The number of its last message, 0 if it is empty.
    seq: u64,
    bytes: u64,
    /// Whether `seq` and `bytes` are known.
    is_known: bool,
    /// When it was last compared with the fleet.
    compared: Option<Instant>,
    /// Whether this process holds the lease and has the whole journal: nobody else writes it.
    is_ours: bool,
}

impl FleetWorkspace {
    /// The workspace in this directory.
    pub fn new(fleet: Fleet, dir: PrivateDir) -> Arc<Self> {
        let leases = Leases::new(fleet.clone());
        Arc::new(Self { fleet, local: FileDisk::of(dir), leases, copies: Mutex::default() })
    }

    /// Whether another node has taken a run from this one.
    pub fn is_taken_over(&self, run: &RunId) -> bool {
        self.leases.is_lost(run)
    }

    /// Removes blobs that are not in `named` and were not stored or used within `grace`. Blocking.
    pub fn collect_older(
        &self,
        named: BTreeSet<BlobId>,
        grace: Duration,
        dry_run: bool,
    ) -> io::Result<GcReport> {
        Ok(self.fleet.wait(|fleet| async move { fleet.collect(named, grace, dry_run).await })?)
    }

    /// The fleet.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    fn copy(&self, run: &RunId) -> Arc<Mutex<Copy>> {
        let mut copies = lock(&self.copies);
        if copies.len() >= COPIES_MAX {
            // Forgotten copies are read again from their notes.
            copies.retain(|_, copy| Arc::strong_count(copy) > 1);
        }
        Arc::clone(copies.entry(run.clone()).or_default())
    }

    /// Appends to a journal: to the fleet, then to the copy.
    fn append_journal(&self, run: &RunId, bytes: &[u8]) -> io::Result<()> {
        if self.leases.is_lost(run) {
            return Err(FleetError::TakenOver { run: run.clone() }.into());
        }
        let copy = self.copy(run);
        let mut copy = lock(&copy);
        self.recall(run, &mut copy)?;
        let limit = self.fleet.message_bytes_max();
        let pieces = pieces(bytes, limit);
        for piece in pieces.ok_or_else(|| FleetError::TooLarge { run: run.clone(), limit })? {
            copy.seq = self.fleet.publish(run, (copy.seq, copy.bytes), piece).inspect_err(|error| {
                if matches!(error, FleetError::TakenOver { .. }) {
                    self.leases.lose(run);
                }
            })?;
            self.local.append(&journal_name(run), piece)?;
            copy.bytes += piece.len() as u64;
        }
        // The fleet accepted the append, so the copy is complete. Readers here must not fetch it again.
        copy.is_ours = self.leases.holds(run);
        Ok(())
    }

    /// Reads the note beside a copy: how much of the journal it has. A copy of any other length is
    /// fetched again.
    fn recall(&self, run: &RunId, copy: &mut Copy) -> io::Result<()> {
        if copy.is_known {
            return Ok(());
        }
        let noted = self.local.read(&note_name(run))?.and_then(|bytes| {
            let text = String::from_utf8(bytes).ok()?;
            let (seq, bytes) = text.trim().split_once(' ')?;
            Some((seq.parse::<u64>().ok()?, bytes.parse::<u64>().ok()?))
        });
        let there = self.local.dir().entry(&journal_name(run))?.map_or(0, |file| file.len);
        (copy.seq, copy.bytes) = match noted {
            Some((seq, bytes)) if bytes == there => (seq, bytes),
            Some(_) | None => (0, 0),
        };
        if copy.seq == 0 && there > 0 {
            self.local.create_unsynced(&journal_name(run), b"")?;
        }
        copy.is_known = true;
        Ok(())
    }

    fn note(&self, run: &RunId, copy: &Copy) -> io::Result<()> {
        self.local.create_unsynced(&note_name(run), format!("{} {}\n", copy.seq, copy.bytes).as_bytes())
    }

    /// Fetches what the copy lacks. With `upto`, waits for the message with that number.
    fn fetch(&self, run: &RunId, copy: &mut Copy, upto: Option<u64>) -> io::Result<()> {
        let began = Instant::now();
        let seq_before = copy.seq;
        loop {
            let (subject, after) = (self.fleet.subject_of(run), copy.seq);
            let (bytes, seq) = self.fleet.wait(|fleet| async move {
                fleet.persistently(PATIENCE, || fleet.read_after(&subject, after)).await
            })?;
            if seq > copy.seq {
                self.local.append(&journal_name(run), &bytes)?;
                (copy.seq, copy.bytes) = (seq, copy.bytes + bytes.len() as u64);
                if bytes.len() >= GATHER_BYTES {
                    continue;
                }
            }
            match upto {
                Some(upto) if copy.seq < upto && began.elapsed() < LAG => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Some(upto) if copy.seq < upto => {
                    let what = "send the end of a journal".to_owned();
                    return Err(FleetError::Silent { what, seconds: LAG.as_secs() }.into());
                }
                Some(_) | None => break,
            }
        }
        if copy.seq != seq_before {
            self.note(run, copy)?;
        }
        copy.compared = Some(Instant::now());
        Ok(())
    }

    fn last_message(&self, run: &RunId, patience: Duration) -> Result<Option<u64>> {
        let subject = self.fleet.subject_of(run);
        let last = self.fleet.wait(|fleet| async move {
            fleet.persistently(patience, || fleet.last_message(&subject)).await
        })?;
        Ok(last.map(|(seq, _)| seq))
    }

    /// Runs `work` unless another process on this machine is writing the copy.
    fn alone(&self, run: &RunId, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let held = |name: String| -> io::Result<Option<std::fs::File>> {
            let file = self.local.dir().open_or_create(&name)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        let Some(_copying) = held(format!("runs/{run}/fleet.lock"))? else { return Ok(()) };
        work()
    }
}

impl Fleet {
    /// About a megabyte of the journal after message `seq`, and the number of the last message read.
    async fn read_after(&self, subject: &str, mut seq: u64) -> Result<(Vec<u8>, u64)> {
        let mut bytes = Vec::new();
        while bytes.len() < GATHER_BYTES {
            let read = self.connected().journal.direct_get_next_for_subject(subject, Some(seq + 1)).await;
            match read {
                Ok(message) => {
                    bytes.extend_from_slice(&message.payload);
                    seq = message.sequence;
                }
                Err(error) if matches!(error.kind(), DirectGetErrorKind::NotFound) => break,
                Err(error) => return Err(refused("send a journal")(error)),
            }
        }
        Ok((bytes, seq))
    }
}

impl SharedRuns for FleetWorkspace {
    fn lease(&self, run: &RunId) -> Result<Lease, JournalError> {
        let copy = self.copy(run);
        let lease = self.leases.take(run)?;
        let released = move || {
            let mut copy = lock(&copy);
            (copy.is_ours, copy.is_known) = (false, false);
        };
        Ok(Box::new(lease.then(released)))
    }

    fn is_leased(&self, run: &RunId) -> io::Result<bool> {
        Ok(self.leases.holder(run)?.is_some())
    }

    fn refresh(&self, run: &RunId) -> io::Result<()> {
        let copy = self.copy(run);
        let mut copy = lock(&copy);
        if copy.is_ours || copy.compared.is_some_and(|compared| compared.elapsed() < FRESH) {
            return Ok(());
        }
        self.alone(run, || {
            // Another process may have fetched more in the meantime.
            copy.is_known = false;
            self.recall(run, &mut copy)?;
            self.fetch(run, &mut copy, None)
        })
    }

    fn catch_up(&self, run: &RunId) -> io::Result<()> {
        let copy = self.copy(run);
        let mut copy = lock(&copy);
        let last = self.last_message(run, self.fleet.inner.options.outage_max)?;
        copy.is_known = false;
        self.recall(run, &mut copy)?;
        self.fetch(run, &mut copy, Some(last.unwrap_or(0)))?;
        copy.is_ours = true;
        Ok(())
    }

    fn has(&self, run: &RunId) -> io::Result<bool> {
        let is_written_here = |copy: &Copy| copy.is_ours && copy.seq > 0;
        if is_written_here(&lock(&self.copy(run))) {
            return Ok(true);
        }
        Ok(self.last_message(run, PATIENCE)?.is_some())
    }

    fn runs(&self) -> io::Result<Vec<RunId>> {
        Ok(self.fleet.wait(|fleet| async move {
            let prefix = fleet.subject("journal.");
            let subjects =
                subjects(&fleet.connected().journal, format!("{prefix}*"), "list the runs").await?;
            let run = |subject: &String| subject.strip_prefix(&prefix)?.parse().ok();
            Ok(subjects.iter().filter_map(run).collect())
        })?)
    }

    fn remove(&self, run: &RunId) -> io::Result<()> {
        let subject = self.fleet.subject_of(run);
        self.fleet.wait(|fleet| async move {
            fleet.connected().journal.purge().filter(&subject).await.map_err(refused("remove a run"))
        })?;
        lock(&self.copies).remove(run);
        Ok(())
    }

    fn named_blobs(&self) -> io::Result<BTreeSet<BlobId>> {
        Ok(self.fleet.wait(|fleet| async move { fleet.blobs_of_jobs().await })?)
    }

    fn files_of(&self, manifest: &BlobId) -> io::Result<Vec<BlobId>> {
        let manifest = manifest.clone();
        Ok(self.fleet.wait(|fleet| async move { fleet.files_of(&manifest).await })?)
    }

    fn collect(&self, named: BTreeSet<BlobId>, dry_run: bool) -> io::Result<GcReport> {
        self.collect_older(named, GRACE, dry_run)
    }

    fn snapshot(&self, manifest: &BlobId) -> io::Result<PathBuf> {
        Ok(self.fleet.unpack(manifest)?)
    }

    fn snapshot_of(&self, path: &Path) -> Option<(BlobId, Option<String>)> {
        self.fleet.snapshot_of(path)
    }
}

impl Disk for FleetWorkspace {
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some(blob) = blob_of(name) {
            self.fleet.put_blob(&blob, bytes)?;
            // Not synced: the fleet has it.
            return self.local.create_unsynced(name, bytes);
        }
        self.local.create(name, bytes)
    }

    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.local.create_unsynced(name, bytes)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match run_of(name) {
            Some(run) => self.append_journal(&run, bytes),
            None => self.local.append(name, bytes),
        }
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        // The fleet stores a message before it acknowledges it.
        if run_of(name).is_some() { Ok(()) } else { self.local.sync(name) }
    }

    fn sync_name(&self, name: &str) -> io::Result<()> {
        if run_of(name).is_some() { Ok(()) } else { self.local.sync_name(name) }
    }

    fn truncate(&self, name: &str, len: u64) -> io::Result<()> {
        match run_of(name) {
            // Messages contain whole lines, so there is nothing to cut off.
            Some(_) => Err(io::Error::other("the journal in the fleet has an incomplete line")),
            None => self.local.truncate(name, len),
        }
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let there = self.local.read(name)?;
        let Some(blob) = blob_of(name).filter(|_| there.is_none()) else { return Ok(there) };
        let Some(bytes) = self.fleet.get_blob(&blob)? else { return Ok(None) };
        self.local.create_unsynced(name, &bytes)?;
        Ok(Some(bytes))
    }

    fn holds(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        // The copy says nothing about the fleet, which may have removed the blob.
        Ok(blob_of(name).is_none() && self.local.holds(name, bytes)?)
    }

    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        self.local.read_at(name, from, bytes_max)
    }
}

fn journal_name(run: &RunId) -> String {
    format!("runs/{run}/journal.jsonl")
}

fn note_name(run: &RunId) -> String {
    format!("runs/{run}/fleet.txt")
}

fn run_of(name: &str) -> Option<RunId> {
    name.strip_prefix("runs/")?.strip_suffix("/journal.jsonl")?.parse().ok()
}

fn blob_of(name: &str) -> Option<BlobId> {
    name.strip_prefix("blobs/")?.rsplit('/').next()?.parse().ok()
}

/// Splits into pieces of whole lines of at most `bytes_max`; `None` if one line is longer.
fn pieces(bytes: &[u8], bytes_max: usize) -> Option<Vec<&[u8]>> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while rest.len() > bytes_max {
        let (head, _) = rest.split_at(bytes_max);
        let at = head.iter().rposition(|byte| *byte == b'\n')? + 1;
        let (piece, left) = rest.split_at(at);
        pieces.push(piece);
        rest = left;
    }
    pieces.push(rest);
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_whole_lines() {
        let cut = |text: &'static str| {
            pieces(text.as_bytes(), 5)
                .map(|pieces| pieces.into_iter().map(|p| String::from_utf8_lossy(p).into_owned()).collect())
        };
        let is = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(cut("ab\ncd\nef\n"), is(&["ab\n", "cd\n", "ef\n"]));
        assert_eq!(cut("a\nb\nc\n"), is(&["a\nb\n", "c\n"]));
        assert_eq!(cut("a\nb\n"), is(&["a\nb\n"]));
        assert_eq!(cut("abcdef\n"), None);
    }

    #[test]
    fn journals_and_blobs_are_known_by_their_names() {
        assert!(run_of("runs/rlm-20261117T120000Z-0000002a/journal.jsonl").is_some());
        assert!(run_of("runs/rlm-20261117T120000Z-0000002a/prompts.pack").is_none());
        assert!(run_of("runs/../journal.jsonl").is_none());
        let blob = spelunk_journal::digest(b"x");
        assert_eq!(blob_of(&format!("blobs/ab/{blob}")), Some(blob));
        assert_eq!(blob_of("cache/x"), None);
    }
}
