//! The pack: the prompt texts of one run in one file next to the journal, because creating thousands of files
//! costs far more than appending to one. A power cut may lose its end. Each text follows a header line with
//! its hash and stored length, and is verified when read. Texts are compressed (`z`). If a text begins like a
//! recent one, only the rest is stored, and the header names the other text and the shared length.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use spelunk_types::{BlobId, RunId};

use crate::{Disk, JournalError};

/// How many text ids a writer remembers: the same system prompt comes with every call.
const RECENT_MAX: usize = 4096;

/// How much is read at a time to find the next headers.
const LOOK_BYTES: usize = 64 << 10;

/// The limit of texts buffered to be written together.
const GATHERED_BYTES_MAX: usize = 1 << 20;

/// Two hashes, two of the longest numbers, the mark of compression, spaces and a newline.
const HEAD_BYTES_MAX: usize = 64 + 20 + 1 + 64 + 20 + 5;

/// How many texts are remembered as possible beginnings of the next ones, and how long one may be.
const BASES_MAX: usize = 4;
const BASE_BYTES_MAX: usize = 2 << 20;

/// A shorter shared prefix is not worth a longer header.
const SHARED_BYTES_MIN: usize = 512;

/// The longest text that is compressed: a damaged file must not inflate to more.
const INFLATED_BYTES_MAX: usize = 64 << 20;

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
    /// The last texts that were stored whole, newest last.
    bases: VecDeque<(BlobId, Vec<u8>)>,
    /// Whether texts are buffered.
    gathers: bool,
    /// Texts that are not in the file yet, and their size.
    gathered: Vec<(BlobId, Vec<u8>)>,
    gathered_bytes: usize,
}

/// Where and how a text is stored.
#[derive(Debug, Clone)]
struct Place {
    range: Range<u64>,
    is_compressed: bool,
    /// The text it shares a prefix with, and the length of that prefix.
    shared: Option<(BlobId, usize)>,
}

