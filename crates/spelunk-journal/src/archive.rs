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

use crate::disk::{make_parent, private, sync_parent};
use crate::gc::{blobs_of, files_below};
use crate::removal::{folder, remove_folder};
use crate::{JournalError, Record, Workspace, blobs};

/// The largest file that is unpacked.
const ENTRY_BYTES_MAX: u64 = 1 << 30;
/// The most that is unpacked from one archive.
const ARCHIVE_BYTES_MAX: u64 = 64 << 30;
const ENTRIES_MAX: usize = 2_000_000;
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

pub(crate) fn archive_name(run: &RunId) -> String {
    format!("archive/{run}.tar.gz")
}

/// Packs a run, checks what was packed, and removes its folder. Refused while a process works on the run.
pub fn archive(workspace: &Workspace, run: &RunId, summary: &[u8]) -> Result<ArchiveReport, JournalError> {
    let name = archive_name(run);
    let Some(root) = workspace.root() else { return Err(JournalError::NotFound { name: run.to_string() }) };
    let _lock = workspace.lock(run)?;
    let unwritable = |source| JournalError::Write { name: name.clone(), source };
    let files = files_of(workspace, root, run)?;
    let staged = root.join("tmp").join(format!("archive-{}-{run}", std::process::id()));
    let path = root.join(&name);
    make_parent(&staged).and_then(|()| make_parent(&path)).map_err(unwritable)?;
    let packed = pack(&files, summary, &staged).map_err(unwritable)?;
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
    let staged = format!("tmp/unpacked-{}-{run}", std::process::id());
    let unpacked = unpack(workspace, run, &path, &staged);
    let (files, bytes) = match unpacked {
        Ok(sums) => sums,
        Err(error) => {
            drop(std::fs::remove_dir_all(root.join(&staged)));
            clear(&home);
            return Err(error);
        }
    };
    let unwritable = |source| JournalError::Write { name: name.clone(), source };
    clear(&home);
    std::fs::rename(root.join(&staged), &home).and_then(|()| sync_parent(&home)).map_err(unwritable)?;
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
        if is_plain && inner != "run.lock" {
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
    add(&mut builder, SUMMARY, summary, &mut packed)?;
    for (name, path) in files {
        add(&mut builder, name, &std::fs::read(path)?, &mut packed)?;
    }
    let file = builder.into_inner()?.finish()?;
    file.sync_all()?;
    Ok(packed)
}

fn add<W: Write>(builder: &mut Builder<W>, name: &str, bytes: &[u8], packed: &mut Digests) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(bytes.len() as u64);
    builder.append_data(&mut header, name, bytes)?;
    packed.insert(name.to_owned(), (blobs::digest(bytes), bytes.len() as u64));
    Ok(())
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

/// Unpacks into a staging folder; gives the number of files and their bytes.
fn unpack(workspace: &Workspace, run: &RunId, path: &Path, staged: &str) -> Result<(u64, u64), JournalError> {
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
        if size > ENTRY_BYTES_MAX || bytes_sum > ARCHIVE_BYTES_MAX || files >= ENTRIES_MAX as u64 {
            return Err(bad("holds more than a run can".to_owned()));
        }
        let place = place_of(&inner, run).filter(|_| entry.header().entry_type() == EntryType::Regular);
        let place =
            place.ok_or_else(|| bad(format!("holds `{}`, which is no part of the run", shown(&inner))))?;
        let mut bytes = Vec::new();
        entry.by_ref().take(size).read_to_end(&mut bytes).map_err(cut)?;
        match place {
            Place::Summary => continue,
            Place::Blob(blob) => {
                if blobs::digest(&bytes) != blob {
                    return Err(bad(format!("holds the blob `{blob}` with other bytes than its name says")));
                }
                workspace.blobs().put(&bytes)?;
            }
            Place::File(inner) => {
                has_journal |= inner == "journal.jsonl";
                let target = format!("{staged}/{inner}");
                let written = workspace.disk().create(&target, &bytes);
                written.map_err(|source| JournalError::Write { name: target, source })?;
            }
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
