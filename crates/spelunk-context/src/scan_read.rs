//! Reads candidates once, to find whether they are text, their length, and the BLAKE3 hash of the raw bytes. Files are
//! streamed on several threads; the result does not depend on their number.

pub(crate) mod sample;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::SystemTime;

use spelunk_fs::open_to_read;
use spelunk_types::BlobId;

use crate::decode::{self, HEAD_BYTES, Utf16Stream};
use crate::document::{Database, Origin};
use crate::extract::{self, ExtractKind};
use crate::lines::count_lines;
use crate::scratch::Scratch;
use crate::secrets::{SecretTally, SecretWatch};
use crate::source::{Candidate, NamedBy};
use crate::{DocEntry, ExtractError, NotText, SourceError, error, secrets};

/// Large enough for BLAKE3's widest instructions, small enough for an L2 cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// How often a long file reports progress.
const TICK_BYTES: u64 = 8 * 1024 * 1024;

/// How many short files, and how many bytes of them, a thread reads before it sends its results: waking another thread
/// for each file would take as long as reading it.
const HANDED_FILES: usize = 64;
const HANDED_BYTES: u64 = 512 * 1024;

/// The progress of a scan. While directories are walked, only the totals grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanProgress {
    /// Files read.
    pub files_done: u64,
    /// Files found.
    pub files_total: u64,
    /// Bytes read.
    pub bytes_done: u64,
    /// Bytes found, according to the file system.
    pub bytes_total: u64,
}

/// The result of reading a candidate.
#[derive(Debug)]
pub(crate) enum Reading {
    /// `moved_to` is the location of the text, if it had to be extracted.
    Text {
        bytes: u64,
        /// See [`DocEntry::lines`].
        lines: Option<u64>,
        digest: BlobId,
        modified: Option<SystemTime>,
        moved_to: Option<PathBuf>,
        /// The database, if the text describes one.
        database: Option<Database>,
        secrets: SecretTally,
    },
    Empty,
    NotText(NotText),
    NotExtracted(ExtractError),
    NoScratch(io::Error),
    Unreadable(io::Error),
}

/// The results of a thread since it last sent some.
#[derive(Default)]
struct ReadingBatch {
    bytes: u64,
    readings: Vec<(usize, Reading)>,
}

/// One reading per candidate, in order.
pub(crate) fn read_through(
    candidates: &[Candidate],
    scratch: &Scratch,
    threads: NonZeroUsize,
    progress: &mut ScanProgress,
    report: &mut dyn FnMut(ScanProgress),
) -> Vec<Reading> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut readings: Vec<Option<Reading>> = Vec::new();
    readings.resize_with(candidates.len(), || None);
    std::thread::scope(|scope| {
        for _ in 0..threads.get().min(candidates.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || read_some(candidates, scratch, next, &sender));
        }
        drop(sender);
        for batch in receiver {
            let ReadingBatch { bytes, readings: done } = batch;
            progress.bytes_done += bytes;
            progress.files_done += done.len() as u64;
            for (idx, reading) in done {
                readings[idx] = Some(reading);
            }
            report(*progress);
        }
    });
    readings.into_iter().map(|reading| reading.expect("every candidate is taken by one thread")).collect()
}

/// The hash of (name, digest) pairs, which identifies a corpus or a part of one. Lengths delimit the pairs.
pub(crate) fn digest_of<'a>(documents: impl Iterator<Item = (&'a str, &'a BlobId)>) -> BlobId {
    let mut hasher = blake3::Hasher::new();
    for (name, digest) in documents {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(digest.as_str().as_bytes());
    }
    BlobId::from_hash(*hasher.finalize().as_bytes())
}

