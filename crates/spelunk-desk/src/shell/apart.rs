//! The host side of a script in a worker process: the worker has the interpreter, the host has the desk. File
//! operations are requests to the desk with the model's permissions, so a compromised worker can do no more than a
//! script.

use std::io::ErrorKind;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bashkit::{FileSystem as _, FileSystemExt as _, FileType, Metadata};
use spelunk_types::{WorkBounds, WorkError, WorkLine, Workers};

use super::files::DeskFiles;
use super::script::{Ended, refused};
use super::wire::{Ask, Begin, End, Limits, Meta, Reply};
use crate::{Desk, DeskError};

/// The name of the worker task.
pub const SHELL_TASK: &str = "shell";

/// The memory of a script's interpreter: several times what it may hold between commands, because commands copy.
const MEMORY_BYTES_MAX: u64 = 768 << 20;

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
) -> Result<Ended, DeskError> {
    let bounds =
        WorkBounds { memory_bytes_max: MEMORY_BYTES_MAX, cpu_ms_max: desk.limits().shell.timeout_ms };
    let shared = Arc::new(Mutex::new(desk.clone()));
    let files = DeskFiles::new(Arc::clone(&shared));
    let begin = Begin {
        script: script.to_owned(),
        stdin: stdin.map(str::to_owned),
        limits: Limits::of(desk.limits()),
    };
    let ended = workers.start(SHELL_TASK, bounds).and_then(|mut line| {
        send(&mut *line, &begin)?;
        attend(&mut *line, &files)
    });
    match ended {
        Ok(End { stdout, stderr, exit_code, stopped }) => {
            *desk = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Ok(Ended { stdout, stderr, exit_code, stopped })
        }
        Err(WorkError::NoWorker { why }) => Err(DeskError::Shell { why }),
        Err(WorkError::Crashed { .. }) => Ok(refused(
            "the interpreter failed on this script, and nothing was changed; write it another way",
        )),
        Err(error @ (WorkError::Memory { .. } | WorkError::Time { .. })) => {
            let what = error.to_string();
            let what = what.strip_prefix("it ").unwrap_or(&what);
            Ok(refused(&format!("the script {what}, and nothing was changed")))
        }
    }
}

/// Answers the script's requests until it ends.
fn attend(line: &mut dyn WorkLine, files: &DeskFiles) -> Result<End, WorkError> {
    loop {
        let ask: Ask = receive(line)?;
        let reply = match ask {
            Ask::Ended(end) => return Ok(end),
            Ask::Read(path) => match now(files.read_file(Path::new(&path))) {
                Ok(content) => {
                    send(line, &Reply::Content)?;
                    line.send(&content)?;
                    continue;
                }
                Err(error) => told(&error),
            },
            Ask::Write(path) => {
                let content = line.receive()?;
                done(now(files.write_file(Path::new(&path), &content)))
            }
            Ask::Append(path) => {
                let content = line.receive()?;
                done(now(files.append_file(Path::new(&path), &content)))
            }
            Ask::Mkdir(path, recursive) => done(now(files.mkdir(Path::new(&path), recursive))),
            Ask::Remove(path, recursive) => done(now(files.remove(Path::new(&path), recursive))),
            Ask::Rename(from, to) => done(now(files.rename(Path::new(&from), Path::new(&to)))),
            Ask::Copy(from, to) => done(now(files.copy(Path::new(&from), Path::new(&to)))),
            Ask::Stat(path) => match now(files.stat(Path::new(&path))) {
                Ok(metadata) => Reply::Found(meta(&metadata)),
                Err(error) => told(&error),
            },
            Ask::List(path) => match now(files.read_dir(Path::new(&path))) {
                Ok(entries) => Reply::Entries(
                    entries.into_iter().map(|entry| (entry.name, meta(&entry.metadata))).collect(),
                ),
                Err(error) => told(&error),
            },
            Ask::Exists(path) => match now(files.exists(Path::new(&path))) {
                Ok(exists) => Reply::Exists(exists),
                Err(error) => told(&error),
            },
            Ask::Usage => {
                let usage = files.usage();
                Reply::Usage(usage.total_bytes, usage.file_count)
            }
        };
        send(line, &reply)?;
    }
}

pub(super) fn send(line: &mut dyn WorkLine, message: &impl serde::Serialize) -> Result<(), WorkError> {
    line.send(&serde_json::to_vec(message).map_err(|error| lost(&error))?)
}

pub(super) fn receive<T: serde::de::DeserializeOwned>(line: &mut dyn WorkLine) -> Result<T, WorkError> {
    serde_json::from_slice(&line.receive()?).map_err(|error| lost(&error))
}

fn lost(error: &serde_json::Error) -> WorkError {
    WorkError::Crashed { how: error.to_string() }
}

fn done(outcome: bashkit::Result<()>) -> Reply {
    match outcome {
        Ok(()) => Reply::Done,
        Err(error) => told(&error),
    }
}

fn told(error: &bashkit::Error) -> Reply {
    let (kind, words) = if let bashkit::Error::Io(error) = error {
        (error.kind(), error.to_string())
    } else {
        (ErrorKind::Other, error.to_string())
    };
    Reply::Refused(KINDS.iter().position(|known| *known == kind).unwrap_or_default(), words)
}

fn meta(metadata: &Metadata) -> Meta {
    let is_directory = metadata.file_type == FileType::Directory;
    Meta { is_directory, bytes: metadata.size, mode: metadata.mode }
}

/// Polls a future of the desk's files, which never waits.
fn now<T>(future: impl Future<Output = bashkit::Result<T>>) -> bashkit::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(std::io::Error::other("the desk is busy").into()),
    }
}
