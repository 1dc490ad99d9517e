//! Snapshots: the files of a question. A manifest lists the name, size and digest of each file; the
//! contents are blobs, so that a file is uploaded only once. Nodes unpack snapshots into a cache.

#![expect(
    clippy::disallowed_methods,
    reason = "the cache is a directory of its own, and uploaded files are named by the user"
)]

use std::collections::HashSet;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};
use spelunk_journal::digest;
use spelunk_types::BlobId;

use crate::{Fleet, FleetError, PATIENCE, Result};

/// Files that are sent or fetched at once.
const PARALLEL: usize = 16;
/// The largest file of a snapshot: it is held in memory while it is sent.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Marks a completely unpacked snapshot.
const DONE: &str = ".complete";
/// The folder of the files in an unpacked snapshot.
const FILES: &str = "files";
const FORMAT: u64 = 1;

/// A file to put into a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Its name in the snapshot: relative, with `/`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// An uploaded snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotReport {
    /// The id of its manifest.
    pub manifest: BlobId,
    /// The number of its files.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// The size of the files that the fleet did not have yet.
    pub bytes_sent: u64,
}

pub(crate) struct Entry {
    name: String,
    bytes: u64,
    pub(crate) blob: BlobId,
}

impl Fleet {
    /// Uploads these files. Blocking.
    pub fn upload_snapshot(&self, files: Vec<SnapshotFile>) -> Result<SnapshotReport> {
        self.wait(|fleet| async move {
            let sent = stream::iter(files).map(|file| fleet.upload_file(file)).buffered(PARALLEL);
            let sent: Vec<(Entry, u64)> = sent.try_collect().await?;
            let bytes_sent = sent.iter().map(|(_, sent)| sent).sum();
            let entries: Vec<Entry> = sent.into_iter().map(|(entry, _)| entry).collect();
            let list: Vec<Value> = entries
                .iter()
                .map(|Entry { name, bytes, blob }| json!({ "name": name, "bytes": bytes, "blob": blob }))
                .collect();
            let text = json!({ "format": FORMAT, "files": list }).to_string();
            let manifest = digest(text.as_bytes());
            fleet.upload(&manifest, text.as_bytes(), PATIENCE).await?;
            let bytes = entries.iter().map(|entry| entry.bytes).sum();
            Ok(SnapshotReport { manifest, files: entries.len() as u64, bytes, bytes_sent })
        })
    }

    async fn upload_file(&self, file: SnapshotFile) -> Result<(Entry, u64)> {
        let SnapshotFile { name, path } = file;
        let shown = path.display().to_string();
        let read = tokio::task::spawn_blocking(move || read_file(&path)).await;
        let bytes = read.map_err(|error| FleetError::File { path: shown, why: error.to_string() })??;
        let blob = digest(&bytes);
        let is_new = self.upload(&blob, &bytes, PATIENCE).await?;
        let n_bytes = bytes.len() as u64;
        Ok((Entry { name, bytes: n_bytes, blob }, if is_new { n_bytes } else { 0 }))
    }

    /// The directory with the files of a snapshot, fetched if it is not in the cache. Blocking.
    pub(crate) fn unpack(&self, manifest: &BlobId) -> Result<PathBuf> {
        let cache = &self.inner.options.cache;
        let place = cache.join(manifest.to_string());
        if place.join(DONE).is_file() {
            // The least recently used snapshot is removed first.
            drop(
                std::fs::File::options()
                    .append(true)
                    .open(place.join(DONE))
                    .and_then(|file| file.set_modified(SystemTime::now())),
            );
            return Ok(place.join(FILES));
        }
        let damaged =
            |what: &str| FleetError::Snapshot { manifest: manifest.to_string(), what: what.to_owned() };
        let text = self.get_blob(manifest)?.ok_or_else(|| damaged("missing"))?;
        if digest(&text) != *manifest {
            return Err(damaged("damaged"));
        }
        let entries = read_manifest(&text).ok_or_else(|| damaged("not a list of files"))?;
        make_room(cache, entries.iter().map(|entry| entry.bytes).sum(), self.inner.options.cache_bytes_max)?;
        std::fs::create_dir_all(cache)?;
        let staged = cache.join(format!(".{}-{}", manifest, self.inner.writer));
        remove(&staged)?;
        let (root, name) = (staged.join(FILES), manifest.to_string());
        std::fs::create_dir_all(&root)?;
        self.wait(|fleet| async move {
            let fetched = stream::iter(entries).map(|entry| fleet.fetch_file(&name, &root, entry));
            fetched.buffer_unordered(PARALLEL).try_collect::<()>().await
        })?;
        std::fs::write(staged.join(DONE), b"")?;
        match std::fs::rename(&staged, &place) {
            Ok(()) => {}
            // Another run on this node unpacked it first.
            Err(_) if place.join(DONE).is_file() => remove(&staged)?,
            Err(error) => return Err(error.into()),
        }
        Ok(place.join(FILES))
    }

