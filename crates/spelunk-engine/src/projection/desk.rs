//! The desk of an agent as real files. They are next to the journal, so only names below the desk's own directories
//! are written, whatever an event says.

use spelunk_journal::JournalError;
use spelunk_types::{Event, FileChange, FrameId, FrameOutcome};

use super::{ERRORS, EVIDENCE, Projection};

/// Zones in which a desk may have files.
const AREAS: [&str; 7] = ["input", "state", "scratch", "output", "cache", "tools", ".claude"];
/// Files at the top level.
const TOP: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Directories that contain only agent-written files: they are cleared before a desk is laid out.
const CLEARED: [&str; 6] =
    ["scratch", "output", "cache/indexes", "input/attachments", "state/buffers", "tools"];
/// Files of which the projection has the better version: it counts every process that worked on the run.
const OWN: [&str; 1] = ["state/metrics.json"];
pub(super) const ANSWERS: [&str; 2] = ["output/answer.md", "final_answer.md"];

impl Projection {
    /// Writes the initial files of a root agent. Those of other frames are not written: they would conflict.
    pub(super) fn lay(&mut self, event: &Event, files: &[FileChange]) -> Result<(), JournalError> {
        if event.frame != FrameId::root() {
            return Ok(());
        }
        self.has_desk = true;
        for area in CLEARED {
            self.files.remove(area)?;
        }
        self.change(event, files)
    }

    /// Applies the changes of a tool.
    pub(super) fn change(&mut self, event: &Event, files: &[FileChange]) -> Result<(), JournalError> {
        if event.frame != FrameId::root() {
            return Ok(());
        }
        for file in files.iter().filter(|file| is_shown(file.path())) {
            self.change_one(file)?;
        }
        Ok(())
    }

    fn change_one(&mut self, file: &FileChange) -> Result<(), JournalError> {
        let own = [EVIDENCE, ERRORS].into_iter().find(|name| *name == file.path());
        match (file, own) {
            // These two are append-only, and the projection adds lines of its own.
            (FileChange::Appended { content, .. } | FileChange::Written { content, .. }, Some(name)) => {
                let added = self.blobs.bytes(content)?;
                self.lines.entry(name).or_default().push_str(&String::from_utf8_lossy(&added));
                Ok(())
            }
            (FileChange::Removed { .. }, Some(_)) => Ok(()),
            (FileChange::Written { path, content }, None) => {
                let bytes = self.blobs.bytes(content)?;
                self.files.replace(path, &bytes)
            }
            (FileChange::Appended { path, content }, None) => {
                let bytes = self.blobs.bytes(content)?;
                self.files.append(path, &bytes)
            }
            (FileChange::Removed { path }, None) => self.files.remove(path),
        }
    }

    /// Replaces the agent's answer file with the final answer, without its evidence block.
    pub(super) fn answer_desk(&mut self, outcome: &FrameOutcome) -> Result<(), JournalError> {
        let FrameOutcome::Answered { answer, .. } = outcome else { return Ok(()) };
        let answer = format!("{}\n", self.blobs.text(answer)?.trim_end());
        for name in ANSWERS {
            self.files.replace(name, answer.as_bytes())?;
        }
        Ok(())
    }
}

/// Whether a path belongs to a desk and to nothing else in the run's directory.
fn is_shown(path: &str) -> bool {
    let mut parts = path.split('/');
    let is_plain =
        path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains(['\\', '\0']);
    let is_in_area = parts.next().is_some_and(|first| AREAS.contains(&first)) && parts.next().is_some();
    is_plain && (is_in_area || TOP.contains(&path)) && !OWN.contains(&path)
}

#[cfg(test)]
mod tests;
