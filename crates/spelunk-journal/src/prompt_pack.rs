//! The pack: the texts of one run's prompts, one behind the other in one file beside the journal. A fan-out over
//! thousands of files would otherwise make as many files again, and to make a file costs a file system far more than to
//! write into one. Nobody waits for it: a power cut may take its end. Each text stands behind a line with its name and
//! its length, and is checked against the name when it is read.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spelunk_types::{BlobId, RunId};

use crate::{Disk, JournalError};

/// Names of texts that a writer remembers, at most: the same system prompt comes with every call.
const RECENT_MAX: usize = 4096;

/// How much is read at once to find the next heads.
const LOOK_BYTES: usize = 64 << 10;

/// Texts that wait to be written together, at most.
const GATHERED_BYTES_MAX: usize = 1 << 20;

/// A name, a space, the longest number and a line end.
const HEAD_BYTES_MAX: usize = 64 + 1 + 20 + 1;

/// Longer than any file. Sums of places stay in range.
const FILE_BYTES_MAX: u64 = 1 << 60;

pub(crate) struct PromptPack {
    disk: Arc<dyn Disk>,
    name: String,
    writer: Mutex<Writer>,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Writer {
    /// Whether the end of the file is the end of a text. The last process may have died while it wrote.
    is_sound: bool,
    exists: bool,
    recent: HashSet<BlobId>,
    /// Whether texts wait for each other.
    gathers: bool,
    /// Texts with their heads that are not in the file yet.
    gathered: Vec<u8>,
}

/// Where texts are, as far as the file was looked through.
#[derive(Default)]
struct Index {
    places: HashMap<BlobId, Range<u64>>,
    end: u64,
}

impl PromptPack {
    pub(crate) fn new(disk: Arc<dyn Disk>, run: &RunId) -> Self {
        let name = format!("runs/{run}/prompts.pack");
        Self { disk, name, writer: Mutex::default(), index: Mutex::default() }
    }

    /// From now on texts wait in memory until [`Self::write_gathered`]: to write into a file ten times costs ten times as
    /// much as to write into it once.
    pub(crate) fn gather(&self) {
        locked(&self.writer).gathers = true;
    }

    /// Writes what waits, and waits no longer.
    pub(crate) fn write_gathered(&self) -> Result<(), JournalError> {
        let mut writer = locked(&self.writer);
        writer.gathers = false;
        self.write(&mut writer)
    }

    /// Adds a text, unless it was added not long ago. One process at a time: that which has the run.
    pub(crate) fn add(&self, blob: &BlobId, text: &[u8]) -> Result<(), JournalError> {
        let mut writer = locked(&self.writer);
        if writer.recent.contains(blob) {
            return Ok(());
        }
        writer.gathered.extend_from_slice(format!("{blob} {}\n", text.len()).as_bytes());
        writer.gathered.extend_from_slice(text);
        writer.gathered.push(b'\n');
        if writer.recent.len() >= RECENT_MAX {
            writer.recent.clear();
        }
        writer.recent.insert(blob.clone());
        if writer.gathers && writer.gathered.len() < GATHERED_BYTES_MAX {
            return Ok(());
        }
        self.write(&mut writer)
    }

    fn write(&self, writer: &mut Writer) -> Result<(), JournalError> {
        let entries = std::mem::take(&mut writer.gathered);
        if entries.is_empty() {
            return Ok(());
        }
        self.write_entries(writer, &entries).map_err(|source| {
            // Nobody knows which of them are there.
            writer.recent.clear();
            JournalError::Write { name: self.name.clone(), source }
        })
    }

    fn write_entries(&self, writer: &mut Writer, entries: &[u8]) -> io::Result<()> {
        if !writer.is_sound {
            self.make_sound(writer)?;
        }
        writer.is_sound = false;
        if writer.exists {
            self.disk.append(&self.name, entries)?;
        } else {
            self.disk.create_unsynced(&self.name, entries)?;
        }
        (writer.is_sound, writer.exists) = (true, true);
        Ok(())
    }

    /// Cuts off a text of which only the beginning is there.
    fn make_sound(&self, writer: &mut Writer) -> io::Result<()> {
        let mut index = Index::default();
        writer.exists = self.look_on(&mut index)?;
        let behind = self.disk.read_at(&self.name, index.end, 1)?.unwrap_or_default();
        if !behind.is_empty() {
            self.disk.truncate(&self.name, index.end)?;
        }
        writer.is_sound = true;
        Ok(())
    }

    /// A text, as it is in the file.
    pub(crate) fn get(&self, blob: &BlobId) -> io::Result<Option<Vec<u8>>> {
        let mut index = locked(&self.index);
        if !index.places.contains_key(blob) {
            self.look_on(&mut index)?;
        }
        let Some(place) = index.places.get(blob) else { return Ok(None) };
        let bytes_max = usize::try_from(place.end - place.start).unwrap_or(usize::MAX);
        self.disk.read_at(&self.name, place.start, bytes_max)
    }

    /// Looks through what was added since the last look, up to the last text that is there whole. Whether there is a
    /// file.
    fn look_on(&self, index: &mut Index) -> io::Result<bool> {
        loop {
            let Some(bytes) = self.disk.read_at(&self.name, index.end, LOOK_BYTES)? else { return Ok(false) };
            let from = index.end;
            while let Some((blob, text)) = next_head(&bytes, index.end - from) {
                let place = from + text.start..from + text.end;
                let line_end = match usize::try_from(text.end).ok().and_then(|end| bytes.get(end)) {
                    Some(byte) => Some(*byte),
                    None => {
                        self.disk.read_at(&self.name, place.end, 1)?.and_then(|bytes| bytes.first().copied())
                    }
                };
                if line_end != Some(b'\n') {
                    return Ok(true);
                }
                index.end = place.end + 1;
                index.places.insert(blob, place);
            }
            if index.end == from {
                return Ok(true);
            }
        }
    }
}

/// The name of the text whose head begins at `at`, and where the text is in the file that `bytes` are the beginning of.
fn next_head(bytes: &[u8], at: u64) -> Option<(BlobId, Range<u64>)> {
    let near = bytes.get(usize::try_from(at).ok()?..)?;
    let near = near.get(..HEAD_BYTES_MAX).unwrap_or(near);
    let line = near.get(..near.iter().position(|byte| *byte == b'\n')?)?;
    let (name, length) = str::from_utf8(line).ok()?.split_once(' ')?;
    let (blob, length) = (name.parse().ok()?, length.parse::<u64>().ok()?);
    let begin = at + line.len() as u64 + 1;
    // No file is so long that its places do not fit.
    let end = begin.checked_add(length).filter(|end| *end < FILE_BYTES_MAX)?;
    Some((blob, begin..end))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