    /// The snapshot that a path in the cache belongs to, and the file unless it is the whole snapshot.
    pub(crate) fn snapshot_of(&self, path: &Path) -> Option<(BlobId, Option<String>)> {
        let inside = path.strip_prefix(&self.inner.options.cache).ok()?;
        let mut parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
        let manifest = parts.next()?.parse().ok()?;
        parts.next().filter(|part| part == FILES)?;
        let file = parts.collect::<Vec<_>>().join("/");
        Some((manifest, Some(file).filter(|file| !file.is_empty())))
    }

    async fn fetch_file(&self, manifest: &str, root: &Path, entry: Entry) -> Result<()> {
        let damaged = |what: String| FleetError::Snapshot { manifest: manifest.to_owned(), what };
        let bytes = self.download(&entry.blob, self.inner.options.outage_max).await?;
        let bytes = bytes.ok_or_else(|| damaged(format!("incomplete: `{}` is missing", entry.name)))?;
        if digest(&bytes) != entry.blob {
            return Err(damaged(format!("damaged: `{}`", entry.name)));
        }
        let path = root.join(&entry.name);
        let written = tokio::task::spawn_blocking(move || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            let mut file = std::fs::File::create(&path)?;
            file.write_all(&bytes)?;
            // The digest of a large document includes its time, which must be the same on every node.
            file.set_modified(SystemTime::UNIX_EPOCH)
        });
        written.await.map_err(io::Error::from)??;
        Ok(())
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let unsent = |why: String| FleetError::File { path: path.display().to_string(), why };
    let about = |error: io::Error| unsent(error.to_string());
    let file = std::fs::File::open(path).map_err(about)?;
    let len = file.metadata().map_err(about)?.len();
    if len > FILE_BYTES_MAX {
        return Err(unsent("it is larger than 1 GiB".to_owned()));
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile is cut at its original length.
    file.take(len).read_to_end(&mut bytes).map_err(about)?;
    Ok(bytes)
}

/// The files of a manifest; `None` if it is invalid, repeats a name or leads out of the snapshot.
pub(crate) fn read_manifest(text: &[u8]) -> Option<Vec<Entry>> {
    let manifest: Value = serde_json::from_slice(text).ok()?;
    if manifest["format"].as_u64() != Some(FORMAT) {
        return None;
    }
    let mut names = HashSet::new();
    let entry = |value: &Value| {
        let name = value["name"].as_str()?.to_owned();
        let is_plain = !name.is_empty()
            && !name.starts_with('/')
            && !name.contains(['\\', '\0'])
            && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        let is_new = names.insert(name.clone());
        let blob = value["blob"].as_str()?.parse().ok()?;
        (is_plain && is_new).then_some(Entry { name, bytes: value["bytes"].as_u64()?, blob })
    };
    manifest["files"].as_array()?.iter().map(entry).collect()
}

/// Removes the least recently used snapshots until there is room.
fn make_room(cache: &Path, bytes: u64, bytes_max: u64) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(cache) else { return Ok(()) };
    let mut kept: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in entries.flatten() {
        let used = entry.path().join(DONE).metadata().and_then(|done| done.modified());
        if let Ok(used) = used {
            kept.push((used, entry.path(), size(&entry.path())));
        }
    }
    kept.sort();
    let mut total: u64 = kept.iter().map(|(_, _, bytes)| bytes).sum();
    for (_, path, size) in kept {
        if total + bytes <= bytes_max {
            break;
        }
        // The mark goes first, so that a partly removed snapshot never looks complete.
        std::fs::remove_file(path.join(DONE))?;
        remove(&path)?;
        total -= size;
    }
    Ok(())
}

fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_leads_out_of_the_snapshot_is_refused() {
        let blob = digest(b"x");
        let of = |names: &[&str]| {
            let files: Vec<Value> =
                names.iter().map(|name| json!({ "name": name, "bytes": 1, "blob": blob })).collect();
            let text = json!({ "format": 1, "files": files }).to_string();
            read_manifest(text.as_bytes()).map(|entries| entries.len())
        };
        assert_eq!(of(&["a", "b/c.txt"]), Some(2));
        for bad in ["../a", "a/../b", "/a", "", "a//b", "./a", "a\\b", "a\0"] {
            assert_eq!(of(&[bad]), None, "{bad:?}");
        }
        assert_eq!(of(&["a", "a"]), None);
        assert!(read_manifest(b"{}").is_none());
    }

    #[test]
    fn the_oldest_snapshots_make_room() {
        let cache = tempfile::tempdir().unwrap();
        for (name, age_s) in [("old", 100), ("new", 1)] {
            let place = cache.path().join(name);
            std::fs::create_dir_all(place.join(FILES)).unwrap();
            std::fs::write(place.join(FILES).join("a"), [0; 1000]).unwrap();
            let done = std::fs::File::create(place.join(DONE)).unwrap();
            let at = SystemTime::now() - std::time::Duration::from_secs(age_s);
            done.set_modified(at).unwrap();
        }
        make_room(cache.path(), 500, 2600).unwrap();
        assert!(cache.path().join("old").exists());
        make_room(cache.path(), 1000, 2600).unwrap();
        assert!(!cache.path().join("old").exists() && cache.path().join("new").exists());
    }
}