/// The text of a document as it is returned: decoded, and redacted unless secrets are allowed.
pub(crate) fn read_text(document: &DocEntry) -> Result<String, SourceError> {
    let raw = read_again(document)?;
    // The scan already checked these bytes for secrets: the hash matches. But decoding may replace an invalid character
    // and so create a secret that the bytes do not contain; such text is checked again.
    let is_looked_through = !document.has_secrets && str::from_utf8(&raw).is_ok();
    let text = decode::decode(raw);
    if !document.redacts || is_looked_through {
        return Ok(text);
    }
    let (redacted, _) = secrets::redact(&text);
    Ok(match redacted {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    })
}

/// The raw bytes of a document, if they are unchanged since the scan. Bytes appended to its file since then are not
/// read.
fn read_again(document: &DocEntry) -> Result<Vec<u8>, SourceError> {
    let path = match &document.origin {
        Origin::Text(bytes) => return Ok(bytes.to_vec()),
        Origin::File(path) => path,
    };
    let reading = open_regular(path).and_then(|file| {
        let content = read_at_most(&file, document.bytes)?;
        let is_same = if is_sampled(document) {
            sampled_now(document, &file)? == document.digest
        } else {
            BlobId::from_hash(*blake3::hash(&content).as_bytes()) == document.digest
        };
        Ok((is_same && content.len() as u64 == document.bytes).then_some(content))
    });
    match reading {
        Ok(Some(content)) => Ok(content),
        Err(error) if !error::is_absence(&error) => Err(SourceError::from_io(path, error)),
        Ok(None) | Err(_) => Err(SourceError::Changed { name: document.name.clone() }),
    }
}

/// Whether the bytes of a document are unchanged since the scan. Reads all of them, or samples.
pub(crate) fn is_as_scanned(document: &DocEntry) -> Result<bool, SourceError> {
    let Origin::File(path) = &document.origin else { return Ok(true) };
    match open_regular(path).and_then(|file| begins_as_scanned(document, &file)) {
        Err(error) if !error::is_absence(&error) => Err(SourceError::from_io(path, error)),
        looked => Ok(looked.unwrap_or(false)),
    }
}

/// Whether a file begins with the scanned bytes. Reads all of them, or samples if there are many.
pub(crate) fn begins_as_scanned(document: &DocEntry, mut file: &File) -> io::Result<bool> {
    if is_sampled(document) {
        return Ok(sampled_now(document, file)? == document.digest);
    }
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(document.bytes))?;
    Ok(hasher.count() == document.bytes
        && BlobId::from_hash(*hasher.finalize().as_bytes()) == document.digest)
}

fn is_sampled(document: &DocEntry) -> bool {
    document.bytes > sample::WHOLE_BYTES_MAX
}

impl DocEntry {
    /// The modification time that is part of the digest of a large file.
    pub fn digest_time(&self) -> Option<SystemTime> {
        self.modified.filter(|_| is_sampled(self))
    }
}

/// The digest of the current samples of a document. The modification time is included unless the file has grown.
fn sampled_now(document: &DocEntry, file: &File) -> io::Result<BlobId> {
    let metadata = file.metadata()?;
    let has_grown = metadata.len() > document.bytes;
    let modified = if has_grown { document.modified } else { metadata.modified().ok() };
    sample::digest(file, document.bytes, modified)
}

fn read_at_most(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(usize::try_from(bytes_max).unwrap_or(0));
    file.take(bytes_max).read_to_end(&mut content)?;
    Ok(content)
}

