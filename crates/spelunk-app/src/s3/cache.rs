//! Copies of objects on this machine. A copy is named after the object and what changes with its content, so that it never
//! goes stale. Nothing is removed while objects are downloaded, only before.

#![expect(clippy::disallowed_methods, reason = "the cache is a directory of its own")]

use std::fs::{self, File, FileTimes};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use spelunk_context::ObjectError;
use spelunk_fs::{Durability, PrivateDir};
use tempfile::NamedTempFile;

/// How the names of objects that arrive begin, and how long one may take.
const INCOMING: &str = ".arriving-";
const ARRIVAL_MAX: Duration = Duration::from_hours(24);

#[derive(Debug, Clone)]
pub(crate) struct Cache {
    pub(crate) dir: PathBuf,
    pub(crate) bytes_max: u64,
}

pub(super) struct Incoming {
    file: NamedTempFile,
    dir: PathBuf,
    pub(super) bytes: u64,
}

impl Cache {
    pub(super) fn name(of: [&str; 3], bytes: u64) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in of {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.update(&bytes.to_le_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// A copy, if it is there and has this length.
    pub(super) fn find(&self, name: &str, bytes: u64) -> Option<PathBuf> {
        let path = self.dir.join(name);
        let is_whole = |about: &fs::Metadata| about.is_file() && about.len() == bytes;
        fs::symlink_metadata(&path).ok().filter(is_whole)?;
        used(&File::options().append(true).open(&path).ok()?, name).ok()?;
        Some(path)
    }

    pub(super) fn incoming(&self) -> io::Result<Incoming> {
        if let (Some(above), Some(name)) = (self.dir.parent(), self.dir.file_name()) {
            PrivateDir::new(above).make_dir(&name.to_string_lossy(), Durability::Unsynced)?;
        }
        let file = tempfile::Builder::new().prefix(INCOMING).tempfile_in(&self.dir)?;
        Ok(Incoming { file, dir: self.dir.clone(), bytes: 0 })
    }

    /// Removes the copies that were not used for the longest time, down to what the cache may contain.
    pub(super) fn make_room(&self) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Ok(()) };
        let mut copies = Vec::new();
        for entry in entries.flatten() {
            // Another process may have removed it.
            let Ok(about) = entry.metadata() else { continue };
            let age = about.modified()?.elapsed().unwrap_or_default();
            if entry.file_name().as_encoded_bytes().starts_with(INCOMING.as_bytes()) && age < ARRIVAL_MAX {
                continue;
            }
            copies.push((about.accessed()?, entry.path(), about.len()));
        }
        copies.sort();
        let mut total: u64 = copies.iter().map(|(_, _, bytes)| bytes).sum();
        for (_, path, bytes) in copies {
            if total <= self.bytes_max {
                break;
            }
            drop(fs::remove_file(path));
            total -= bytes;
        }
        Ok(())
    }

    pub(super) fn unwritable(&self, problem: &io::Error) -> ObjectError {
        let why = format!("could not write to `{}`: {problem}", self.dir.display());
        ObjectError { why, hint: "free some space there, or set `XDG_STATE_HOME` to another directory" }
    }
}

impl Incoming {
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    pub(super) fn keep(self, name: &str) -> io::Result<PathBuf> {
        used(self.file.as_file(), name)?;
        // A copy that a power cut left without its text would pass for the object.
        self.file.as_file().sync_data()?;
        let path = self.dir.join(name);
        self.file.persist(&path)?;
        Ok(path)
    }
}

/// The time of access says when a copy was last used. That of modification is part of the digest of a large document, so
/// it must be the same on every machine and change with the content: it is made of the name.
fn used(file: &File, name: &str) -> io::Result<()> {
    let number = name.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0);
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(number / 2));
    file.set_times(FileTimes::new().set_accessed(SystemTime::now()).set_modified(modified))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_copies_that_were_not_used_for_the_longest_time_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let cache = |bytes_max| Cache { dir: dir.path().to_owned(), bytes_max };
        for (name, age_s) in [("old", 100), ("new", 1)] {
            let mut incoming = cache(0).incoming().unwrap();
            incoming.write(&[0; 1000]).unwrap();
            let file = File::options().append(true).open(incoming.keep(name).unwrap()).unwrap();
            let at = SystemTime::now() - Duration::from_secs(age_s);
            file.set_times(FileTimes::new().set_accessed(at)).unwrap();
        }
        cache(2000).make_room().unwrap();
        assert!(cache(0).dir.join("old").exists());
        cache(1999).make_room().unwrap();
        assert_eq!(cache(0).find("old", 1000), None);
        assert!(cache(0).find("new", 1000).is_some());
        assert_eq!(cache(0).find("new", 1001), None);
    }

    #[test]
    fn what_arrives_makes_no_room_and_the_time_of_a_copy_follows_from_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache { dir: dir.path().join("objects"), bytes_max: 0 };
        let mut incoming = cache.incoming().unwrap();
        incoming.write(b"text").unwrap();
        cache.make_room().unwrap();
        let (one, other) = ("00000010aa", "00000020aa");
        let kept = incoming.keep(one).unwrap();
        let modified = |at: &PathBuf| at.metadata().unwrap().modified().unwrap();
        assert_eq!(modified(&kept), SystemTime::UNIX_EPOCH + Duration::from_secs(8));
        let mut incoming = cache.incoming().unwrap();
        incoming.write(b"text").unwrap();
        assert_eq!(
            modified(&incoming.keep(other).unwrap()),
            SystemTime::UNIX_EPOCH + Duration::from_secs(16)
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_copy_and_the_directory_is_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let cache = Cache { dir: dir.path().join("objects"), bytes_max: 0 };
        drop(cache.incoming().unwrap());
        assert_eq!(cache.dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let own = dir.path().join("own");
        let before = File::create(&own).unwrap().metadata().unwrap().modified().unwrap();
        std::os::unix::fs::symlink(&own, cache.dir.join("name")).unwrap();
        assert_eq!(cache.find("name", 0), None);
        assert_eq!(own.metadata().unwrap().modified().unwrap(), before);
    }

    #[test]
    fn another_object_or_another_content_has_another_name() {
        let names = [
            Cache::name(["http://a/b", "k", "1"], 1),
            Cache::name(["http://a/b", "k", "2"], 1),
            Cache::name(["http://a/b", "k1", ""], 1),
            Cache::name(["http://a/b", "k", "1"], 2),
        ];
        for (idx, name) in names.iter().enumerate() {
            assert_eq!(names.iter().position(|other| other == name), Some(idx));
        }
    }
}
