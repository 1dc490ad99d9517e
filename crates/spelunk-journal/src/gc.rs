//! Removal: a run that no process is working on disappears at once, then its files are deleted. Its blobs stay until
//! garbage collection removes those that no run references, and staging files that no process owns.

use std::collections::BTreeSet;

use spelunk_fs::{Durability, PrivateDir};
use spelunk_types::{BlobId, Event, RunId, SourceSpec};

use crate::disk::STAGING;
use crate::layout::{archive_name, folder};
use crate::{Blobs, GcReport, JournalError, Workspace, blobs, lock};

/// Removes what no run needs; with `dry_run`, only counts it. Refused while a run is active or any journal is damaged,
/// since the blobs a damaged journal references are unknown.
pub fn collect_garbage(workspace: &Workspace, dry_run: bool) -> Result<GcReport, JournalError> {
    let Some(dir) = workspace.dir() else { return Ok(GcReport::default()) };
    let _lock = lock::take_workspace(dir)?;
    let unusable = |source| workspace.unusable(source);
    // Read before the journals: a run may begin in between.
    let of_jobs = workspace.shared().map(|shared| shared.named_blobs()).transpose().map_err(unusable)?;
    let named = named_blobs(workspace)?;
    let mut report = GcReport::default();
    let mut garbage = dir.files_below(STAGING).map_err(unusable)?;
    garbage.retain(|(name, _)| is_staged(name));
    for (name, entry) in dir.files_below(blobs::FOLDER).map_err(unusable)? {
        let blob = entry.name.parse::<BlobId>().ok().filter(|blob| blobs::file_name(blob) == name);
        match blob {
            Some(blob) if named.contains(&blob) => report.blobs_kept += 1,
            Some(_) => garbage.push((name, entry)),
            // Not a name that we create.
            None => {}
        }
    }
    for (name, entry) in garbage {
        report.files_removed += 1;
        report.bytes_removed += entry.len;
        if !dry_run {
            dir.remove_file(&name).map_err(unusable)?;
        }
    }
    if let Some(shared) = workspace.shared() {
        let named = named.into_iter().chain(of_jobs.unwrap_or_default()).collect();
        let elsewhere = shared.collect(named, dry_run).map_err(unusable)?;
        report.blobs_kept = elsewhere.blobs_kept;
        report.files_removed += elsewhere.files_removed;
        report.bytes_removed += elsewhere.bytes_removed;
    }
    Ok(report)
}

/// Whether a file in the staging folder is one of ours, judged by its name or its folder's name.
fn is_staged(name: &str) -> bool {
    let Some(name) = name.strip_prefix(STAGING).and_then(|name| name.strip_prefix('/')) else { return false };
    let top = name.split('/').next().unwrap_or_default();
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Older versions used the process id and a file counter.
    let is_numbered = top.split_once('-').is_some_and(|(pid, n)| {
        [pid, n].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let is_folder = ["removed-", "archive-", "unpacked-"].iter().any(|prefix| top.starts_with(prefix));
    (top.len() == 16 && is_hex(top)) || is_numbered || is_folder
}

fn named_blobs(workspace: &Workspace) -> Result<BTreeSet<BlobId>, JournalError> {
    let mut named = BTreeSet::new();
    for run in workspace.runs()? {
        let blobs = workspace.blobs_of(&run);
        for record in workspace.read_journal(&run)? {
            let event = record.known(&run)?;
            named.extend(blobs_of(&blobs, &event));
            if let spelunk_types::EventKind::RunStarted { sources, .. } = &event.kind {
                for manifest in sources.iter().filter_map(SourceSpec::manifest) {
                    let shared = workspace.shared().filter(|_| named.insert(manifest.clone()));
                    let files = shared.map(|shared| shared.files_of(manifest)).transpose();
                    named.extend(files.map_err(|source| workspace.unusable(source))?.unwrap_or_default());
                }
            }
        }
    }
    Ok(named)
}

/// The blobs an event references, and those that a referenced prompt record references in turn.
pub fn blobs_of(texts: &Blobs, event: &Event) -> Vec<BlobId> {
    let mut blobs: Vec<BlobId> = event.kind.blobs().into_iter().cloned().collect();
    if let spelunk_types::EventKind::CallStarted { text, .. } = &event.kind {
        let record = texts.text(text).unwrap_or_default();
        blobs.extend(blob_names_in(&record));
    }
    blobs
}

/// Every blob id in a JSON text. Errs on the side of keeping too many.
pub fn blob_names_in(json: &str) -> Vec<BlobId> {
    json.split('"').filter_map(|piece| piece.parse().ok()).collect()
}

/// The size of a run's folder, without its blobs.
pub fn run_bytes(workspace: &Workspace, run: &RunId) -> u64 {
    let Some(dir) = workspace.dir() else { return 0 };
    let files = dir.files_below(&folder(run)).unwrap_or_default();
    files.iter().map(|(_, file)| file.len).sum()
}

/// The size of an archive.
pub fn archive_bytes(workspace: &Workspace, run: &RunId) -> u64 {
    let entry = workspace.dir().and_then(|dir| dir.entry(&archive_name(run)).ok().flatten());
    entry.map_or(0, |file| file.len)
}

/// Removes a run and returns how many bytes that freed. Refused while a process is working on it.
pub fn remove_run(workspace: &Workspace, run: &RunId) -> Result<u64, JournalError> {
    let Some(dir) = workspace.dir() else { return Ok(0) };
    let _lock = workspace.lock(run)?;
    let bytes = run_bytes(workspace, run);
    if let Some(shared) = workspace.shared() {
        shared.remove(run).map_err(|source| workspace.unusable(source))?;
    }
    remove_folder(dir, run).map_err(|source| workspace.unusable(source))?;
    Ok(bytes)
}

/// Removes an archive and returns how many bytes that freed.
pub fn remove_archive(workspace: &Workspace, run: &RunId) -> Result<u64, JournalError> {
    let Some(dir) = workspace.dir() else { return Ok(0) };
    let bytes = archive_bytes(workspace, run);
    dir.remove_file(&archive_name(run)).map_err(|source| workspace.unusable(source))?;
    Ok(bytes)
}

/// The caller holds the run's lock. A crash leaves files in `tmp` for `gc`, never half a run.
pub(crate) fn remove_folder(dir: &PrivateDir, run: &RunId) -> std::io::Result<()> {
    let aside = format!("tmp/removed-{}-{run}", std::process::id());
    dir.rename(&folder(run), &aside, Durability::Unsynced)?;
    dir.remove_all(&aside)
}
