//! Archives: a run and every blob it names in one `.tar.gz`, so that its folder can go. An archive is read through and
//! compared before the folder is removed, and what is unpacked is checked name by name: the file may come from anywhere.
#![expect(
    clippy::disallowed_methods,
    reason = "an archive is streamed, which is not among the disk's operations"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use spelunk_types::{BlobId, EventKind, RunId};
use tar::{Archive, Builder, EntryType, Header};

use crate::disk::{make_parent, make_parent_unsynced, private, sync_parent};
use crate::gc::{blobs_of, files_below};
use crate::removal::{folder, remove_folder};
use crate::{JournalError, Record, Workspace, blobs};

/// The most that an archive holds. What would not be unpacked is not packed.
const BOUNDS: Bounds = Bounds { bytes_max: 64 << 30, entries_max: 2_000_000 };
/// What is copied at once.
const PIECE_BYTES: usize = 64 * 1024;
/// The files of the run, within what is unpacked.
const RUN: &str = "run";
/// What a listing says of an archived run, without unpacking it.
const SUMMARY: &str = "summary.json";
const SUMMARY_BYTES_MAX: u64 = 64 * 1024;

/// What was packed or unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveReport {
    /// Files of the run and blobs.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of the archive.
    pub bytes_packed: u64,
    /// The archive, within the workspace.
    pub name: String,
}

/// How much one archive holds.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    bytes_max: u64,
    entries_max: u64,
}

impl Bounds {
    /// What so many files of so many bytes are too much of.
    fn exceeded(self, entries: u64, bytes: u64) -> Option<String> {
        let Self { bytes_max, entries_max } = self;
        if entries > entries_max {
            return Some(format!("more than {entries_max} files"));
        }
        (bytes > bytes_max).then(|| format!("more than {bytes_max} bytes"))
    }
}

pub(crate) fn archive_name(run: &RunId) -> String {
    format!("archive/{run}.tar.gz")
}

/// Packs a run, checks what was packed, and removes its folder. Refused while a process works on the run.
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
    let Some(root) = workspace.root() else { return Err(JournalError::NotFound { name: run.to_string() }) };
    let _lock = workspace.lock(run)?;
    let unwritable = |source| JournalError::Write { name: name.clone(), source };
    let files = files_of(workspace, root, run)?;
    let bytes_of = |path: &PathBuf| path.metadata().map(|file| file.len());
    let sizes = files.values().map(bytes_of).collect::<io::Result<Vec<u64>>>().map_err(unwritable)?;
    let bytes = sizes.iter().sum::<u64>().saturating_add(summary.len() as u64);
    if let Some(what) = bounds.exceeded(files.len() as u64 + 1, bytes) {
        return Err(JournalError::ArchiveTooLarge { run: run.clone(), what });
    }
    let staged = root.join("tmp").join(format!("archive-{}-{run}", std::process::id()));
    let path = root.join(&name);
    make_parent(&staged).and_then(|()| make_parent(&path)).map_err(unwritable)?;
    let packed = pack(&files, summary, &staged).inspect_err(|_| {
        // Half an archive is worthless; the first error is the one to tell.
        drop(std::fs::remove_file(&staged));
    });
    let packed = packed.map_err(unwritable)?;
    let read_back = digests(&staged).map_err(unwritable)?;
    if read_back != packed {
        drop(std::fs::remove_file(&staged));
        let what = "does not hold what was packed; the run is left as it is".to_owned();
        return Err(JournalError::Archive { name, what });
    }
    std::fs::rename(&staged, &path).and_then(|()| sync_parent(&path)).map_err(unwritable)?;
    remove_folder(root, run)?;
    let bytes = packed.values().map(|(_, bytes)| bytes).sum();
    let bytes_packed = path.metadata().map_err(unwritable)?.len();
    Ok(ArchiveReport { files: files.len() as u64, bytes, bytes_packed, name })
}

/// Every archived run, oldest first.
pub fn archives(workspace: &Workspace) -> Result<Vec<RunId>, JournalError> {
    let Some(root) = workspace.root() else { return Ok(Vec::new()) };
    let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
    let files = files_below(&root.join("archive")).map_err(unusable)?;
    let run = |path: &PathBuf| path.file_name()?.to_str()?.strip_suffix(".tar.gz")?.parse::<RunId>().ok();
    let mut runs: Vec<RunId> = files.iter().filter_map(run).collect();
    runs.sort();
    Ok(runs)
}

