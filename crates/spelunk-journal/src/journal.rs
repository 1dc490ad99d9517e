//! The journal: the ordered events of one run, append-only, with contiguous `seq` starting at 1. It has one writer;
//! readers take no lock and see complete lines only.

use std::io;
use std::sync::Arc;

use serde_json::Value;
use spelunk_types::{Durability, Event, EventKind, FrameId, JOURNAL_FORMAT, RunId};

use crate::sync::removed;
use crate::{Disk, JournalError, JournalSync, Record, SyncMode, line};

/// The writer of one run's journal.
pub struct Journal {
    disk: Arc<dyn Disk>,
    name: String,
    mode: SyncMode,
    sync: JournalSync,
    seq_last: u64,
    /// Whether lines were written since the last sync.
    is_ahead: bool,
    /// Set by the first failed write: the state on disk is unknown until the journal is opened again.
    broken: bool,
}

/// A journal opened for writing.
pub struct OpenedJournal {
    /// The writer.
    pub journal: Journal,
    /// All events so far.
    pub events: Vec<Event>,
    /// The length of the torn end that was truncated, 0 if there was none.
    pub bytes_dropped: u64,
}

impl Journal {
    /// The journal of a new run. Nothing is written yet.
    pub fn create(disk: Arc<dyn Disk>, run: &RunId) -> Self {
        let (name, mode) = (file_name(run), SyncMode::default());
        let sync = JournalSync::new(Arc::clone(&disk), &name);
        Self { disk, name, mode, sync, seq_last: 0, is_ahead: false, broken: false }
    }

    pub(crate) fn with_mode(self, mode: SyncMode) -> Self {
        Self { mode, ..self }
    }

    /// Opens a journal to continue writing. Drops lines torn by a power cut and refuses any other damage.
    pub fn open(disk: Arc<dyn Disk>, run: &RunId) -> Result<OpenedJournal, JournalError> {
        let (records, bytes_whole, bytes_dropped) = load(disk.as_ref(), run)?;
        let events = records.into_iter().map(|record| Ok(*record.known(run)?));
        let events: Vec<Event> = events.collect::<Result<_, JournalError>>()?;
        let name = file_name(run);
        if bytes_dropped > 0 {
            let cut = disk.truncate(&name, bytes_whole);
            cut.map_err(|source| JournalError::Write { name: name.clone(), source })?;
        }
        let seq_last = events.len() as u64;
        let journal = Self { seq_last, ..Self::create(disk, run) };
        Ok(OpenedJournal { journal, events, bytes_dropped })
    }

    /// Reads the complete lines of a journal without locking or changing it.
    pub fn read(disk: &dyn Disk, run: &RunId) -> Result<Vec<Record>, JournalError> {
        load(disk, run).map(|(records, ..)| records)
    }

    /// Appends events in one write. Promises are always synced, other events as the mode requires.
    /// After a failure every further append fails: a line after a torn one would be damage.
    pub fn append(
        &mut self,
        at_ms: u64,
        facts: Vec<(FrameId, EventKind)>,
    ) -> Result<Vec<Event>, JournalError> {
        let mut lines = Vec::new();
        let mut events = Vec::with_capacity(facts.len());
        let mut must_sync = false;
        for (frame, kind) in facts {
            must_sync |= match kind.durability() {
                Durability::Promised => true,
                Durability::Synced => self.mode == SyncMode::Power,
                Durability::Buffered | Durability::Ephemeral => false,
            };
            let event = Event { seq: self.seq_last + 1 + events.len() as u64, at_ms, frame, kind };
            line::write(&event, &mut lines);
            events.push(event);
        }
        self.write(&lines, must_sync)?;
        self.seq_last += events.len() as u64;
        Ok(events)
    }

    /// The sequence number of the last event written.
    pub fn seq_last(&self) -> u64 {
        self.seq_last
    }

    /// The sync mode, and the handle that syncs the journal.
    pub fn sync(&self) -> (SyncMode, JournalSync) {
        (self.mode, self.sync.clone())
    }

