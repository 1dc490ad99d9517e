//! The host side of a script: the interpreter runs in a worker (a thread if the program has none),
//! the desk stays here. File operations are requests with the model's permissions, so a compromised
//! worker can do no more than a script. Mounted documents are read when opened; a forbidden write
//! fails as on a read-only disk.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, Sender, channel};

use spelunk_types::{WorkBounds, WorkError, WorkLine, Workers};

use super::script::refused;
use super::serve_shell;
use super::wire::{FileMeta, FileReply, FileRequest, ScriptEnd, ScriptLimits, ScriptStart};
use crate::{Desk, DeskError, DeskPath, Entry, Rights, Zone};

/// The name of the worker task.
pub const SHELL_TASK: &str = "shell";

/// The memory of a script's interpreter: several times what it may hold between commands, because commands copy.
const MEMORY_BYTES_MAX: u64 = 768 << 20;

/// The largest file that can be executed by name.
const EXECUTABLE_BYTES_MAX: u64 = 64 * 1024;

/// The error kinds that a script can distinguish.
pub(super) const KINDS: [ErrorKind; 9] = [
    ErrorKind::Other,
    ErrorKind::NotFound,
    ErrorKind::ReadOnlyFilesystem,
    ErrorKind::IsADirectory,
    ErrorKind::NotADirectory,
    ErrorKind::AlreadyExists,
    ErrorKind::DirectoryNotEmpty,
    ErrorKind::InvalidInput,
    ErrorKind::Unsupported,
];

/// Runs a script to its end. If the worker is lost, the desk is unchanged.
pub(super) fn run(
    workers: &dyn Workers,
    desk: &mut Desk,
    script: &str,
    stdin: Option<&str>,
) -> Result<ScriptEnd, DeskError> {
    let bounds =
        WorkBounds { memory_bytes_max: MEMORY_BYTES_MAX, cpu_ms_max: desk.limits().shell.timeout_ms };
    let begin = ScriptStart {
        script: script.to_owned(),
        stdin: stdin.map(str::to_owned),
        limits: ScriptLimits::of(desk.limits()),
    };
    let mut changed = desk.clone();
    let ended = workers.start(SHELL_TASK, bounds).and_then(|mut line| {
        send(&mut *line, &begin)?;
        attend(&mut *line, &mut changed)
    });
    match ended {
        Ok(ended) => {
            *desk = changed;
            Ok(ended)
        }
        Err(WorkError::NoWorker { why }) => Err(DeskError::Shell { why }),
        Err(WorkError::Crashed { .. }) => Ok(refused(
            "the interpreter failed on this script, and nothing was changed; write it differently",
        )),
        Err(error @ (WorkError::Memory { .. } | WorkError::Time { .. })) => {
            let what = error.to_string();
            let what = what.strip_prefix("it ").unwrap_or(&what);
            Ok(refused(&format!("the script {what}, and nothing was changed")))
        }
    }
}

/// Runs scripts on threads of this process.
#[derive(Debug)]
pub(super) struct Threads;

impl Workers for Threads {
    fn start(&self, _: &str, _: WorkBounds) -> Result<Box<dyn WorkLine>, WorkError> {
        let ((to_worker, from_host), (to_host, from_worker)) = (channel(), channel());
        let there = Box::new(ThreadLine { sender: to_host, receiver: from_host });
        std::thread::spawn(move || serve_shell(there));
        Ok(Box::new(ThreadLine { sender: to_worker, receiver: from_worker }))
    }
}

struct ThreadLine {
    sender: Sender<Vec<u8>>,
    receiver: Receiver<Vec<u8>>,
}

impl WorkLine for ThreadLine {
    fn send(&mut self, message: &[u8]) -> Result<(), WorkError> {
        self.sender.send(message.to_vec()).map_err(|error| lost(&error))
    }

    fn receive(&mut self) -> Result<Vec<u8>, WorkError> {
        self.receiver.recv().map_err(|error| lost(&error))
    }
}

pub(super) fn send(line: &mut dyn WorkLine, message: &impl serde::Serialize) -> Result<(), WorkError> {
    line.send(&serde_json::to_vec(message).map_err(|error| lost(&error))?)
}

pub(super) fn receive<T: serde::de::DeserializeOwned>(line: &mut dyn WorkLine) -> Result<T, WorkError> {
    serde_json::from_slice(&line.receive()?).map_err(|error| lost(&error))
}