/// The positions of texts, as far as the file has been scanned.
#[derive(Default)]
struct Index {
    places: HashMap<BlobId, Place>,
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
        writer.gathered.push((blob.clone(), text.to_vec()));
        writer.gathered_bytes += text.len();
        if writer.recent.len() >= RECENT_MAX {
            writer.recent.clear();
        }
        writer.recent.insert(blob.clone());
        if writer.gathers && writer.gathered_bytes < GATHERED_BYTES_MAX {
            return Ok(());
        }
        self.write(&mut writer)
    }

    fn write(&self, writer: &mut Writer) -> Result<(), JournalError> {
        writer.gathered_bytes = 0;
        let texts = std::mem::take(&mut writer.gathered);
        if texts.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::new();
        for (blob, text) in texts {
            writer.pack(blob, text, &mut entries);
        }
        self.write_entries(writer, &entries).map_err(|source| {
            // It is unknown which of them were written.
            writer.recent.clear();
            writer.bases.clear();
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
        if !index.places.contains_key(blob) {
            self.look_on(&mut index)?;
        }
        let Some(place) = index.places.get(blob) else { return Ok(None) };
        let Some((base, shared_bytes)) = &place.shared else { return self.read(place) };
        // A base text is stored whole.
        let Some(base) = index.places.get(base).filter(|base| base.shared.is_none()) else { return Ok(None) };
        let (Some(mut text), Some(rest)) = (self.read(base)?, self.read(place)?) else { return Ok(None) };
        text.truncate(*shared_bytes);
        text.extend_from_slice(&rest);
        Ok(Some(text))
    }

    fn read(&self, place: &Place) -> io::Result<Option<Vec<u8>>> {
        let bytes_max = usize::try_from(place.range.end - place.range.start).unwrap_or(usize::MAX);
        let stored = self.disk.read_at(&self.name, place.range.start, bytes_max)?;
        Ok(if place.is_compressed { stored.and_then(|stored| inflate(&stored)) } else { stored })
    }

    /// Scans what was appended since the last scan, up to the last complete text. Returns whether the file exists.
    fn look_on(&self, index: &mut Index) -> io::Result<bool> {
        loop {
            let Some(bytes) = self.disk.read_at(&self.name, index.end, LOOK_BYTES)? else { return Ok(false) };
            let from = index.end;
            while let Some((blob, mut place)) = next_head(&bytes, index.end - from) {
                let text = place.range;
                place.range = from + text.start..from + text.end;
                let line_end = match usize::try_from(text.end).ok().and_then(|end| bytes.get(end)) {
                    Some(byte) => Some(*byte),
                    None => {
                        let behind = self.disk.read_at(&self.name, place.range.end, 1)?;
                        behind.and_then(|bytes| bytes.first().copied())
                    }
                };
                if line_end != Some(b'\n') {
                    return Ok(true);
                }
                index.end = place.range.end + 1;
                index.places.insert(blob, place);
            }
            if index.end == from {
                return Ok(true);
            }
        }
    }
}

impl Writer {
    /// Appends a text with its header to the entries.
    fn pack(&mut self, blob: BlobId, text: Vec<u8>, entries: &mut Vec<u8>) {
        if text.len() > INFLATED_BYTES_MAX {
            entries.extend_from_slice(format!("{blob} {}\n", text.len()).as_bytes());
            entries.extend_from_slice(&text);
            entries.push(b'\n');
            return;
        }
        let shared = self.bases.iter().map(|(base, other)| (base, n_shared(other, &text)));
        let shared =
            shared.filter(|(_, n_shared)| *n_shared >= SHARED_BYTES_MIN).max_by_key(|shared| shared.1);
        let rest = text.get(shared.map_or(0, |shared| shared.1)..).unwrap_or_default();
        let stored = deflate(rest);
        let base = shared.map(|(base, n_shared)| format!(" {base} {n_shared}")).unwrap_or_default();
        entries.extend_from_slice(format!("{blob} {} z{base}\n", stored.len()).as_bytes());
        entries.extend_from_slice(&stored);
        entries.push(b'\n');
        if base.is_empty() && text.len() <= BASE_BYTES_MAX {
            if self.bases.len() >= BASES_MAX {
                self.bases.pop_front();
            }
            self.bases.push_back((blob, text));
        }
    }
}

/// The length of the common prefix.
fn n_shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(text).and_then(|()| encoder.finish());
    packed.expect("writing to memory does not fail")
}

/// `None` if it is damaged or too long.
fn inflate(stored: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let bytes_max = INFLATED_BYTES_MAX as u64;
    DeflateDecoder::new(stored).take(bytes_max + 1).read_to_end(&mut text).ok()?;
    (text.len() <= INFLATED_BYTES_MAX).then_some(text)
}

/// Parses the header at offset `at`: the id of the text, and its place in the file of which `bytes` are the beginning.
fn next_head(bytes: &[u8], at: u64) -> Option<(BlobId, Place)> {
    let near = bytes.get(usize::try_from(at).ok()?..)?;
    let near = near.get(..HEAD_BYTES_MAX).unwrap_or(near);
    let line = near.get(..near.iter().position(|byte| *byte == b'\n')?)?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    let (blob, length) = (words.next()?.parse().ok()?, words.next()?.parse::<u64>().ok()?);
    let is_compressed = match words.next() {
        None => false,
        Some("z") => true,
        Some(_) => return None,
    };
    let shared = match (words.next(), words.next()) {
        (None, _) => None,
        (Some(base), n_shared) => Some((base.parse().ok()?, n_shared?.parse().ok()?)),
    };
    let begin = at + line.len() as u64 + 1;
    // A range beyond any possible file is invalid.
    let end = begin.checked_add(length).filter(|end| *end < FILE_BYTES_MAX)?;
    Some((blob, Place { range: begin..end, is_compressed, shared }))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