    /// Whether lines were written since the last sync of this writer.
    pub fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    fn write(&mut self, lines: &[u8], must_sync: bool) -> Result<(), JournalError> {
        let refused = |source| JournalError::Write { name: self.name.clone(), source };
        if self.broken {
            return Err(refused(io::Error::other("an earlier write failed")));
        }
        let written = self.prepare().and_then(|()| self.disk.append(&self.name, lines)).map_err(refused);
        let written = if must_sync { written.and_then(|()| self.sync.sync()) } else { written };
        (self.is_ahead, self.broken) = (!must_sync, written.is_err());
        written
    }

    /// The first line starts an empty file: whatever a power cut left of an earlier attempt is truncated. Later lines
    /// require an existing file, so a removed journal is never silently recreated.
    fn prepare(&self) -> io::Result<()> {
        if self.seq_last > 0 {
            let there = self.disk.read_at(&self.name, 0, 1)?;
            return if there.is_some_and(|bytes| !bytes.is_empty()) { Ok(()) } else { Err(removed()) };
        }
        match self.disk.read(&self.name)? {
            Some(bytes) if bytes.contains(&b'\n') => Err(io::ErrorKind::AlreadyExists.into()),
            Some(bytes) if !bytes.is_empty() => self.disk.truncate(&self.name, 0),
            Some(_) | None => Ok(()),
        }
    }
}

pub(crate) fn file_name(run: &RunId) -> String {
    format!("runs/{run}/journal.jsonl")
}

/// The complete lines, their size in bytes, and the size of the torn line after them.
fn load(disk: &dyn Disk, run: &RunId) -> Result<(Vec<Record>, u64, u64), JournalError> {
    let name = file_name(run);
    let bytes = disk.read(&name).map_err(|source| JournalError::Read { name: name.clone(), source })?;
    let bytes = bytes.ok_or_else(|| JournalError::NotFound { name: run.to_string() })?;
    let (records, whole) = read_lines(&bytes, run, 1)?;
    Ok((records, whole as u64, (bytes.len() - whole) as u64))
}

/// The complete lines and their size in bytes. `first` is the number of the first line.
pub fn read_lines(bytes: &[u8], run: &RunId, first: u64) -> Result<(Vec<Record>, usize), JournalError> {
    let (mut records, mut whole) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        match read_line(text, run, first + records.len() as u64) {
            Err(JournalError::Damaged { .. }) if has_hole(text) => break,
            record => records.push(record?),
        }
        whole += line.len();
    }
    Ok((records, whole))
}

/// The smallest unit that a disk writes.
const SECTOR_BYTES: usize = 512;

/// Whether a power cut left zeros in a line. Lines are synced in order, so nothing after it was synced.
fn has_hole(line: &[u8]) -> bool {
    line.chunk_by(|a, b| a == b).any(|run| run.len() >= SECTOR_BYTES && run.first() == Some(&0))
}

/// Parses one line; the first one must be a start event in a format we know.
pub(crate) fn read_line(bytes: &[u8], run: &RunId, number: u64) -> Result<Record, JournalError> {
    let damaged = |what| JournalError::Damaged { run: run.clone(), line: number, what };
    let record = line::read(bytes, number).map_err(damaged)?;
    if number == 1 {
        check_start(&record, run)?;
    }
    Ok(record)
}

fn check_start(record: &Record, run: &RunId) -> Result<(), JournalError> {
    let format = match record {
        Record::Known(event) => {
            let EventKind::RunStarted { format, .. } = &event.kind else {
                let what = format!("a journal must begin with run.started, not with {}", event.kind.name());
                return Err(JournalError::Damaged { run: run.clone(), line: 1, what });
            };
            Some(u64::from(*format))
        }
        Record::Unknown { raw, .. } => raw.get("format").and_then(Value::as_u64),
    };
    match (format, record) {
        (Some(format), _) if format > u64::from(JOURNAL_FORMAT) => {
            Err(JournalError::Newer { run: run.clone(), format })
        }
        (Some(_), Record::Known(_)) => Ok(()),
        (Some(_) | None, _) => {
            let what = "its first event is not a supported run.started event".to_owned();
            Err(JournalError::Damaged { run: run.clone(), line: 1, what })
        }
    }
}
