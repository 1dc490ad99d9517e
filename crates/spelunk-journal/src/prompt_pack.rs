//! The pack: the prompt texts of one run, concatenated in one file next to the journal. A fan-out over thousands of
//! files would otherwise create as many files again, and creating a file costs far more than appending to one. Nobody
//! waits for it: a power cut may lose its end. Each text follows a header line with its hash and length, and is
//! verified against the hash when read.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spelunk_types::{BlobId, RunId};

use crate::{Disk, JournalError};

/// How many text ids a writer remembers: the same system prompt comes with every call.
const RECENT_MAX: usize = 4096;

/// How much is read at a time to find the next headers.
const LOOK_BYTES: usize = 64 << 10;

/// The limit of texts buffered to be written together.
const GATHERED_BYTES_MAX: usize = 1 << 20;

/// A hash, a space, the longest number and a newline.
const HEAD_BYTES_MAX: usize = 64 + 1 + 20 + 1;

/// Longer than any file, so that adding offsets cannot overflow.
const FILE_BYTES_MAX: u64 = 1 << 60;

pub(crate) struct PromptPack {
    disk: Arc<dyn Disk>,
    name: String,
    writer: Mutex<Writer>,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Writer {
    /// Whether the file ends with a complete text. The last process may have died while writing.
    is_sound: bool,
    exists: bool,
    recent: HashSet<BlobId>,
    /// Whether texts are buffered.
    gathers: bool,
    /// Texts with their headers that are not in the file yet.
    gathered: Vec<u8>,
}

/// The positions of texts, as far as the file has been scanned.
#[derive(Default)]
struct Index {
    ranges: HashMap<BlobId, Range<u64>>,
    end: u64,
}

impl PromptPack {
    pub(crate) fn new(disk: Arc<dyn Disk>, run: &RunId) -> Self {
        let name = format!("runs/{run}/prompts.pack");
        Self { disk, name, writer: Mutex::default(), index: Mutex::default() }
    }

    /// Buffers texts in memory until [`Self::write_gathered`]: ten writes cost ten times as much as one.
    pub(crate) fn gather(&self) {
        locked(&self.writer).gathers = true;
    }

    /// Writes the buffered texts and stops buffering.
    pub(crate) fn write_gathered(&self) -> Result<(), JournalError> {
        let mut writer = locked(&self.writer);
        writer.gathers = false;
        self.write(&mut writer)
    }

    /// Appends a text unless it was added recently. Only the process that holds the run may call this.
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
            // It is unknown which of them were written.
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

    /// Truncates an incomplete text at the end.
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

    /// A text, as stored in the file.
    pub(crate) fn get(&self, blob: &BlobId) -> io::Result<Option<Vec<u8>>> {
        let mut index = locked(&self.index);
        if !index.ranges.contains_key(blob) {
            self.look_on(&mut index)?;
        }
        let Some(place) = index.ranges.get(blob) else { return Ok(None) };
        let bytes_max = usize::try_from(place.end - place.start).unwrap_or(usize::MAX);
        self.disk.read_at(&self.name, place.start, bytes_max)
    }

    /// Scans what was appended since the last scan, up to the last complete text. Returns whether the file exists.
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
                index.ranges.insert(blob, place);
            }
            if index.end == from {
                return Ok(true);
            }
        }
    }
}

/// Parses the header at offset `at`: the id of the text, and its range in the file of which `bytes` are the beginning.
fn next_head(bytes: &[u8], at: u64) -> Option<(BlobId, Range<u64>)> {
    let near = bytes.get(usize::try_from(at).ok()?..)?;
    let near = near.get(..HEAD_BYTES_MAX).unwrap_or(near);
    let line = near.get(..near.iter().position(|byte| *byte == b'\n')?)?;
    let (name, length) = str::from_utf8(line).ok()?.split_once(' ')?;
    let (blob, length) = (name.parse().ok()?, length.parse::<u64>().ok()?);
    let begin = at + line.len() as u64 + 1;
    // A range beyond any possible file is invalid.
    let end = begin.checked_add(length).filter(|end| *end < FILE_BYTES_MAX)?;
    Some((blob, begin..end))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
