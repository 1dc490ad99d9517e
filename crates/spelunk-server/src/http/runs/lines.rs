//! The lines of a journal, read in bounded batches from any position. Two hundred watchers of a run
//! hold one batch each, never the whole run.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use spelunk_fs::PrivateDir;
use spelunk_journal::{JournalError, Workspace};
use spelunk_types::RunId;

const PIECE_BYTES: usize = 64 << 10;
/// Long texts are blobs, so a line longer than this is damaged.
const LINE_BYTES_MAX: usize = 32 << 20;

pub(super) struct Lines {
    shared: Option<(Workspace, RunId)>,
    dir: PrivateDir,
    name: String,
    /// The offset after the last complete line that was read.
    offset: u64,
    seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) seq: u64,
    pub(super) text: String,
}

impl Line {
    /// The type of the event. We write the lines, with the type before any text from elsewhere.
    pub(super) fn kind(&self) -> &str {
        let rest = self.text.split_once(",\"type\":\"").map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split('"').next()).unwrap_or("event")
    }
}

impl Lines {
    /// The run need not have a journal yet.
    pub(super) fn open(workspace: &PrivateDir, run: &RunId) -> Self {
        Self {
            shared: None,
            dir: workspace.clone(),
            name: format!("runs/{run}/journal.jsonl"),
            offset: 0,
            seq: 0,
        }
    }

    /// For a workspace that may be shared with other machines.
    pub(super) fn of_shared(self, workspace: Workspace, run: &RunId) -> Self {
        Self { shared: workspace.shared().is_some().then(|| (workspace, run.clone())), ..self }
    }

    /// The next batch of lines after `after`; empty if there are none for now. Blocking.
    pub(super) fn next(&mut self, after: u64) -> Result<Vec<Line>, JournalError> {
        if let Some((workspace, run)) = &self.shared {
            workspace.refresh(run);
        }
        loop {
            let before = self.offset;
            let lines = match self.read(after) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                read => read.map_err(|source| JournalError::Read { name: "journal.jsonl".into(), source })?,
            };
            // A batch in which all lines were skipped is not the end.
            if !lines.is_empty() || self.offset == before {
                return Ok(lines);
            }
        }
    }

    fn read(&mut self, after: u64) -> io::Result<Vec<Line>> {
        let mut file = self.dir.open(&self.name)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        loop {
            let n_before = bytes.len();
            (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut bytes)?;
            let has_line = bytes.iter().skip(n_before).any(|byte| *byte == b'\n');
            if has_line || bytes.len() == n_before {
                break;
            }
            if bytes.len() > LINE_BYTES_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
            }
        }
        let mut lines = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            self.seq += 1;
            self.offset += line.len() as u64;
            if self.seq > after {
                lines.push(Line { seq: self.seq, text: String::from_utf8_lossy(whole).into_owned() });
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests place files by hand")]

    use proptest::prelude::*;

    use super::*;

    fn journal(text: &[u8]) -> (tempfile::TempDir, Lines) {
        let dir = tempfile::tempdir().unwrap();
        let lines = Lines::open(&PrivateDir::new(dir.path()), &RunId::new(0, 1));
        std::fs::create_dir_all(path(&lines).parent().unwrap()).unwrap();
        std::fs::write(path(&lines), text).unwrap();
        (dir, lines)
    }

    fn path(lines: &Lines) -> std::path::PathBuf {
        lines.dir.root().join(&lines.name)
    }

    #[test]
    fn a_line_that_is_being_written_waits_for_its_end() {
        let (_dir, mut lines) = journal(b"{\"seq\":1,\"type\":\"run.started\"}\n{\"seq\"");
        let read = lines.next(0).unwrap();
        assert_eq!(read.iter().map(Line::kind).collect::<Vec<_>>(), ["run.started"]);
        assert_eq!(lines.next(0).unwrap(), []);
        std::fs::write(path(&lines), b"{\"seq\":1,\"type\":\"run.started\"}\n{\"seq\":2}\n").unwrap();
        assert_eq!(lines.next(0).unwrap(), [Line { seq: 2, text: "{\"seq\":2}".into() }]);
    }

    #[test]
    fn a_run_that_has_not_begun_has_no_lines() {
        let (_dir, mut lines) = journal(b"");
        std::fs::remove_file(path(&lines)).unwrap();
        assert_eq!(lines.next(0).unwrap(), []);
    }

    proptest! {
        #[test]
        fn every_line_behind_a_place_comes_once_and_in_order(
            lengths in prop::collection::vec(0_usize..40_000, 0..12),
            after in 0_u64..14,
        ) {
            let texts: Vec<String> = lengths.iter().map(|n| "x".repeat(*n)).collect();
            let whole: String = texts.iter().flat_map(|text| [text.as_str(), "\n"]).collect();
            let (_dir, mut lines) = journal(whole.as_bytes());
            let mut read = Vec::new();
            loop {
                let some = lines.next(after).unwrap();
                if some.is_empty() {
                    break;
                }
                read.extend(some);
            }
            let expected: Vec<Line> = (1..)
                .zip(texts)
                .filter(|(seq, _)| *seq > after)
                .map(|(seq, text)| Line { seq, text })
                .collect();
            prop_assert_eq!(read, expected);
        }
    }
}