/// Opens only a regular file: a pipe that replaced it would block forever.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_file() { open_to_read(path) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn read_some(candidates: &[Candidate], scratch: &Scratch, next: &AtomicUsize, sender: &Sender<ReadingBatch>) {
    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    let mut batch = ReadingBatch::default();
    loop {
        let idx = next.fetch_add(1, Ordering::Relaxed);
        let Some(candidate) = candidates.get(idx) else { break };
        let mut tick = |bytes| {
            batch.bytes += bytes;
            // A long file reports progress before it is finished.
            if bytes >= TICK_BYTES {
                drop(sender.send(std::mem::take(&mut batch)));
            }
        };
        let reading = match (&candidate.origin, candidate.extract) {
            (_, Some(kind)) => extract_one(candidate, kind, scratch).inspect(|_| tick(candidate.bytes)),
            (Origin::Text(bytes), None) => read_one(&mut &**bytes, candidate.redacts, &mut buffer, &mut tick),
            (Origin::File(path), None) => open_regular(path).and_then(|file| {
                if sqlite_named(candidate, &file)? {
                    tick(candidate.bytes);
                    Ok(describe_one(candidate, path, scratch))
                } else {
                    read_file(&file, candidate, &mut buffer, &mut tick)
                }
            }),
        };
        let reading = reading.unwrap_or_else(Reading::Unreadable);
        match reading {
            Reading::Text { .. } | Reading::NotExtracted(_) | Reading::NoScratch(_) => {}
            // Not a document, but its bytes count as done so that the totals add up.
            Reading::Empty | Reading::NotText(_) | Reading::Unreadable(_) => tick(candidate.bytes),
        }
        batch.readings.push((idx, reading));
        if batch.readings.len() >= HANDED_FILES || batch.bytes >= HANDED_BYTES {
            drop(sender.send(std::mem::take(&mut batch)));
        }
    }
    drop(sender.send(batch));
}

/// The length found here is the document's, whatever is appended to the file later.
fn read_file(
    file: &File,
    candidate: &Candidate,
    buffer: &mut Vec<u8>,
    tick: &mut dyn FnMut(u64),
) -> io::Result<Reading> {
    let metadata = file.metadata()?;
    let pin = candidate.pin.as_ref();
    let bytes = pin.map_or(metadata.len(), |pin| pin.bytes);
    let seen = pin.and_then(|pin| pin.modified).or(metadata.modified().ok());
    if bytes > sample::WHOLE_BYTES_MAX {
        return sample_one(file, bytes, seen, candidate.redacts).inspect(|_| tick(bytes));
    }
    let bytes_max = pin.map_or(sample::WHOLE_BYTES_MAX, |pin| pin.bytes);
    let mut reading = read_one(&mut file.take(bytes_max), candidate.redacts, buffer, tick)?;
    if let Reading::Text { modified, .. } = &mut reading {
        *modified = seen;
    }
    Ok(reading)
}

fn read_one(
    input: &mut dyn Read,
    redacts: bool,
    buffer: &mut Vec<u8>,
    tick: &mut dyn FnMut(u64),
) -> io::Result<Reading> {
    fill(input, BUFFER_BYTES, buffer)?;
    // A buffer is longer than any mark, so this is the whole file.
    if decode::is_empty(buffer) {
        return Ok(Reading::Empty);
    }
    if let Err(why) = decode::sniff(&buffer[..buffer.len().min(HEAD_BYTES)]) {
        return Ok(Reading::NotText(why));
    }
    let mut hasher = blake3::Hasher::new();
    let mut watch = redacts.then(SecretWatch::default);
    let (mut bytes, mut bytes_ticked) = (0, 0);
    let is_utf16 = Utf16Stream::of(buffer).is_some();
    let (mut n_newlines, mut last_byte) = (0, None);
    while !buffer.is_empty() {
        hasher.update(buffer);
        n_newlines += memchr::memchr_iter(b'\n', buffer).count() as u64;
        last_byte = buffer.last().copied();
        if let Some(watch) = &mut watch {
            watch.feed(buffer);
        }
        bytes += buffer.len() as u64;
        if bytes - bytes_ticked >= TICK_BYTES {
            tick(bytes - bytes_ticked);
            bytes_ticked = bytes;
        }
        // A buffer that was not filled is the last one: most files are read by one call.
        if buffer.len() < BUFFER_BYTES {
            break;
        }
        fill(input, BUFFER_BYTES, buffer)?;
    }
    tick(bytes - bytes_ticked);
    let digest = BlobId::from_hash(*hasher.finalize().as_bytes());
    let secrets = watch.map(SecretWatch::finish).unwrap_or_default();
    let lines = n_newlines + u64::from(last_byte != Some(b'\n'));
    let lines = (!is_utf16).then_some(lines);
    Ok(Reading::Text { bytes, lines, digest, modified: None, moved_to: None, database: None, secrets })
}

