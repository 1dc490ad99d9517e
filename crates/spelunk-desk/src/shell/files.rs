//! A desk as the interpreter's file system. Mounted documents are read when opened and never written; a write without
//! permission fails as on a read-only file system. There are no links and no timestamps: every file has the same one.

use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bashkit::{
    DirEntry, FileSystem, FileSystemExt, FileType, FsLimits, FsUsage, Metadata, Result, async_trait,
};

use crate::{Desk, DeskError, DeskPath, Entry, Rights, Zone};

/// The modification time of everything on a desk: 2026-01-01.
const MODIFIED: Duration = Duration::from_hours(490_896);

/// The largest file that can be executed by name.
const EXECUTABLE_BYTES_MAX: u64 = 64 * 1024;

/// A desk that an interpreter works on.
pub(super) struct DeskFiles {
    desk: Arc<Mutex<Desk>>,
}

impl DeskFiles {
    pub(super) fn new(desk: Arc<Mutex<Desk>>) -> Self {
        Self { desk }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a path refers to in a script.
enum Place {
    Desk(DeskPath),
    /// `/dev` or something in it.
    Device(Device),
}

enum Device {
    Directory,
    Null,
}

/// Resolves a path, with `..` taken literally as the interpreter does: nothing is above the top.
fn place(path: &Path) -> Result<Place> {
    let text = path.to_str().ok_or_else(not_utf8)?;
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    match parts.as_slice() {
        ["dev"] => return Ok(Place::Device(Device::Directory)),
        ["dev", "null"] => return Ok(Place::Device(Device::Null)),
        _ => {}
    }
    DeskPath::parse(&format!("/{}", parts.join("/"))).map(Place::Desk).map_err(|error| refused(&error.into()))
}

/// Converts a refusal to a file system error.
fn refused(error: &DeskError) -> bashkit::Error {
    let (kind, why) = match error {
        DeskError::NotFound { .. } => (ErrorKind::NotFound, "No such file or directory".to_owned()),
        DeskError::ReadOnly { .. } | DeskError::ToolOnly { .. } => {
            (ErrorKind::ReadOnlyFilesystem, "Read-only file system".to_owned())
        }
        DeskError::IsDirectory { .. } => (ErrorKind::IsADirectory, "is a directory".to_owned()),
        DeskError::NotDirectory { .. } => (ErrorKind::NotADirectory, "not a directory".to_owned()),
        DeskError::Exists { .. } => (ErrorKind::AlreadyExists, "File exists".to_owned()),
        DeskError::NotEmpty { .. } => (ErrorKind::DirectoryNotEmpty, "directory not empty".to_owned()),
        DeskError::Path { .. }
        | DeskError::FileTooLarge { .. }
        | DeskError::Full { .. }
        | DeskError::TooManyFiles { .. }
        | DeskError::NotText { .. }
        | DeskError::TooLarge { .. }
        | DeskError::LineOutOfRange { .. }
        | DeskError::UnknownTool { .. }
        | DeskError::Arguments { .. }
        | DeskError::EditMiss { .. }
        | DeskError::EditAmbiguous { .. }
        | DeskError::Glob { .. }
        | DeskError::NoBuffer { .. }
        | DeskError::TooMuch { .. }
        | DeskError::Damaged { .. }
        | DeskError::Read(_)
        | DeskError::Shell { .. } => (ErrorKind::Other, error.to_string()),
    };
    IoError::new(kind, why).into()
}

pub(super) fn not_utf8() -> bashkit::Error {
    IoError::new(ErrorKind::InvalidInput, "the name is not UTF-8").into()
}

fn not_there() -> bashkit::Error {
    IoError::new(ErrorKind::NotFound, "No such file or directory").into()
}

fn read_only() -> bashkit::Error {
    IoError::new(ErrorKind::ReadOnlyFilesystem, "Read-only file system").into()
}

pub(super) fn unsupported(what: &str) -> bashkit::Error {
    IoError::new(ErrorKind::Unsupported, format!("there are no {what} on a desk")).into()
}

pub(super) fn metadata(file_type: FileType, size: u64, mode: u32) -> Metadata {
    let at = SystemTime::UNIX_EPOCH + MODIFIED;
    Metadata { file_type, size, mode, modified: at, created: at }
}

fn metadata_of(path: &DeskPath, entry: Entry) -> Metadata {
    let may_write = Zone::rights(path) == Rights::Write;
    match entry {
        Entry::Directory => metadata(FileType::Directory, 0, if may_write { 0o755 } else { 0o555 }),
        // `chmod +x` has nowhere to store its bit: a script is recognised by its name and a readable size.
        Entry::File { bytes } if is_script(path) && bytes <= EXECUTABLE_BYTES_MAX => {
            metadata(FileType::File, bytes, 0o755)
        }
        Entry::File { bytes } => metadata(FileType::File, bytes, if may_write { 0o644 } else { 0o444 }),
        Entry::Document { bytes } => metadata(FileType::File, bytes, 0o444),
    }
}

fn is_script(path: &DeskPath) -> bool {
    path.name().rsplit_once('.').is_some_and(|(_, extension)| extension == "sh")
}

#[async_trait]
impl FileSystemExt for DeskFiles {
    fn usage(&self) -> FsUsage {
        let desk = self.desk();
        FsUsage::new(desk.bytes(), desk.files().len() as u64, 0)
    }

    fn limits(&self) -> FsLimits {
        let (desk, mut limits) = (self.desk(), FsLimits::unlimited());
        limits.max_total_bytes = desk.limits().bytes_max;
        limits.max_file_size = desk.limits().document_bytes_max.max(desk.limits().file_bytes_max);
        limits.max_file_count = desk.limits().files_max;
        limits
    }
}

#[async_trait]
impl FileSystem for DeskFiles {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        match place(path)? {
            Place::Desk(path) => {
                self.desk().read(&path).map(std::borrow::Cow::into_owned).map_err(|e| refused(&e))
            }
            Place::Device(Device::Null) => Ok(Vec::new()),
            Place::Device(Device::Directory) => {
                Err(refused(&DeskError::IsDirectory { path: DeskPath::top() }))
            }
        }
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        let Some(path) = writable(path)? else { return Ok(()) };
        let mut desk = self.desk();
        require_parent(&desk, &path)?;
        desk.write(&path, content).map_err(|error| refused(&error))
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        let Some(path) = writable(path)? else { return Ok(()) };
        let mut desk = self.desk();
        require_parent(&desk, &path)?;
        desk.append(&path, content).map_err(|error| refused(&error))
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        let Place::Desk(path) = place(path)? else { return Err(read_only()) };
        let mut desk = self.desk();
        if !recursive {
            if desk.entry(&path).is_some() {
                return Err(refused(&DeskError::Exists { path }));
            }
            require_parent(&desk, &path)?;
        }
        desk.make_directory(&path).map_err(|error| refused(&error))
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        let Place::Desk(path) = place(path)? else { return Err(read_only()) };
        let mut desk = self.desk();
        let removed = if recursive { desk.remove_all(&path) } else { desk.remove(&path) };
        removed.map_err(|error| refused(&error))
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        match place(path)? {
            Place::Desk(path) => {
                self.desk().entry(&path).map(|entry| metadata_of(&path, entry)).ok_or_else(not_there)
            }
            Place::Device(Device::Directory) => Ok(metadata(FileType::Directory, 0, 0o555)),
            Place::Device(Device::Null) => Ok(metadata(FileType::File, 0, 0o666)),
        }
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        match place(path)? {
            Place::Desk(path) => {
                let entries = self.desk().list(&path).map_err(|error| refused(&error))?;
                let entry = |(name, entry): (String, Entry)| {
                    let metadata = match path.join(&name) {
                        Ok(below) => metadata_of(&below, entry),
                        Err(_) => metadata_of(&path, entry),
                    };
                    DirEntry { name, metadata }
                };
                Ok(entries.into_iter().map(entry).collect())
            }
            Place::Device(Device::Directory) => {
                Ok(vec![DirEntry { name: "null".to_owned(), metadata: metadata(FileType::File, 0, 0o666) }])
            }
            Place::Device(Device::Null) => Err(refused(&DeskError::NotDirectory { path: DeskPath::top() })),
        }
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        // A name that is invalid on the desk does not exist on it.
        Ok(match place(path) {
            Ok(Place::Desk(path)) => self.desk().entry(&path).is_some(),
            Ok(Place::Device(_)) => true,
            Err(_) => false,
        })
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (Place::Desk(from), Place::Desk(to)) = (place(from)?, place(to)?) else {
            return Err(read_only());
        };
        let mut desk = self.desk();
        require_parent(&desk, &to)?;
        desk.rename(&from, &to).map_err(|error| refused(&error))
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let content = self.read_file(from).await?;
        self.write_file(to, &content).await
    }

    async fn symlink(&self, _: &Path, _: &Path) -> Result<()> {
        Err(unsupported("links"))
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.stat(path).await?;
        Err(IoError::new(ErrorKind::InvalidInput, "Invalid argument").into())
    }

    async fn chmod(&self, path: &Path, _: u32) -> Result<()> {
        // Permissions depend on the path; a script that makes its file executable loses nothing.
        self.stat(path).await.map(drop)
    }

    async fn set_modified_time(&self, path: &Path, _: SystemTime) -> Result<()> {
        self.stat(path).await.map(drop)
    }
}

/// The file to write; `None` for `/dev/null`.
fn writable(path: &Path) -> Result<Option<DeskPath>> {
    match place(path)? {
        Place::Desk(path) => Ok(Some(path)),
        Place::Device(Device::Null) => Ok(None),
        Place::Device(Device::Directory) => Err(read_only()),
    }
}

/// The parent directory must exist: a script that assumes otherwise is mistaken.
fn require_parent(desk: &Desk, path: &DeskPath) -> Result<()> {
    match path.parent() {
        Some(parent) => match desk.entry(&parent) {
            Some(Entry::Directory) => Ok(()),
            Some(Entry::File { .. } | Entry::Document { .. }) => {
                Err(refused(&DeskError::NotDirectory { path: parent }))
            }
            None => Err(not_there()),
        },
        None => Ok(()),
    }
}
