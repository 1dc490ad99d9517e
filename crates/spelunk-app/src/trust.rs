//! Per-user state outside of any project: which workspaces and job folders this program created for the user, and the
//! secret that signs what a workspace stores. A workspace may come with a repository, so one without a mark here is
//! opened read-only. A mark is named by the digest of the path; a workspace's mark contains a random id that its own
//! file `ID_FILE` repeats, so that a directory that replaced another is not mistaken for it.
//!
//! The marks are kept outside the workspace, rather than as signatures inside it, so that several users can each trust
//! a shared one.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use spelunk_fs::{Durability, Entry, EntryKind, PrivateDir, is_own};
use spelunk_journal::{Disk as _, FileDisk, JournalError, Workspace};
use spelunk_types::{ErrorCode, Explain};

use crate::env::{self, Environment};
use crate::failure::Result;

/// The file in a workspace that contains its id.
const ID_FILE: &str = "workspace.id";
const SECRET_FILE: &str = "workspace.secret";
const SECRET_BYTES: usize = 32;
const MARK_BYTES_MAX: u64 = 1 << 20;
/// The purpose of a key. A different text gives a different key.
pub(crate) const CACHE: &str = "spelunk 2026-11 reply cache";
pub const TICKETS: &str = "spelunk 2026-11 tickets of the server";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the workspace `{path}` is not trusted: {why}")]
pub(crate) struct Untrusted {
    path: String,
    why: Distrust,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Distrust {
    #[error("you did not create it on this machine, so it may have come with the files around it")]
    NoMark,
    #[error("Spelunk has no place to record that you created it")]
    NoMemory,
    #[error("it belongs to another user")]
    OtherOwner,
    #[error("it is a symbolic link")]
    Link,
    #[error("`{0}` in it is a symbolic link or a special file")]
    Special(String),
}

impl Explain for Untrusted {
    fn code(&self) -> ErrorCode {
        ErrorCode::WorkspaceUntrusted
    }

