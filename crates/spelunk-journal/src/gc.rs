//! Garbage: blobs that no run names and staging files that no process owns. Runs themselves are never touched here.
#![expect(clippy::disallowed_methods, reason = "listing and deleting are not among the disk's operations")]

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use spelunk_types::{BlobId, Event};

use crate::{Blobs, JournalError, Record, Workspace, blobs, lock};

/// What was, or would be, collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Blobs that runs name.
    pub blobs_kept: u64,
    /// Files removed.
    pub files_removed: u64,
    /// Their bytes.
    pub bytes_removed: u64,
}

/// Removes what no run needs; with `dry_run`, only counts it. Refused while a run is active, and while any journal is
/// damaged: what it named cannot be known.
pub fn collect_garbage(workspace: &Workspace, dry_run: bool) -> Result<GcReport, JournalError> {
    let Some(root) = workspace.root() else { return Ok(GcReport::default()) };
    let _lock = lock::take_workspace(root)?;
    let named = named_blobs(workspace)?;
    let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
    let mut report = GcReport::default();
    let mut garbage = files_below(&root.join("tmp")).map_err(unusable)?;
    for path in files_below(&root.join(blobs::FOLDER)).map_err(unusable)? {
        let blob = path.file_name().and_then(|name| name.to_str()?.parse::<BlobId>().ok());
        match blob {
            Some(blob) if named.contains(&blob) => report.blobs_kept += 1,
            Some(_) | None => garbage.push(path),
        }
    }
    for path in garbage {
        report.files_removed += 1;
        report.bytes_removed += path.metadata().map_err(unusable)?.len();
        if !dry_run {
            std::fs::remove_file(&path).map_err(unusable)?;
        }
    }
    Ok(report)
}

fn named_blobs(workspace: &Workspace) -> Result<BTreeSet<BlobId>, JournalError> {
    let mut named = BTreeSet::new();
    for run in workspace.runs()? {
        let blobs = workspace.blobs_of(&run);
        for record in workspace.read_journal(&run)? {
            match record {
                Record::Known(event) => named.extend(blobs_of(&blobs, &event)),
                Record::Unknown { seq, name, .. } => {
                    return Err(JournalError::UnknownEvent { run, line: seq, name });
                }
            }
        }
    }
    Ok(named)
}

/// The blobs an event names, and those that a named prompt record names in turn.
pub fn blobs_of(texts: &Blobs, event: &Event) -> Vec<BlobId> {
    let mut blobs: Vec<BlobId> = event.kind.blobs().into_iter().cloned().collect();
    if let spelunk_types::EventKind::CallStarted { text, .. } = &event.kind {
        let record = texts.text(text).unwrap_or_default();
        blobs.extend(blob_names_in(&record));
    }
    blobs
}

/// Every blob id in a JSON text. Too many are kept rather than too few.
fn blob_names_in(json: &str) -> Vec<BlobId> {
    json.split('"').filter_map(|piece| piece.parse().ok()).collect()
}

pub(crate) fn files_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                directories.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
