//! An in-memory disk that can fail: its n-th write fails, and so does every later operation. What survives is
//! either everything written, with the last write torn in half, or only what was synced.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use spelunk_journal::Disk;

/// What survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Everything written, including half of the failed write.
    Torn,
    /// Only what was synced.
    LostTail,
}

/// An in-memory disk.
#[derive(Debug, Default)]
#[must_use]
pub struct FaultDisk {
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone)]
struct State {
    files: BTreeMap<String, File>,
    n_writes: u64,
    dies_at: Option<u64>,
    error: Option<io::ErrorKind>,
}

#[derive(Debug, Default, Clone)]
struct File {
    written: Vec<u8>,
    synced: Vec<u8>,
    /// Whether its name is durable.
    is_named: bool,
}

impl FaultDisk {
    /// A disk that never fails.
    pub fn sound() -> Self {
        Self::default()
    }

    /// A disk that fails at its n-th write, counted from 1.
    pub fn dying_at(self, n: u64) -> Self {
        self.with(|state| state.dies_at = Some(state.n_writes + n));
        self
    }

    /// A disk that is full from its n-th write on.
    pub fn full_at(self, n: u64) -> Self {
        let disk = self.dying_at(n);
        disk.with(|state| state.error = Some(io::ErrorKind::StorageFull));
        disk
    }

    /// Writes so far: creates, appends, syncs and truncations.
    pub fn n_writes(&self) -> u64 {
        self.with(|state| state.n_writes)
    }

    /// Whether it has failed.
    pub fn is_dead(&self) -> bool {
        self.with(|state| state.dies_at.is_some_and(|at| state.n_writes >= at))
    }

    /// The working disk that a new process finds after the crash.
    pub fn after(&self, crash: Crash) -> Self {
        let mut files = self.with(|state| state.files.clone());
        for file in files.values_mut() {
            match crash {
                Crash::Torn => {}
                Crash::LostTail if file.is_named => file.written.clone_from(&file.synced),
                Crash::LostTail => file.written.clear(),
            }
            file.synced.clone_from(&file.written);
            file.is_named = true;
        }
        // A file without synced content never existed.
        files.retain(|_, file| !file.written.is_empty());
        Self { state: Mutex::new(State { files, ..State::default() }) }
    }

    /// Every file with its bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.with(|state| {
            state.files.iter().map(|(name, file)| (name.clone(), file.written.clone())).collect()
        })
    }

    /// Stores bytes under a name, as if they had been synced long ago.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let file = File { written: bytes.to_vec(), synced: bytes.to_vec(), is_named: true };
        self.with(|state| state.files.insert(name.to_owned(), file));
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Performs a write, or half of it if the disk fails.
    fn write(
        &self,
        name: &str,
        whole: impl FnOnce(&mut File),
        half: impl FnOnce(&mut File),
    ) -> io::Result<()> {
        self.with(|state| {
            state.n_writes += 1;
            match state.dies_at {
                Some(at) if state.n_writes > at => Err(dead(state.error)),
                Some(at) if state.n_writes == at => {
                    half(state.files.entry(name.to_owned()).or_default());
                    Err(dead(state.error))
                }
                Some(_) | None => {
                    whole(state.files.entry(name.to_owned()).or_default());
                    Ok(())
                }
            }
        })
    }
}

fn dead(kind: Option<io::ErrorKind>) -> io::Error {
    kind.map_or_else(|| io::Error::other("the disk died"), io::Error::from)
}

impl Disk for FaultDisk {
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (written, synced) = (bytes.to_vec(), bytes.to_vec());
        let whole = |file: &mut File| *file = File { written, synced, is_named: true };
        self.write(name, whole, |_| {})
    }

    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(name, |file| file.written = bytes.to_vec(), |_| {})
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        self.write(
            name,
            |file| file.written.extend_from_slice(bytes),
            |file| file.written.extend_from_slice(half),
        )
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.write(name, |file| file.synced.clone_from(&file.written), |_| {})
    }

    fn sync_name(&self, name: &str) -> io::Result<()> {
        self.write(name, |file| file.is_named = true, |_| {})
    }

    fn truncate(&self, name: &str, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let cut = |file: &mut File| {
            file.written.truncate(len);
            file.synced.clone_from(&file.written);
        };
        self.write(name, cut, |_| {})
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.with(|state| match state.dies_at {
            Some(at) if state.n_writes >= at => Err(dead(state.error)),
            Some(_) | None => Ok(state.files.get(name).map(|file| file.written.clone())),
        })
    }

    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let part = |bytes: Vec<u8>| bytes.into_iter().skip(from).take(bytes_max).collect();
        Ok(self.read(name)?.map(part))
    }
}
