//! Reads candidates once, to find whether they are text, their length, and the BLAKE3 hash of the raw bytes. Files are
//! streamed on several threads; the result does not depend on their number.

pub(crate) mod sample;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

pub(crate) use spelunk_fs::open_regular;
use spelunk_types::BlobId;

use crate::decode::{self, HEAD_BYTES, Utf16Stream};
use crate::document::{Database, Origin};
use crate::extract::{self, ExtractKind};
use crate::lines::count_lines;
use crate::scratch::Scratch;
use crate::secrets::{SecretTally, SecretWatch, Sought};
use crate::source::{Candidate, NamedBy};
use crate::{DocEntry, ExtractError, NotText, SourceError, error, secrets};

/// Large enough for BLAKE3's widest instructions, small enough for an L2 cache.
const BUFFER_BYTES: usize = 256 * 1024;
const WHOLE_BUFFER_BYTES_MAX: u64 = 8 << 20;
const TICK_BYTES: u64 = 8 * 1024 * 1024;

/// The files and bytes that a thread gets at once: waking a thread per file would take as long as reading it.
const HANDED_FILES: usize = 32;
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

#[derive(Debug)]
pub(crate) enum Reading {
    /// `moved_to` is the location of the text, if it had to be extracted.
    Text {
        bytes: u64,
        lines: Option<u64>,
        digest: BlobId,
        modified: Option<SystemTime>,
        moved_to: Option<PathBuf>,
        database: Option<Database>,
        secrets: SecretTally,
    },
    Empty,
    NotText(NotText),
    NotExtracted(ExtractError),
    NoScratch(io::Error),
    Unreadable(io::Error),
}

type CandidateBatch = Vec<(usize, Candidate)>;

pub(crate) type ReadCandidate = (usize, Candidate, Reading);

#[derive(Default)]
struct ReadingBatch {
    bytes: u64,
    readings: Vec<ReadCandidate>,
}

pub(crate) type Report<'a> = &'a mut dyn FnMut(ScanProgress);

/// Reads the candidates that `list` hands over, while it is listing others. Returns them in order, with what was read.
pub(crate) fn read_through<T>(
    scratch: &Scratch,
    sought: Option<&Sought>,
    threads: NonZeroUsize,
    (progress, report): (&mut ScanProgress, Report<'_>),
    list: impl FnOnce(&mut dyn FnMut(Candidate), &mut ScanProgress, Report<'_>) -> T,
) -> (T, Vec<ReadCandidate>) {
    let (hand, handed) = mpsc::channel();
    let handed = Mutex::new(handed);
    let (sender, receiver) = mpsc::channel();
    let mut all = Vec::new();
    let listed = std::thread::scope(|scope| {
        for _ in 0..threads.get() {
            let (sender, handed) = (sender.clone(), &handed);
            scope.spawn(move || read_some(handed, scratch, sought, &sender));
        }
        drop(sender);
        let (mut idx, mut bytes, mut batch) = (0, 0, CandidateBatch::new());
        let mut take = |candidate: Candidate| {
            // Extraction takes long, however short the file is.
            bytes += if candidate.extract.is_some() { HANDED_BYTES } else { candidate.bytes };
            batch.push((idx, candidate));
            idx += 1;
            if batch.len() >= HANDED_FILES || bytes >= HANDED_BYTES {
                bytes = 0;
                drop(hand.send(std::mem::take(&mut batch)));
            }
        };
        let listed = list(&mut take, progress, report);
        drop(hand.send(batch));
        drop(hand);
        for ReadingBatch { bytes, readings } in receiver {
            progress.bytes_done += bytes;
            progress.files_done += readings.len() as u64;
            all.extend(readings);
            report(*progress);
        }
        listed
    });
    all.sort_unstable_by_key(|(idx, ..)| *idx);
    (listed, all)
}

/// The hash of (name, digest) pairs, which identifies a corpus or a part of one. Lengths delimit the pairs.
pub(crate) fn digest_of<'a>(documents: impl Iterator<Item = (&'a str, &'a BlobId)>) -> BlobId {
    let mut hasher = blake3::Hasher::new();
    for (name, digest) in documents {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(digest.to_string().as_bytes());
    }
    BlobId::from_hash(*hasher.finalize().as_bytes())
}

/// How a document is compared with what was scanned before its text is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// By its digest: text that is shown must be what was scanned.
    Bytes,
    /// By the size and time of its file, if they are known.
    Stamp,
}

