//! Follows a journal that another process writes: complete lines as they arrive, without a lock.

use std::io::{self, Read, Seek, SeekFrom};

use spelunk_fs::PrivateDir;
use spelunk_types::RunId;

use crate::journal::{file_name, read_lines};
use crate::{JournalError, Record, Workspace};

/// A reader's position in a journal.
pub struct JournalTail {
    workspace: Workspace,
    dir: PrivateDir,
    run: RunId,
    offset: u64,
    n_lines: u64,
}

impl JournalTail {
    /// Starts at the first event. The workspace must be on the file system.
    pub fn open(workspace: &Workspace, run: &RunId) -> Result<Self, JournalError> {
        let dir = workspace.dir().ok_or_else(|| JournalError::NotFound { name: run.to_string() })?;
        Ok(Self { workspace: workspace.clone(), dir: dir.clone(), run: run.clone(), offset: 0, n_lines: 0 })
    }

    /// The events written since the last call; an incomplete line is left for the next one.
    pub fn read_new(&mut self) -> Result<Vec<Record>, JournalError> {
        self.workspace.refresh(&self.run);
        let bytes = self.read_bytes().map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                JournalError::NotFound { name: self.run.to_string() }
            } else {
                JournalError::Read { name: file_name(&self.run), source }
            }
        })?;
        let (records, whole) = read_lines(&bytes, &self.run, self.n_lines + 1)?;
        self.n_lines += records.len() as u64;
        self.offset += whole as u64;
        Ok(records)
    }

    fn read_bytes(&self) -> io::Result<Vec<u8>> {
        let mut file = self.dir.open(&file_name(&self.run))?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