/// A file too large to read during the scan: its head decides whether it is text.
fn sample_one(
    mut file: &File,
    bytes: u64,
    modified: Option<SystemTime>,
    redacts: bool,
) -> io::Result<Reading> {
    let mut head = Vec::new();
    fill(&mut file, HEAD_BYTES, &mut head)?;
    if let Err(why) = decode::sniff(&head) {
        return Ok(Reading::NotText(why));
    }
    let digest = sample::digest(file, bytes, modified)?;
    let secrets = SecretTally { is_unknown: redacts, ..SecretTally::default() };
    Ok(Reading::Text { bytes, lines: None, digest, modified, moved_to: None, database: None, secrets })
}

/// Reads the whole document and writes its text to a scratch file.
fn extract_one(candidate: &Candidate, kind: ExtractKind, scratch: &Scratch) -> io::Result<Reading> {
    let bytes = match &candidate.origin {
        Origin::Text(bytes) => bytes.to_vec(),
        Origin::File(path) => read_at_most(&open_regular(path)?, extract::INPUT_BYTES_MAX + 1)?,
    };
    if bytes.is_empty() {
        return Ok(Reading::Empty);
    }
    let text = match extract::extract_apart(kind, &bytes) {
        Ok(text) => text,
        Err(error) => return Ok(Reading::NotExtracted(error)),
    };
    drop(bytes);
    Ok(keep_extracted(candidate, &text, None, scratch))
}

/// Whether the user named a SQLite database. One in a directory is left out, as other binary files are.
fn sqlite_named(candidate: &Candidate, mut file: &File) -> io::Result<bool> {
    if candidate.named_by == NamedBy::Walk {
        return Ok(false);
    }
    let is_sqlite = extract::sqlite::is_sqlite(file)?;
    file.rewind()?;
    Ok(is_sqlite)
}

/// Writes a description of a database to a scratch file.
fn describe_one(candidate: &Candidate, path: &Path, scratch: &Scratch) -> Reading {
    match extract::sqlite::describe(path) {
        Ok(text) => keep_extracted(candidate, &text, Some(Database::File(path.to_owned())), scratch),
        Err(error) => Reading::NotExtracted(error),
    }
}

fn keep_extracted(
    candidate: &Candidate,
    text: &str,
    database: Option<Database>,
    scratch: &Scratch,
) -> Reading {
    if !scratch.reserve(text.len() as u64) {
        return Reading::NotExtracted(ExtractError::TooLarge);
    }
    let written =
        scratch.create().and_then(|(mut file, path)| file.write_all(text.as_bytes()).map(|()| path));
    let path = match written {
        Ok(path) => path,
        Err(error) => return Reading::NoScratch(error),
    };
    let mut watch = candidate.redacts.then(SecretWatch::default);
    if let Some(watch) = &mut watch {
        watch.feed(text.as_bytes());
    }
    Reading::Text {
        bytes: text.len() as u64,
        lines: Some(count_lines(text)),
        digest: BlobId::from_hash(*blake3::hash(text.as_bytes()).as_bytes()),
        modified: None,
        moved_to: Some(path),
        database,
        secrets: watch.map(SecretWatch::finish).unwrap_or_default(),
    }
}

/// Reads at most `bytes_max` bytes into the buffer, in place of what it held.
fn fill(input: &mut dyn Read, bytes_max: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    input.take(bytes_max as u64).read_to_end(buffer)?;
    Ok(())
}

#[cfg(test)]
mod tests;