fn lost(error: &dyn std::fmt::Display) -> WorkError {
    WorkError::Crashed { how: error.to_string() }
}

/// Answers the script's requests until it ends.
fn attend(line: &mut dyn WorkLine, desk: &mut Desk) -> Result<ScriptEnd, WorkError> {
    loop {
        let reply = match receive(line)? {
            FileRequest::Ended(ended) => return Ok(ended),
            FileRequest::Read(path) => match read(desk, &path) {
                Ok(content) => {
                    send(line, &FileReply::Content)?;
                    line.send(&content)?;
                    continue;
                }
                Err(refusal) => Err(refusal),
            },
            FileRequest::Write(path) => {
                let content = line.receive()?;
                write(desk, &path, |desk, path| desk.write(path, content))
            }
            FileRequest::Append(path) => {
                let content = line.receive()?;
                write(desk, &path, |desk, path| desk.append(path, &content))
            }
            FileRequest::Mkdir(path, recursive) => make_directory(desk, &path, recursive),
            FileRequest::Remove(path, recursive) => on_desk(&path).and_then(|path| {
                let removed = if recursive { desk.remove_all(&path) } else { desk.remove(&path) };
                Ok(removed.map(|()| FileReply::Done)?)
            }),
            FileRequest::Rename(from, to) => rename(desk, &from, &to),
            FileRequest::Copy(from, to) => {
                let content = read(desk, &from).map(Cow::into_owned);
                content.and_then(|content| write(desk, &to, |desk, path| desk.write(path, content)))
            }
            FileRequest::Stat(path) => stat(desk, &path).map(FileReply::Found),
            FileRequest::List(path) => list(desk, &path).map(FileReply::Entries),
            FileRequest::Usage => Ok(FileReply::Usage(desk.bytes(), desk.files().len() as u64)),
        };
        let reply = reply.unwrap_or_else(|Refusal(kind, words)| {
            FileReply::Refused(KINDS.iter().position(|known| *known == kind).unwrap_or_default(), words)
        });
        send(line, &reply)?;
    }
}

/// A refused file operation, as a script sees it.
struct Refusal(ErrorKind, String);

const NOT_FOUND: &str = "No such file or directory";
const READ_ONLY: &str = "Read-only file system";
const IS_DIRECTORY: &str = "is a directory";
const NOT_DIRECTORY: &str = "not a directory";

impl Refusal {
    fn of(kind: ErrorKind, words: &str) -> Self {
        Self(kind, words.to_owned())
    }
}

impl From<DeskError> for Refusal {
    #[expect(clippy::wildcard_enum_match_arm, reason = "a script cannot tell the others apart")]
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::NotFound { .. } => Self::of(ErrorKind::NotFound, NOT_FOUND),
            DeskError::ReadOnly { .. } | DeskError::ToolOnly { .. } => {
                Self::of(ErrorKind::ReadOnlyFilesystem, READ_ONLY)
            }
            DeskError::IsDirectory { .. } => Self::of(ErrorKind::IsADirectory, IS_DIRECTORY),
            DeskError::NotDirectory { .. } => Self::of(ErrorKind::NotADirectory, NOT_DIRECTORY),
            DeskError::Exists { .. } => Self::of(ErrorKind::AlreadyExists, "File exists"),
            DeskError::NotEmpty { .. } => Self::of(ErrorKind::DirectoryNotEmpty, "directory not empty"),
            _ => Self(ErrorKind::Other, error.to_string()),
        }
    }
}

/// What a path refers to in a script.
enum Target {
    OnDesk(DeskPath),
    /// `/dev`.
    Devices,
    /// `/dev/null`.
    Null,
}

/// Resolves a path, with `..` taken literally as the interpreter does: nothing is above the top.
fn target(path: &str) -> Result<Target, Refusal> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    match parts.as_slice() {
        ["dev"] => Ok(Target::Devices),
        ["dev", "null"] => Ok(Target::Null),
        parts => {
            let path = DeskPath::parse(&format!("/{}", parts.join("/"))).map_err(DeskError::from)?;
            Ok(Target::OnDesk(path))
        }
    }
}

