//! Repair: keeps the longest valid prefix of a damaged journal and moves the rest aside, so that nothing is deleted.

use spelunk_types::RunId;

use crate::journal::{file_name, read_line};
use crate::{JournalError, Workspace};

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairReport {
    /// Events kept.
    pub events_kept: u64,
    /// Bytes moved aside; 0 if the journal was intact.
    pub bytes_cut: u64,
    /// The file they were moved to, within the workspace.
    pub kept_in: Option<String>,
}

/// Repairs the journal of a run. Events after the damage are no longer part of the run.
pub fn repair(workspace: &Workspace, run: &RunId) -> Result<RepairReport, JournalError> {
    let _lock = workspace.lock(run)?;
    let name = file_name(run);
    let disk = workspace.disk();
    let bytes = disk.read(&name).map_err(|source| JournalError::Read { name: name.clone(), source })?;
    let bytes = bytes.ok_or_else(|| JournalError::NotFound { name: run.to_string() })?;
    let (mut events_kept, mut sound) = (0, 0);
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        match read_line(whole, run, events_kept + 1) {
            Ok(_) => {}
            Err(newer @ JournalError::Newer { .. }) => return Err(newer),
            Err(_) => break,
        }
        events_kept += 1;
        sound += line.len();
    }
    let rest = bytes.get(sound..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(RepairReport { events_kept, bytes_cut: 0, kept_in: None });
    }
    let aside = format!("runs/{run}/journal.cut-at-{}", events_kept + 1);
    disk.create(&aside, rest).map_err(|source| JournalError::Write { name: aside.clone(), source })?;
    disk.truncate(&name, sound as u64).map_err(|source| JournalError::Write { name, source })?;
    Ok(RepairReport { events_kept, bytes_cut: rest.len() as u64, kept_in: Some(aside) })
}