    fn hint(&self) -> Option<String> {
        Some(match &self.why {
            Distrust::NoMark => "if you know where it comes from, run `spelunk trust`; otherwise delete it, or keep runs elsewhere with `--workspace DIR`".to_owned(),
            Distrust::NoMemory => "set `XDG_STATE_HOME` to a writable directory, or choose a workspace with `--workspace DIR`".to_owned(),
            Distrust::OtherOwner => "keep runs elsewhere with `--workspace DIR`, or change its owner".to_owned(),
            Distrust::Link => "name its target with `--workspace DIR`".to_owned(),
            Distrust::Special(_) => "delete it if you did not put it there, then try again".to_owned(),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChosenBy {
    /// The user named this directory.
    User,
    /// It was derived from the current directory.
    Location,
}

#[derive(Debug, Clone)]
pub struct UserState {
    /// `None` without a home directory: then nothing is remembered.
    dir: Option<PrivateDir>,
}

impl UserState {
    pub(crate) fn of(environment: &Environment) -> Self {
        let below = environment.user_dir(env::XDG_STATE_HOME, ".local/state");
        Self { dir: below.map(|below| PrivateDir::new(below.join("spelunk"))) }
    }

    /// A directory for what can be fetched again: `fleet` has unpacked snapshots, `objects` those of buckets. It is not in
    /// the workspace: nothing in there is ever read as a document.
    /// Without a home directory, it is a temporary directory of this process with an unpredictable name.
    pub(crate) fn cache(&self, name: &str) -> PathBuf {
        static OF_PROCESS: LazyLock<PathBuf> = LazyLock::new(|| {
            let number = random().unwrap_or_default().map(|byte| format!("{byte:02x}")).concat();
            std::env::temp_dir().join(format!("spelunk-{number}"))
        });
        let below = self.dir.as_ref().map_or(OF_PROCESS.as_path(), PrivateDir::root);
        below.join(name)
    }

    /// A key for one purpose, derived from a secret that is created on first use. A workspace that the user named
    /// stores its own secret, because a server (as in a container) may keep nothing else; any other workspace uses the
    /// user's secret. If nothing can be stored, every process has a different key.
    pub(crate) fn key(&self, purpose: &str, root: &Path, chosen: ChosenBy) -> io::Result<[u8; 32]> {
        let own = (chosen == ChosenBy::User).then(|| PrivateDir::new(resolved(root)));
        let kept = own.as_ref().or(self.dir.as_ref()).and_then(|dir| secret(dir).ok());
        let secret = kept.map_or_else(random, Ok)?;
        Ok(blake3::derive_key(purpose, &secret))
    }

    /// Opens the workspace for writing; creates and marks it if it does not exist.
    pub(crate) fn open(&self, root: &Path, chosen: ChosenBy) -> Result<Workspace> {
        let place = resolved(root);
        let unusable = |source| JournalError::unusable(root, source);
        // Locked until the end, so that another process never sees the workspace without its mark.
        let mut mark = self.mark(&place);
        let dir = PrivateDir::new(&place);
        let is_linked = chosen == ChosenBy::Location && is_link(root);
        if !is_linked && is_bare(&dir).map_err(unusable)? {
            // Written first: a crash leaves the directory either bare or marked.
            write_mark(&dir, mark.as_mut()).map_err(unusable)?;
        } else {
            // A workspace of a newer version is reported as such.
            drop(Workspace::open_read_only(&place)?);
            if let Some(untrusted) = check(root, chosen, mark.as_mut()).map_err(unusable)? {
                return Err(untrusted.into());
            }
        }
        Ok(Workspace::open(&place)?)
    }

    /// Why an existing workspace may not be written to; `None` if it may.
    pub(crate) fn distrust(&self, root: &Path, chosen: ChosenBy) -> Result<Option<Untrusted>, JournalError> {
        let unusable = |source| JournalError::unusable(root, source);
        let mut mark = self.mark(&resolved(root));
        check(root, chosen, mark.as_mut()).map_err(unusable)
    }

    /// Marks a workspace as trusted. Returns false if it already was.
    pub fn trust(&self, root: &Path) -> Result<bool> {
        let unusable = |source| JournalError::unusable(root, source);
        let place = resolved(root);
        let dir = PrivateDir::new(&place);
        let mut mark = self.mark(&place);
        match check(root, ChosenBy::Location, mark.as_mut()).map_err(unusable)? {
            None => return Ok(false),
            Some(Untrusted { why: Distrust::NoMark, .. }) => {}
            Some(untrusted) => return Err(untrusted.into()),
        }
        if let Some(name) = dir.first_special("").map_err(unusable)? {
            return Err(Untrusted { path: root.display().to_string(), why: Distrust::Special(name) }.into());
        }
        // Never write to a workspace of a newer version.
        drop(Workspace::open_read_only(&place)?);
        write_mark(&dir, mark.as_mut()).map_err(unusable)?;
        Ok(true)
    }

    /// Records the sources of a job folder: the folder's own files could come from anyone.
    pub fn keep_job(&self, folder: &Path, sources: &[String]) -> io::Result<()> {
        let none = || io::Error::new(io::ErrorKind::NotFound, "neither `HOME` nor `XDG_STATE_HOME` is set");
        let dir = self.dir.as_ref().ok_or_else(none)?;
        let text = Value::from(sources).to_string();
        FileDisk::new(dir.root()).create(&mark_name("jobs", &resolved(folder)), text.as_bytes())
    }

    /// The sources of the job folder; `None` if this user created no such folder here.
    pub fn job(&self, folder: &Path) -> Option<Vec<String>> {
        let name = mark_name("jobs", &resolved(folder));
        let mut text = String::new();
        self.dir.as_ref()?.open(&name).ok()?.take(MARK_BYTES_MAX).read_to_string(&mut text).ok()?;
        let Ok(Value::Array(sources)) = serde_json::from_str(&text) else { return None };
        sources.iter().map(|source| source.as_str().map(str::to_owned)).collect()
    }

    /// Changes the number of sub-model calls that a job folder has used. If `change` returns
    /// `None`, the number stays and is returned as the error.
    pub fn job_calls(
        &self,
        folder: &Path,
        change: impl FnOnce(u64) -> Option<u64>,
    ) -> io::Result<Result<u64, u64>> {
        let none = || io::Error::from(io::ErrorKind::NotFound);
        let name = mark_name("job-calls", &resolved(folder));
        let mut file = self.dir.as_ref().ok_or_else(none)?.open_or_create(&name)?;
        file.lock()?;
        let used = String::from_utf8_lossy(&read_mark(&mut file)?).trim().parse().unwrap_or_default();
        let Some(now) = change(used) else { return Ok(Err(used)) };
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(now.to_string().as_bytes())?;
        Ok(Ok(now))
    }

    /// The mark of a workspace, locked; empty if it is new. `None` if nothing can be stored.
    fn mark(&self, place: &Path) -> Option<File> {
        let mark = self.dir.as_ref()?.open_or_create(&mark_name("workspaces", place)).ok()?;
        mark.lock().ok()?;
        Some(mark)
    }
}

fn check(root: &Path, chosen: ChosenBy, mark: Option<&mut File>) -> io::Result<Option<Untrusted>> {
    let untrusted = |why| Ok(Some(Untrusted { path: root.display().to_string(), why }));
    if chosen == ChosenBy::Location && is_link(root) {
        return untrusted(Distrust::Link);
    }
    let place = resolved(root);
    if !is_own(&place)? {
        return untrusted(Distrust::OtherOwner);
    }
    if chosen == ChosenBy::User {
        return Ok(None);
    }
    let Some(mark) = mark else { return untrusted(Distrust::NoMemory) };
    match (FileDisk::new(&place).read(ID_FILE)?, read_mark(mark)?) {
        (Some(id), marked) if !id.is_empty() && id == marked => Ok(None),
        _ => untrusted(Distrust::NoMark),
    }
}

fn mark_name(folder: &str, place: &Path) -> String {
    format!("{folder}/{}", blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex())
}

fn read_mark(mark: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    mark.rewind()?;
    mark.take(MARK_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Gives the workspace a new id, in its own file and in the mark.
fn write_mark(dir: &PrivateDir, mark: Option<&mut File>) -> io::Result<()> {
    let id = blake3::hash(&random()?).to_hex();
    if let Some(mark) = mark {
        mark.rewind()?;
        mark.set_len(0)?;
        mark.write_all(id.as_bytes())?;
        mark.sync_all()?;
    }
    // It becomes durable with the first journal.
    FileDisk::new(dir.root()).create_unsynced(ID_FILE, id.as_bytes())
}

/// Whether the directory is empty except for temporary files left by a crash.
fn is_bare(dir: &PrivateDir) -> io::Result<bool> {
    let is_staging = |entry: &Entry| entry.name == "tmp" && entry.kind == EntryKind::Directory;
    Ok(dir.list("")?.iter().all(is_staging) && dir.first_special("tmp")?.is_none())
}

fn secret(dir: &PrivateDir) -> io::Result<[u8; SECRET_BYTES]> {
    let read = || {
        let mut bytes = [0; SECRET_BYTES];
        dir.open(SECRET_FILE)?.read_exact(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    // Only one process creates it.
    let lock = dir.open_or_create("workspace.secret.lock")?;
    lock.lock()?;
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let (mut file, staged) = dir.stage("", "workspace.secret-")?;
    file.write_all(&random()?)?;
    file.sync_all()?;
    dir.rename(&staged, SECRET_FILE, Durability::Synced)?;
    read()
}

pub fn random() -> io::Result<[u8; SECRET_BYTES]> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink())
}

/// The path without links and dots, even if the directory does not exist yet.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(resolved) = path.canonicalize() {
        return resolved;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests;