/// The path on the desk, for changes that no device allows.
fn on_desk(path: &str) -> Result<DeskPath, Refusal> {
    match target(path)? {
        Target::OnDesk(path) => Ok(path),
        Target::Devices | Target::Null => Err(Refusal::of(ErrorKind::ReadOnlyFilesystem, READ_ONLY)),
    }
}

fn require_parent(desk: &Desk, path: &DeskPath) -> Result<(), Refusal> {
    match path.parent().map(|parent| desk.entry(&parent)) {
        None | Some(Some(Entry::Directory)) => Ok(()),
        Some(Some(_)) => Err(Refusal::of(ErrorKind::NotADirectory, NOT_DIRECTORY)),
        Some(None) => Err(Refusal::of(ErrorKind::NotFound, NOT_FOUND)),
    }
}

fn read<'d>(desk: &'d Desk, path: &str) -> Result<Cow<'d, [u8]>, Refusal> {
    match target(path)? {
        Target::OnDesk(path) => Ok(desk.read(&path)?),
        Target::Null => Ok(Cow::default()),
        Target::Devices => Err(Refusal::of(ErrorKind::IsADirectory, IS_DIRECTORY)),
    }
}

fn write(
    desk: &mut Desk,
    path: &str,
    change: impl FnOnce(&mut Desk, &DeskPath) -> Result<(), DeskError>,
) -> Result<FileReply, Refusal> {
    if !matches!(target(path)?, Target::Null) {
        let path = on_desk(path)?;
        require_parent(desk, &path)?;
        change(desk, &path)?;
    }
    Ok(FileReply::Done)
}

fn make_directory(desk: &mut Desk, path: &str, recursive: bool) -> Result<FileReply, Refusal> {
    let path = on_desk(path)?;
    if !recursive {
        if desk.entry(&path).is_some() {
            return Err(DeskError::Exists { path }.into());
        }
        require_parent(desk, &path)?;
    }
    desk.make_directory(&path)?;
    Ok(FileReply::Done)
}

fn rename(desk: &mut Desk, from: &str, to: &str) -> Result<FileReply, Refusal> {
    let (from, to) = (on_desk(from)?, on_desk(to)?);
    require_parent(desk, &to)?;
    desk.rename(&from, &to)?;
    Ok(FileReply::Done)
}

const DEVICES: FileMeta = FileMeta { is_directory: true, bytes: 0, mode: 0o555 };
const NULL: FileMeta = FileMeta { is_directory: false, bytes: 0, mode: 0o666 };

fn stat(desk: &Desk, path: &str) -> Result<FileMeta, Refusal> {
    match target(path)? {
        Target::OnDesk(path) => {
            let entry = desk.entry(&path).ok_or_else(|| Refusal::of(ErrorKind::NotFound, NOT_FOUND))?;
            Ok(meta(&path, entry))
        }
        Target::Devices => Ok(DEVICES),
        Target::Null => Ok(NULL),
    }
}

fn list(desk: &Desk, path: &str) -> Result<Vec<(String, FileMeta)>, Refusal> {
    match target(path)? {
        Target::OnDesk(path) => {
            let entry = |(name, entry): (String, Entry)| {
                let meta = meta(path.join(&name).as_ref().unwrap_or(&path), entry);
                (name, meta)
            };
            Ok(desk.list(&path)?.into_iter().map(entry).collect())
        }
        Target::Devices => Ok(vec![("null".to_owned(), NULL)]),
        Target::Null => Err(Refusal::of(ErrorKind::NotADirectory, NOT_DIRECTORY)),
    }
}

fn meta(path: &DeskPath, entry: Entry) -> FileMeta {
    let may_write = Zone::rights(path) == Rights::Write;
    let is_script = path.name().rsplit_once('.').is_some_and(|(_, extension)| extension == "sh");
    let (bytes, mode) = match entry {
        Entry::Directory => (0, if may_write { 0o755 } else { 0o555 }),
        // `chmod +x` has nowhere to store its bit: a script is recognised by its name and a readable size.
        Entry::File { bytes } if is_script && bytes <= EXECUTABLE_BYTES_MAX => (bytes, 0o755),
        Entry::File { bytes } => (bytes, if may_write { 0o644 } else { 0o444 }),
        Entry::Document { bytes } => (bytes, 0o444),
    };
    FileMeta { is_directory: entry == Entry::Directory, bytes, mode }
}
