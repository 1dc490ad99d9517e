//! Archives: a run and every blob it references in one `.tar.gz`, which is verified before the run's folder
//! is removed. Unpacking validates every entry name, because an archive may come from anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use spelunk_fs::{Durability, Entry, EntryKind, PrivateDir};
use spelunk_types::{BlobId, RunId};
use tar::{Archive, Builder, EntryType, Header};

use crate::disk::STAGING;
use crate::gc::{archive_bytes, blobs_of, remove_folder};
use crate::layout::{archive_name, folder};
use crate::{JournalError, Workspace, blobs};

/// The size limit of an archive. A run that could not be unpacked is not packed.
const BOUNDS: Bounds = Bounds { bytes_max: 64 << 30, entries_max: 2_000_000 };
/// The size of the copy buffer.
const PIECE_BYTES: usize = 64 * 1024;
/// The folder of the run's files within the archive.
const RUN: &str = "run";
/// What a listing shows of an archived run without unpacking it.
const SUMMARY: &str = "summary.json";
const SUMMARY_BYTES_MAX: u64 = 64 * 1024;

/// What was packed or unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveReport {
    /// Files of the run and blobs.
    pub files: u64,
    /// Their total size.
    pub bytes: u64,
    /// The size of the archive.
    pub bytes_packed: u64,
    /// The archive's path within the workspace.
    pub name: String,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    bytes_max: u64,
    entries_max: u64,
}

impl Bounds {
    /// Which limit this many files and bytes exceed, if any.
    fn exceeded(self, entries: u64, bytes: u64) -> Option<String> {
        let Self { bytes_max, entries_max } = self;
        if entries > entries_max {
            return Some(format!("more than {entries_max} files"));
        }
        (bytes > bytes_max).then(|| format!("more than {bytes_max} bytes"))
    }
}

/// Packs a run, verifies the archive, and removes the run's folder. Refused while a process is working on the run.
pub fn archive(workspace: &Workspace, run: &RunId, summary: &[u8]) -> Result<ArchiveReport, JournalError> {
    archive_within(workspace, run, summary, BOUNDS)
}

fn archive_within(
    workspace: &Workspace,
    run: &RunId,
    summary: &[u8],
    bounds: Bounds,
) -> Result<ArchiveReport, JournalError> {
    let name = archive_name(run);
    let Some(dir) = workspace.dir() else { return Err(JournalError::NotFound { name: run.to_string() }) };
    let _lock = workspace.lock(run)?;
    let unwritable = |source| JournalError::Write { name: name.clone(), source };
    let files = files_of(workspace, dir, run)?;
    let bytes = files.values().sum::<u64>().saturating_add(summary.len() as u64);
    if let Some(what) = bounds.exceeded(files.len() as u64 + 1, bytes) {
        return Err(JournalError::ArchiveTooLarge { run: run.clone(), what });
    }
    let (file, staged) = dir.stage(STAGING, "archive-").map_err(unwritable)?;
    let packed = pack(dir, files.keys(), summary, file).inspect_err(|_| {
        // A partial archive is worthless; the first error is the one to report.
        drop(dir.remove_file(&staged));
    });
    let packed = packed.map_err(unwritable)?;
    let read_back = digests(dir, &staged).map_err(unwritable)?;
    if read_back != packed {
        drop(dir.remove_file(&staged));
        let what = "does not contain what was packed; the run was not changed".to_owned();
        return Err(JournalError::Archive { name, what });
    }
    dir.rename(&staged, &name, Durability::Synced).map_err(unwritable)?;
    remove_folder(dir, run).map_err(|source| workspace.unusable(source))?;
    let bytes = packed.values().map(|(_, bytes)| bytes).sum();
    let bytes_packed = archive_bytes(workspace, run);
    Ok(ArchiveReport { files: files.len() as u64, bytes, bytes_packed, name })
}

/// Every archived run, oldest first.
pub fn archives(workspace: &Workspace) -> Result<Vec<RunId>, JournalError> {
    let Some(dir) = workspace.dir() else { return Ok(Vec::new()) };
    let files = dir.list("archive").map_err(|source| workspace.unusable(source))?;
    let run = |file: &Entry| file.name.strip_suffix(".tar.gz")?.parse::<RunId>().ok();
    let mut runs: Vec<RunId> =
        files.iter().filter(|file| file.kind == EntryKind::File).filter_map(run).collect();
    runs.sort();
    Ok(runs)
}