/// The text of a document as it is returned: decoded, and redacted unless secrets are allowed.
pub(crate) fn read_text(document: &DocEntry, compared: Compared) -> Result<String, SourceError> {
    let (text, is_exact) = match String::from_utf8(read_again(document, compared)?) {
        Ok(text) => (decode::without_mark(text), true),
        // Decoding may replace an invalid character and so create a secret that the bytes do not contain.
        Err(error) => (decode::decode(error.into_bytes()), false),
    };
    // The scan already checked these bytes for secrets.
    if !document.redacts || (is_exact && !document.has_secrets) {
        return Ok(text);
    }
    let (redacted, _) = secrets::redact(&text);
    Ok(match redacted {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    })
}

/// The raw bytes of a document if they are unchanged since the scan, without bytes appended to its file.
fn read_again(document: &DocEntry, compared: Compared) -> Result<Vec<u8>, SourceError> {
    let path = match &document.origin {
        Origin::Text(bytes) => return Ok(bytes.to_vec()),
        Origin::File(path) => path,
    };
    let reading = open_regular(path).and_then(|file| {
        let content = read_at_most(&file, document.bytes)?;
        let is_same = if is_sampled(document) {
            sampled_now(document, &file)? == document.digest
        } else {
            (compared == Compared::Stamp && has_stamp(document, &file)?)
                || BlobId::from_hash(*blake3::hash(&content).as_bytes()) == document.digest
        };
        Ok((is_same && content.len() as u64 == document.bytes).then_some(content))
    });
    match reading {
        Ok(Some(content)) => Ok(content),
        Err(error) if !error::is_absence(&error) => Err(SourceError::from_io(path, error)),
        Ok(None) | Err(_) => Err(SourceError::Changed { name: document.name.clone() }),
    }
}

fn has_stamp(document: &DocEntry, file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.len() == document.bytes
        && document.modified.is_some()
        && metadata.modified().ok() == document.modified)
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
    // Pages of a zeroed buffer take no memory until they are written.
    let mut content = vec![0; usize::try_from(bytes_max).unwrap_or(usize::MAX)];
    let n_read = fill(&mut content, |_, rest| (&*file).read(rest))?;
    content.truncate(n_read);
    Ok(content)
}

fn read_some(
    handed: &Mutex<Receiver<CandidateBatch>>,
    scratch: &Scratch,
    sought: Option<&Sought>,
    sender: &Sender<ReadingBatch>,
) {
    let mut buffer = vec![0; BUFFER_BYTES];
    let next = || handed.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(candidates) = next() {
        let mut batch = ReadingBatch::default();
        for (idx, candidate) in candidates {
            let mut tick = |bytes| {
                batch.bytes += bytes;
                // A long file reports progress before it is finished.
                if bytes >= TICK_BYTES {
                    drop(sender.send(std::mem::take(&mut batch)));
                }
            };
            let reading = read_candidate(&candidate, scratch, sought, &mut buffer, &mut tick);
            let reading = reading.unwrap_or_else(Reading::Unreadable);
            if matches!(reading, Reading::Empty | Reading::NotText(_) | Reading::Unreadable(_)) {
                // Not a document, but its bytes count as done so that the totals add up.
                tick(candidate.bytes);
            }
            batch.readings.push((idx, candidate, reading));
        }
        drop(sender.send(batch));
    }
}

fn read_candidate(
    candidate: &Candidate,
    scratch: &Scratch,
    sought: Option<&Sought>,
    buffer: &mut Vec<u8>,
    tick: &mut dyn FnMut(u64),
) -> io::Result<Reading> {
    let watch = || candidate.redacts.then(|| SecretWatch::with(sought));
    match (&candidate.origin, candidate.extract) {
        (_, Some(kind)) => extract_one(candidate, kind, scratch).inspect(|_| tick(candidate.bytes)),
        (Origin::Text(bytes), None) => read_one(&mut &**bytes, watch(), buffer, tick),
        (Origin::File(path), None) => {
            let file = open_regular(path)?;
            if sqlite_named(candidate, &file)? {
                tick(candidate.bytes);
                return Ok(describe_one(candidate, path, scratch));
            }
            read_file(&file, candidate, watch(), buffer, tick)
        }
    }
}

