//! An in-memory disk that a test can make slow or full, and restore, during a run.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use spelunk_journal::Disk;
use spelunk_testkit::FaultDisk;

#[derive(Default)]
pub(crate) struct MoodyDisk {
    disk: FaultDisk,
    is_held: Mutex<bool>,
    released: Condvar,
    is_full: AtomicBool,
}

impl MoodyDisk {
    /// Appends wait while the disk is held.
    pub(crate) fn hold(&self, is_held: bool) {
        *self.is_held.lock().unwrap() = is_held;
        self.released.notify_all();
    }

    /// Nothing can be written while the disk is full.
    pub(crate) fn fill(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    fn room(&self) -> io::Result<&FaultDisk> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(&self.disk)
    }
}

impl Disk for MoodyDisk {
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.room()?.create(name, bytes)
    }

    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.room()?.create_unsynced(name, bytes)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        drop(self.released.wait_while(self.is_held.lock().unwrap(), |is_held| *is_held).unwrap());
        self.room()?.append(name, bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.room()?.sync(name)
    }

    fn sync_name(&self, name: &str) -> io::Result<()> {
        self.room()?.sync_name(name)
    }

    fn truncate(&self, name: &str, len: u64) -> io::Result<()> {
        self.room()?.truncate(name, len)
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.disk.read(name)
    }
    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        self.disk.read_at(name, from, bytes_max)
    }
}