/// The summary stored when the run was archived; `None` if it is not the archive's first entry.
pub fn archive_summary(workspace: &Workspace, run: &RunId) -> Option<Vec<u8>> {
    let mut archive = Archive::new(open(workspace.dir()?, &archive_name(run)).ok()?);
    let mut first = archive.entries().ok()?.next()?.ok()?;
    if first.path_bytes().as_ref() != SUMMARY.as_bytes() {
        return None;
    }
    let mut bytes = Vec::new();
    first.by_ref().take(SUMMARY_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Restores an archived run and removes the archive. Nothing is restored unless the whole archive is valid.
pub fn unarchive(workspace: &Workspace, run: &RunId) -> Result<ArchiveReport, JournalError> {
    unarchive_within(workspace, run, BOUNDS)
}

fn unarchive_within(
    workspace: &Workspace,
    run: &RunId,
    bounds: Bounds,
) -> Result<ArchiveReport, JournalError> {
    let name = archive_name(run);
    let Some(dir) = workspace.dir() else { return Err(JournalError::NotFound { name: run.to_string() }) };
    if !dir.is_file(&name) {
        return Err(JournalError::NotFound { name: run.to_string() });
    }
    let home = folder(run);
    if dir.is_file(&format!("{home}/journal.jsonl")) {
        return Err(JournalError::RunExists { run: run.clone() });
    }
    // The lock prevents garbage collection: blobs are restored before the run that references them.
    let _lock = workspace.lock(run)?;
    let staged = format!("{STAGING}/unpacked-{}-{run}", std::process::id());
    // We hold the lock, so anything here was left by a process that was killed.
    drop(dir.remove_all(&staged));
    let unpacked = unpack(dir, run, &staged, bounds);
    let (files, bytes) = match unpacked {
        Ok(sums) => sums,
        Err(error) => {
            drop(dir.remove_all(&staged));
            clear(dir, &home);
            return Err(error);
        }
    };
    let unwritable = |source| JournalError::Write { name: name.clone(), source };
    clear(dir, &home);
    dir.rename(&format!("{staged}/{RUN}"), &home, Durability::Synced).map_err(unwritable)?;
    drop(dir.remove_all(&staged));
    let bytes_packed = archive_bytes(workspace, run);
    dir.remove_file(&name).map_err(unwritable)?;
    Ok(ArchiveReport { files, bytes, bytes_packed, name })
}

/// Removes a folder that contains only a lock file, to make room for the run.
fn clear(dir: &PrivateDir, home: &str) {
    drop(dir.remove_file(&format!("{home}/run.lock")).and_then(|()| dir.remove_dir(home)));
}

/// The files of an archive by name, with their lengths: the run's folder and the blobs its journal references.
fn files_of(
    workspace: &Workspace,
    dir: &PrivateDir,
    run: &RunId,
) -> Result<BTreeMap<String, u64>, JournalError> {
    let unusable = |source| workspace.unusable(source);
    let home = folder(run);
    let mut files = BTreeMap::new();
    for (name, file) in dir.files_below(&home).map_err(unusable)? {
        let inner = name.strip_prefix(&home).unwrap_or_default();
        if inner != "/run.lock" && !inner.starts_with("/.staged") {
            files.insert(name, file.len);
        }
    }
    let (mut named, texts) = (BTreeSet::new(), workspace.blobs_of(run));
    for record in workspace.read_journal(run)? {
        let event = record.known(run)?;
        // A missing blob is damage that an archive must not pass on, unless a power cut may have lost it.
        let expendable = event.kind.expendable();
        for blob in event.kind.blobs() {
            if expendable != Some(blob) && named.insert(blob.clone()) {
                texts.get(blob)?;
            }
        }
        named.extend(blobs_of(&texts, &event));
    }
    for blob in named {
        let name = blobs::file_name(&blob);
        // The other prompts are in the pack, a file in the run's folder.
        if let Some(file) = dir.entry(&name).map_err(unusable)?.filter(|file| file.kind == EntryKind::File) {
            files.insert(name, file.len);
        }
    }
    Ok(files)
}

type Digests = BTreeMap<String, (BlobId, u64)>;

fn pack<'n>(
    dir: &PrivateDir,
    names: impl Iterator<Item = &'n String>,
    summary: &[u8],
    into: File,
) -> io::Result<Digests> {
    let mut builder = Builder::new(GzEncoder::new(into, Compression::default()));
    let mut packed = Digests::new();
    add(&mut builder, SUMMARY, summary, summary.len() as u64, &mut packed)?;
    for name in names {
        let file = dir.open(name)?;
        let bytes = file.metadata()?.len();
        add(&mut builder, name, file, bytes, &mut packed)?;
    }
    let file = builder.into_inner()?.finish()?;
    file.sync_all()?;
    Ok(packed)
}

/// Appends an entry of this size, one buffer at a time.
fn add<W: Write>(
    builder: &mut Builder<W>,
    name: &str,
    from: impl Read,
    bytes: u64,
    packed: &mut Digests,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(bytes);
    let mut hashed = Hashed { from: from.take(bytes), hasher: blake3::Hasher::new(), bytes: 0 };
    builder.append_data(&mut header, name, &mut hashed)?;
    if hashed.bytes != bytes {
        let what = format!("`{name}` was truncated while it was packed");
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    packed.insert(name.to_owned(), hashed.digest());
    Ok(())
}

/// A reader that hashes what it reads.
struct Hashed<R> {
    from: R,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<R> Hashed<R> {
    fn digest(&self) -> (BlobId, u64) {
        (BlobId::from_hash(*self.hasher.finalize().as_bytes()), self.bytes)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        self.hasher.update(into.get(..n).unwrap_or_default());
        self.bytes += n as u64;
        Ok(n)
    }
}

/// Copies a reader to a new file and returns its digest and length. The inner error is a read error.
fn write_out(mut from: impl Read, dir: &PrivateDir, target: &str) -> io::Result<io::Result<(BlobId, u64)>> {
    let mut file = dir.create_new(target, Durability::Unsynced)?;
    let (mut hasher, mut bytes, mut piece) = (blake3::Hasher::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        let n = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        let read = piece.get(..n).unwrap_or_default();
        file.write_all(read)?;
        hasher.update(read);
        bytes += n as u64;
    }
    file.sync_all()?;
    Ok(Ok((BlobId::from_hash(*hasher.finalize().as_bytes()), bytes)))
}

fn open(dir: &PrivateDir, name: &str) -> io::Result<GzDecoder<BufReader<File>>> {
    Ok(GzDecoder::new(BufReader::new(dir.open(name)?)))
}

/// Reads an archive and returns the digest of each entry.
fn digests(dir: &PrivateDir, name: &str) -> io::Result<Digests> {
    let mut found = Digests::new();
    for entry in Archive::new(open(dir, name)?).entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut hasher = blake3::Hasher::new();
        let bytes = io::copy(&mut entry, &mut hasher)?;
        found.insert(name, (BlobId::from_hash(*hasher.finalize().as_bytes()), bytes));
    }
    Ok(found)
}

/// Unpacks into a staging folder, and blobs into their final places; returns the number of files and bytes.
fn unpack(dir: &PrivateDir, run: &RunId, staged: &str, bounds: Bounds) -> Result<(u64, u64), JournalError> {
    let name = archive_name(run);
    let bad = |what: String| JournalError::Archive { name: name.clone(), what };
    let cut = |error: io::Error| bad(format!("is truncated or not an archive ({error})"));
    let mut archive = Archive::new(open(dir, &name).map_err(cut)?);
    let (mut files, mut bytes_sum, mut has_journal) = (0, 0_u64, false);
    for entry in archive.entries().map_err(cut)? {
        let mut entry = entry.map_err(cut)?;
        let inner = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let size = entry.size();
        bytes_sum = bytes_sum.saturating_add(size);
        if let Some(what) = bounds.exceeded(files + 1, bytes_sum) {
            return Err(bad(format!("contains {what}, more than a run can have")));
        }
        let entry_target =
            target_of(&inner, run).filter(|_| entry.header().entry_type() == EntryType::Regular);
        let entry_target = entry_target
            .ok_or_else(|| bad(format!("contains `{}`, which is not part of a run", shown(&inner))))?;
        let target = match &entry_target {
            EntryTarget::Summary => continue,
            EntryTarget::Blob(blob) => format!("{staged}/blob/{blob}"),
            EntryTarget::File(inner) => format!("{staged}/{RUN}/{inner}"),
        };
        let unwritable = |source: io::Error| JournalError::Write { name: target.clone(), source };
        let written = write_out(entry.by_ref().take(size), dir, &target);
        let (digest, bytes) = written.map_err(unwritable)?.map_err(cut)?;
        if bytes != size {
            return Err(cut(io::ErrorKind::UnexpectedEof.into()));
        }
        match entry_target {
            EntryTarget::Summary => {}
            EntryTarget::Blob(blob) if blob != digest => {
                return Err(bad(format!("contains the blob `{blob}` with the wrong content")));
            }
            EntryTarget::Blob(blob) => {
                let home = blobs::file_name(&blob);
                dir.rename(&target, &home, Durability::Synced).map_err(unwritable)?;
            }
            EntryTarget::File(inner) => has_journal |= inner == "journal.jsonl",
        }
        files += 1;
    }
    if has_journal { Ok((files, bytes_sum)) } else { Err(bad("contains no journal".to_owned())) }
}

enum EntryTarget {
    Summary,
    Blob(BlobId),
    /// A path within the run's folder.
    File(String),
}

/// Where an entry belongs; `None` if its name points anywhere else.
fn target_of(name: &str, run: &RunId) -> Option<EntryTarget> {
    if name == SUMMARY {
        return Some(EntryTarget::Summary);
    }
    if let Some(inner) = name.strip_prefix(&format!("runs/{run}/")) {
        let is_sound =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0']);
        return inner.split('/').all(is_sound).then(|| EntryTarget::File(inner.to_owned()));
    }
    let blob: BlobId = name.strip_prefix("blobs/")?.split_once('/')?.1.parse().ok()?;
    (blobs::file_name(&blob) == name).then_some(EntryTarget::Blob(blob))
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests;