/// What was said of a run when it was archived; `None` where the archive does not begin with it.
pub fn archive_summary(workspace: &Workspace, run: &RunId) -> Option<Vec<u8>> {
    let mut archive = Archive::new(open(&workspace.root()?.join(archive_name(run))).ok()?);
    let mut first = archive.entries().ok()?.next()?.ok()?;
    if first.path_bytes().as_ref() != SUMMARY.as_bytes() {
        return None;
    }
    let mut bytes = Vec::new();
    first.by_ref().take(SUMMARY_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Puts an archived run back and removes the archive. Nothing is put back unless all of it is sound.
pub fn unarchive(workspace: &Workspace, run: &RunId) -> Result<ArchiveReport, JournalError> {
    unarchive_within(workspace, run, BOUNDS)
}

fn unarchive_within(
    workspace: &Workspace,
    run: &RunId,
    bounds: Bounds,
) -> Result<ArchiveReport, JournalError> {
    let name = archive_name(run);
    let Some(root) = workspace.root() else { return Err(JournalError::NotFound { name: run.to_string() }) };
    let path = root.join(&name);
    if !path.is_file() {
        return Err(JournalError::NotFound { name: run.to_string() });
    }
    if folder(root, run).join("journal.jsonl").is_file() {
        return Err(JournalError::RunExists { run: run.clone() });
    }
    // While it is held, no garbage is collected: blobs come before the run that names them.
    let _lock = workspace.lock(run)?;
    let home = folder(root, run);
    let staged = root.join("tmp").join(format!("unpacked-{}-{run}", std::process::id()));
    // The lock is held: whatever is there was left by a process that was killed.
    drop(std::fs::remove_dir_all(&staged));
    let unpacked = unpack(root, run, &path, &staged, bounds);
    let (files, bytes) = match unpacked {
        Ok(sums) => sums,
        Err(error) => {
            drop(std::fs::remove_dir_all(&staged));
            clear(&home);
            return Err(error);
        }
    };
    let unwritable = |source| JournalError::Write { name: name.clone(), source };
    clear(&home);
    std::fs::rename(staged.join(RUN), &home).and_then(|()| sync_parent(&home)).map_err(unwritable)?;
    drop(std::fs::remove_dir_all(&staged));
    let bytes_packed = path.metadata().map_err(unwritable)?.len();
    std::fs::remove_file(&path).map_err(unwritable)?;
    Ok(ArchiveReport { files, bytes, bytes_packed, name })
}

/// Takes away a folder that holds nothing but a lock: it is in the way of the run.
fn clear(home: &Path) {
    drop(std::fs::remove_file(home.join("run.lock")).and_then(|()| std::fs::remove_dir(home)));
}

/// The files of an archive, by name: those of the run's folder, and the blobs that its journal names.
fn files_of(
    workspace: &Workspace,
    root: &Path,
    run: &RunId,
) -> Result<BTreeMap<String, PathBuf>, JournalError> {
    let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
    let home = folder(root, run);
    let mut files = BTreeMap::new();
    for path in files_below(&home).map_err(unusable)? {
        let Some(inner) = path.strip_prefix(&home).ok().and_then(Path::to_str) else { continue };
        let is_plain = path.symlink_metadata().is_ok_and(|file| file.is_file());
        if is_plain && inner != "run.lock" && !inner.starts_with(".staged") {
            files.insert(format!("runs/{run}/{}", inner.replace('\\', "/")), path.clone());
        }
    }
    let (mut named, texts) = (BTreeSet::new(), workspace.blobs_of(run));
    for record in workspace.read_journal(run)? {
        let event = match record {
            Record::Known(event) => event,
            Record::Unknown { seq, name, .. } => {
                return Err(JournalError::UnknownEvent { run: run.clone(), line: seq, name });
            }
        };
        // A missing blob is damage: an archive must not pass it on. A prompt may have been lost in a power cut.
        let is_prompt = matches!(event.kind, EventKind::CallStarted { .. });
        for blob in event.kind.blobs() {
            if !is_prompt && named.insert(blob.clone()) {
                texts.get(blob)?;
            }
        }
        named.extend(blobs_of(&texts, &event));
    }
    for blob in named {
        let name = blobs::file_name(&blob);
        let path = root.join(&name);
        // The rest is in the pack, a file of the run's folder.
        if path.is_file() {
            files.insert(name, path);
        }
    }
    Ok(files)
}

type Digests = BTreeMap<String, (BlobId, u64)>;

fn pack(files: &BTreeMap<String, PathBuf>, summary: &[u8], staged: &Path) -> io::Result<Digests> {
    let file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(staged)?;
    let mut builder = Builder::new(GzEncoder::new(file, Compression::default()));
    let mut packed = Digests::new();
    add(&mut builder, SUMMARY, summary, summary.len() as u64, &mut packed)?;
    for (name, path) in files {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        add(&mut builder, name, file, bytes, &mut packed)?;
    }
    let file = builder.into_inner()?.finish()?;
    file.sync_all()?;
    Ok(packed)
}

/// Adds so many bytes, a piece at a time.
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
        let what = format!("`{name}` became shorter while it was packed");
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    packed.insert(name.to_owned(), hashed.digest());
    Ok(())
}

/// What is read, and its digest.
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

/// Writes what is read to a new file, durably, a piece at a time; gives its digest. The inner error is about reading.
fn write_out(mut from: impl Read, target: &Path) -> io::Result<io::Result<(BlobId, u64)>> {
    make_parent_unsynced(target)?;
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(target)?;
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

fn open(path: &Path) -> io::Result<GzDecoder<BufReader<File>>> {
    Ok(GzDecoder::new(BufReader::new(File::open(path)?)))
}

/// What an archive holds, read through.
fn digests(path: &Path) -> io::Result<Digests> {
    let mut found = Digests::new();
    for entry in Archive::new(open(path)?).entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut hasher = blake3::Hasher::new();
        let bytes = io::copy(&mut entry, &mut hasher)?;
        found.insert(name, (BlobId::from_hash(*hasher.finalize().as_bytes()), bytes));
    }
    Ok(found)
}

/// Unpacks into a staging folder, a piece at a time, and blobs into their places; gives the number of files and their bytes.
fn unpack(
    root: &Path,
    run: &RunId,
    path: &Path,
    staged: &Path,
    bounds: Bounds,
) -> Result<(u64, u64), JournalError> {
    let name = archive_name(run);
    let bad = |what: String| JournalError::Archive { name: name.clone(), what };
    let cut = |error: io::Error| bad(format!("is cut or not an archive ({error})"));
    let mut archive = Archive::new(open(path).map_err(cut)?);
    let (mut files, mut bytes_sum, mut has_journal) = (0, 0_u64, false);
    for entry in archive.entries().map_err(cut)? {
        let mut entry = entry.map_err(cut)?;
        let inner = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let size = entry.size();
        bytes_sum = bytes_sum.saturating_add(size);
        if let Some(what) = bounds.exceeded(files + 1, bytes_sum) {
            return Err(bad(format!("holds {what}, more than a run can")));
        }
        let place = place_of(&inner, run).filter(|_| entry.header().entry_type() == EntryType::Regular);
        let place =
            place.ok_or_else(|| bad(format!("holds `{}`, which is no part of the run", shown(&inner))))?;
        let target = match &place {
            Place::Summary => continue,
            Place::Blob(blob) => staged.join("blob").join(blob.as_str()),
            Place::File(inner) => staged.join(RUN).join(inner),
        };
        let unwritable =
            |source: io::Error| JournalError::Write { name: target.display().to_string(), source };
        let written = write_out(entry.by_ref().take(size), &target);
        let (digest, bytes) = written.map_err(unwritable)?.map_err(cut)?;
        if bytes != size {
            return Err(cut(io::ErrorKind::UnexpectedEof.into()));
        }
        match place {
            Place::Summary => {}
            Place::Blob(blob) if blob != digest => {
                return Err(bad(format!("holds the blob `{blob}` with other bytes than its name says")));
            }
            Place::Blob(blob) => {
                let home = root.join(blobs::file_name(&blob));
                let put = make_parent(&home).and_then(|()| std::fs::rename(&target, &home));
                put.and_then(|()| sync_parent(&home)).map_err(unwritable)?;
            }
            Place::File(inner) => has_journal |= inner == "journal.jsonl",
        }
        files += 1;
    }
    if has_journal { Ok((files, bytes_sum)) } else { Err(bad("holds no journal".to_owned())) }
}

enum Place {
    Summary,
    Blob(BlobId),
    /// Within the folder of the run.
    File(String),
}

/// Where a name leads; nothing for a name that leads elsewhere.
fn place_of(name: &str, run: &RunId) -> Option<Place> {
    if name == SUMMARY {
        return Some(Place::Summary);
    }
    if let Some(inner) = name.strip_prefix(&format!("runs/{run}/")) {
        let is_sound =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0']);
        return inner.split('/').all(is_sound).then(|| Place::File(inner.to_owned()));
    }
    let blob: BlobId = name.strip_prefix("blobs/")?.split_once('/')?.1.parse().ok()?;
    (blobs::file_name(&blob) == name).then_some(Place::Blob(blob))
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests;
