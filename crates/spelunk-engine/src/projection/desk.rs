//! The desk of an agent as real files. They are next to the journal, so only names below the desk's
//! own directories are written, whatever an event says.

use spelunk_journal::JournalError;
use spelunk_types::{Event, FileChange, FrameId, FrameOutcome};

use super::{ERRORS, EVIDENCE, Projection, files};

/// The directories in which a desk may have files.
const AREAS: [&str; 7] = ["input", "state", "scratch", "output", "cache", "tools", ".claude"];
const TOP: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Directories that contain only agent-written files: they are cleared before a desk is laid out.
const CLEARED: [&str; 6] =
    ["scratch", "output", "cache/indexes", "input/attachments", "state/buffers", "tools"];
/// The agent's counters; the projection adds its own, which cover every process that worked on the run.
const METRICS: &str = "state/metrics.json";
pub(super) const ANSWERS: [&str; 2] = ["output/answer.md", "final_answer.md"];

impl Projection {
    /// Writes the initial files of a root agent. Those of other frames would conflict and are not written.
    pub(super) fn lay(&mut self, event: &Event, files: &[FileChange]) -> Result<(), JournalError> {
        if event.frame != FrameId::root() {
            return Ok(());
        }
        self.state.has_desk = true;
        for area in CLEARED {
            self.files.remove(area)?;
        }
        self.change(event, files)
    }

    pub(super) fn change(&mut self, event: &Event, files: &[FileChange]) -> Result<(), JournalError> {
        if event.frame != FrameId::root() {
            return Ok(());
        }
        for file in files.iter().filter(|file| is_shown(file.path())) {
            self.change_one(event, file)?;
        }
        Ok(())
    }

    fn change_one(&mut self, event: &Event, file: &FileChange) -> Result<(), JournalError> {
        let added = file.content().map(|content| self.blobs.bytes(content)).transpose()?;
        match (file.path(), file, added) {
            // Append-only, and the projection adds its own lines.
            (EVIDENCE, _, Some(added)) => {
                for line in String::from_utf8_lossy(&added).lines() {
                    self.line(EVIDENCE, &files::fact_line(event, line));
                }
                Ok(())
            }
            (METRICS, _, Some(counted)) => {
                self.state.counted = serde_json::from_slice(&counted).unwrap_or_default();
                Ok(())
            }
            // The projection adds a line for each failed call.
            (EVIDENCE | ERRORS | METRICS, ..) => Ok(()),
            (path, FileChange::Written { .. }, Some(bytes)) => self.files.replace(path, &bytes),
            (path, FileChange::Appended { .. }, Some(bytes)) => self.files.append(path, &bytes),
            (path, _, _) => self.files.remove(path),
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

fn is_shown(path: &str) -> bool {
    let mut parts = path.split('/');
    let is_plain =
        path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains(['\\', '\0']);
    let is_in_area = parts.next().is_some_and(|first| AREAS.contains(&first)) && parts.next().is_some();
    is_plain && (is_in_area || TOP.contains(&path))
}

#[cfg(test)]
mod tests;