/// The length found here is the document's, whatever is appended to the file later.
fn read_file(
    file: &File,
    candidate: &Candidate,
    watch: Option<SecretWatch<'_>>,
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
    if bytes < WHOLE_BUFFER_BYTES_MAX {
        let room = usize::try_from(bytes).unwrap_or(usize::MAX) + 1;
        buffer.resize(room.max(buffer.len()), 0);
    }
    // A file in `/proc` may report a size of 0.
    let bytes_max = if bytes == 0 { sample::WHOLE_BYTES_MAX } else { bytes };
    let mut reading = read_one(&mut file.take(bytes_max), watch, buffer, tick)?;
    if let Reading::Text { modified, .. } = &mut reading {
        *modified = seen;
    }
    Ok(reading)
}

fn read_one(
    input: &mut dyn Read,
    mut watch: Option<SecretWatch<'_>>,
    buffer: &mut [u8],
    tick: &mut dyn FnMut(u64),
) -> io::Result<Reading> {
    let mut n_read = fill(buffer, |_, rest| input.read(rest))?;
    // A buffer is longer than any mark, so this is the whole file.
    if decode::is_empty(&buffer[..n_read]) {
        return Ok(Reading::Empty);
    }
    if let Err(why) = decode::sniff(&buffer[..n_read.min(HEAD_BYTES)]) {
        return Ok(Reading::NotText(why));
    }
    let mut hasher = blake3::Hasher::new();
    let (mut bytes, mut bytes_ticked) = (0, 0);
    let is_utf16 = Utf16Stream::of(&buffer[..n_read]).is_some();
    // A buffer that is not filled is the whole file, as most are.
    let is_whole = n_read < buffer.len();
    let whole = watch.take_if(|_| is_whole && !is_utf16).map(|watch| watch.whole(&buffer[..n_read]));
    let (mut n_newlines, mut last_byte) = (0, None);
    while n_read > 0 {
        let piece = &buffer[..n_read];
        hasher.update(piece);
        n_newlines += memchr::memchr_iter(b'\n', piece).count() as u64;
        last_byte = piece.last().copied();
        if let Some(watch) = &mut watch {
            watch.feed(piece);
        }
        bytes += n_read as u64;
        if bytes - bytes_ticked >= TICK_BYTES {
            tick(bytes - bytes_ticked);
            bytes_ticked = bytes;
        }
        if n_read < buffer.len() {
            break;
        }
        n_read = fill(buffer, |_, rest| input.read(rest))?;
    }
    tick(bytes - bytes_ticked);
    let digest = BlobId::from_hash(*hasher.finalize().as_bytes());
    let secrets = whole.or_else(|| watch.map(SecretWatch::finish)).unwrap_or_default();
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
    let mut head = [0; HEAD_BYTES];
    let n_read = fill(&mut head, |_, rest| file.read(rest))?;
    if let Err(why) = decode::sniff(&head[..n_read]) {
        return Ok(Reading::NotText(why));
    }
    let digest = sample::digest(file, bytes, modified)?;
    let secrets = SecretTally { is_unknown: redacts, ..SecretTally::default() };
    Ok(Reading::Text { bytes, lines: None, digest, modified, moved_to: None, database: None, secrets })
}

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
    let secrets = candidate.redacts.then(|| SecretWatch::default().whole(text.as_bytes()));
    Reading::Text {
        bytes: text.len() as u64,
        lines: Some(count_lines(text)),
        digest: BlobId::from_hash(*blake3::hash(text.as_bytes()).as_bytes()),
        modified: None,
        moved_to: Some(path),
        database,
        secrets: secrets.unwrap_or_default(),
    }
}

/// Reads until the buffer is full or the input ends; returns how much there was. `read` gets that and the rest.
pub(crate) fn fill(
    buffer: &mut [u8],
    mut read: impl FnMut(usize, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match read(n_read, &mut buffer[n_read..]) {
            Ok(0) => break,
            Ok(n_more) => n_read += n_more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

#[cfg(test)]
mod tests;
