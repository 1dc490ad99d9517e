//! The worker side of a script: the interpreter runs here, and its files are on the host's desk.
//! There are no links, and every file has the same timestamp.

use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bashkit::{
    DirEntry, FileSystem, FileSystemExt, FileType, FsLimits, FsUsage, Metadata, Result, async_trait,
};
use spelunk_types::{WorkError, WorkLine};

use super::apart::{KINDS, receive, send};
use super::script::{self, refused};
use super::wire::{FileMeta, FileReply, FileRequest, ScriptLimits, ScriptStart};

/// The modification time of everything on a desk: 2026-01-01.
const MODIFIED: Duration = Duration::from_hours(490_896);

/// Runs the one script that this worker was started for.
pub fn serve_shell(mut line: Box<dyn WorkLine>) -> std::result::Result<(), WorkError> {
    let ScriptStart { script, stdin, limits } = receive(&mut *line)?;
    let files = Arc::new(RemoteFiles { line: Mutex::new(line), limits });
    let ended = script::run(Arc::clone(&files) as _, &script, stdin.as_deref(), &files.limits.shell);
    let ended = ended.unwrap_or_else(|error| refused(&error.to_string()));
    let mut line = files.line.lock().unwrap_or_else(PoisonError::into_inner);
    send(&mut **line, &FileRequest::Ended(ended))
}

struct RemoteFiles {
    line: Mutex<Box<dyn WorkLine>>,
    limits: ScriptLimits,
}

impl RemoteFiles {
    /// Sends a request to the desk, with file content if any. Returns the reply and the content that comes with it.
    fn ask(&self, ask: &FileRequest, content: Option<&[u8]>) -> Result<(FileReply, Vec<u8>)> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut converse = || {
            send(&mut **line, ask)?;
            if let Some(content) = content {
                line.send(content)?;
            }
            let reply = receive(&mut **line)?;
            let content = if matches!(reply, FileReply::Content) { line.receive()? } else { Vec::new() };
            Ok((reply, content))
        };
        match converse().map_err(|error: WorkError| IoError::other(error))? {
            (FileReply::Refused(kind, words), _) => {
                let kind = KINDS.get(kind).copied().unwrap_or(ErrorKind::Other);
                Err(IoError::new(kind, words).into())
            }
            answered => Ok(answered),
        }
    }

    fn found(&self, path: &Path) -> Result<Metadata> {
        let FileReply::Found(meta) = self.ask(&FileRequest::Stat(text(path)?), None)?.0 else {
            return Err(confused());
        };
        Ok(metadata(meta))
    }
}

fn text(path: &Path) -> Result<String> {
    let not_utf8 = || IoError::new(ErrorKind::InvalidInput, "the name is not UTF-8");
    Ok(path.to_str().map(str::to_owned).ok_or_else(not_utf8)?)
}

fn metadata(meta: FileMeta) -> Metadata {
    let file_type = if meta.is_directory { FileType::Directory } else { FileType::File };
    let at = SystemTime::UNIX_EPOCH + MODIFIED;
    Metadata { file_type, size: meta.bytes, mode: meta.mode, modified: at, created: at }
}

fn confused() -> bashkit::Error {
    IoError::other("unexpected reply").into()
}

#[async_trait]
impl FileSystemExt for RemoteFiles {
    fn usage(&self) -> FsUsage {
        match self.ask(&FileRequest::Usage, None) {
            Ok((FileReply::Usage(bytes, n_files), _)) => FsUsage::new(bytes, n_files, 0),
            Ok(_) | Err(_) => FsUsage::default(),
        }
    }

    fn limits(&self) -> FsLimits {
        let mut limits = FsLimits::unlimited();
        limits.max_total_bytes = self.limits.bytes_max;
        limits.max_file_size = self.limits.file_bytes_max;
        limits.max_file_count = self.limits.files_max;
        limits
    }
}

#[async_trait]
impl FileSystem for RemoteFiles {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        Ok(self.ask(&FileRequest::Read(text(path)?), None)?.1)
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.ask(&FileRequest::Write(text(path)?), Some(content)).map(drop)
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.ask(&FileRequest::Append(text(path)?), Some(content)).map(drop)
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        self.ask(&FileRequest::Mkdir(text(path)?, recursive), None).map(drop)
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        self.ask(&FileRequest::Remove(text(path)?, recursive), None).map(drop)
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        self.found(path)
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        let FileReply::Entries(entries) = self.ask(&FileRequest::List(text(path)?), None)?.0 else {
            return Err(confused());
        };
        let entry = |(name, meta)| DirEntry { name, metadata: metadata(meta) };
        Ok(entries.into_iter().map(entry).collect())
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        // A name that is invalid on the desk does not exist on it.
        Ok(self.found(path).is_ok())
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.ask(&FileRequest::Rename(text(from)?, text(to)?), None).map(drop)
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.ask(&FileRequest::Copy(text(from)?, text(to)?), None).map(drop)
    }

    async fn symlink(&self, _: &Path, _: &Path) -> Result<()> {
        Err(IoError::new(ErrorKind::Unsupported, "links are not supported").into())
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.found(path)?;
        Err(IoError::new(ErrorKind::InvalidInput, "Invalid argument").into())
    }

    async fn chmod(&self, path: &Path, _: u32) -> Result<()> {
        // Permissions depend on the path; a script that makes its file executable loses nothing.
        self.found(path).map(drop)
    }

    async fn set_modified_time(&self, path: &Path, _: SystemTime) -> Result<()> {
        self.found(path).map(drop)
    }
}
