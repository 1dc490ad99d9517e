//! Changing a desk. Rights and limits are checked first, so a refused change changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Desk, FileContent};
use crate::{DeskError, DeskPath, Entry, Zone};

impl Desk {
    /// Writes a file at any path, for the engine; creates parent directories.
    pub fn put(&mut self, path: &DeskPath, bytes: impl Into<Vec<u8>>) -> Result<(), DeskError> {
        let bytes = bytes.into();
        let (was, new) = self.admit(path, |_| bytes.len() as u64)?;
        self.bytes = self.bytes - was + bytes.len() as u64;
        Arc::make_mut(&mut self.files)
            .insert(path.clone(), Arc::new(FileContent { bytes, ..FileContent::default() }));
        Arc::make_mut(&mut self.directories).extend(new);
        Ok(())
    }

    /// Appends to a file at any path, for the engine.
    pub fn put_more(&mut self, path: &DeskPath, more: &[u8]) -> Result<(), DeskError> {
        let (_, new) = self.admit(path, |held| held.saturating_add(more.len() as u64))?;
        self.bytes += more.len() as u64;
        let files: &mut BTreeMap<DeskPath, Arc<FileContent>> = Arc::make_mut(&mut self.files);
        Arc::make_mut(files.entry(path.clone()).or_default()).append(more);
        Arc::make_mut(&mut self.directories).extend(new);
        Ok(())
    }

    /// Removes a file, for the engine; returns false if it does not exist.
    pub fn discard(&mut self, path: &DeskPath) -> bool {
        let Some(gone) = Arc::make_mut(&mut self.files).remove(path) else { return false };
        self.bytes -= gone.len();
        true
    }

    /// Writes a file, for the model; creates parent directories.
    pub fn write(&mut self, path: &DeskPath, bytes: impl Into<Vec<u8>>) -> Result<(), DeskError> {
        Zone::require_write(path)?;
        self.put(path, bytes)
    }

    /// Appends to a file or creates it, for the model.
    pub fn append(&mut self, path: &DeskPath, bytes: &[u8]) -> Result<(), DeskError> {
        Zone::require_write(path)?;
        self.put_more(path, bytes)
    }

    /// Creates a directory and its parents, for the model. Succeeds if it already exists.
    pub fn make_directory(&mut self, path: &DeskPath) -> Result<(), DeskError> {
        match self.entry(path) {
            Some(Entry::Directory) => return Ok(()),
            Some(_) => return Err(DeskError::Exists { path: path.clone() }),
            None => Zone::require_write(path)?,
        }
        let new = self.directories_to_make(Some(path.clone()))?;
        self.require_room_for(new.len() as u64)?;
        Arc::make_mut(&mut self.directories).extend(new);
        Ok(())
    }

    /// Removes a file or an empty directory, for the model.
    pub fn remove(&mut self, path: &DeskPath) -> Result<(), DeskError> {
        Zone::require_write(path)?;
        if self.require(path)? == Entry::Directory && !self.list(path)?.is_empty() {
            return Err(DeskError::NotEmpty { path: path.clone() });
        }
        self.remove_all(path)
    }

    /// Removes a file, or a directory and its contents, for the model.
    pub fn remove_all(&mut self, path: &DeskPath) -> Result<(), DeskError> {
        Zone::require_write(path)?;
        self.require(path)?;
        if Zone::is_fixed(path) {
            return Err(DeskError::ReadOnly { path: path.clone() });
        }
        let gone: Vec<DeskPath> = self.files_within(path).map(|(path, _)| path.clone()).collect();
        for path in gone {
            self.discard(&path);
        }
        Arc::make_mut(&mut self.directories).retain(|directory| !directory.is_within(path));
        Ok(())
    }

    /// Moves a file or a directory, for the model. Replaces a file at the target; a directory there must be empty.
    pub fn rename(&mut self, from: &DeskPath, to: &DeskPath) -> Result<(), DeskError> {
        Zone::require_write(from)?;
        Zone::require_write(to)?;
        let kind = self.require(from)?;
        if from == to {
            return Ok(());
        }
        if Zone::is_fixed(from) || Zone::is_fixed(to) || to.is_within(from) {
            let path = if Zone::is_fixed(from) { from } else { to };
            return Err(DeskError::ReadOnly { path: path.clone() });
        }
        match (kind, self.entry(to)) {
            (_, None) | (Entry::File { .. }, Some(Entry::File { .. })) => {}
            (Entry::Directory, Some(Entry::Directory)) if self.list(to)?.is_empty() => {}
            (Entry::Directory, Some(Entry::Directory)) => {
                return Err(DeskError::NotEmpty { path: to.clone() });
            }
            (Entry::Directory, Some(_)) => return Err(DeskError::NotDirectory { path: to.clone() }),
            (_, Some(_)) => return Err(DeskError::IsDirectory { path: to.clone() }),
        }
        let above = self.directories_to_make(to.parent())?;
        let moved = |path: &DeskPath| match path.as_str().strip_prefix(from.as_str()) {
            Some("") => Ok(to.clone()),
            Some(rest) if path.is_within(from) => to.join(rest.trim_start_matches('/')),
            Some(_) | None => Ok(path.clone()),
        };
        // New paths may be too long; all of them are checked before anything moves.
        let files: Vec<DeskPath> = self.files.keys().filter(|path| path.is_within(from)).cloned().collect();
        let new_names = files.iter().map(moved).collect::<Result<Vec<_>, _>>()?;
        let mut directories: BTreeSet<DeskPath> =
            self.directories.iter().map(moved).collect::<Result<_, _>>()?;
        self.discard(to);
        let all = Arc::make_mut(&mut self.files);
        for (old, new) in files.iter().zip(new_names) {
            if let Some(body) = all.remove(old) {
                all.insert(new, body);
            }
        }
        directories.extend(above);
        self.directories = Arc::new(directories);
        Ok(())
    }

    /// Refuses a file that does not fit; `grown` is its size, given the current one. Returns the current size and the
    /// directories to create.
    fn admit(
        &self,
        path: &DeskPath,
        grown: impl FnOnce(u64) -> u64,
    ) -> Result<(u64, Vec<DeskPath>), DeskError> {
        // Nobody writes below the mount, not even the engine.
        if self.mounts.is_some() && path.is_within(&DeskPath::of(Zone::CONTEXTS)) {
            return Err(DeskError::ReadOnly { path: path.clone() });
        }
        let was = match self.entry(path) {
            Some(Entry::Directory) => return Err(DeskError::IsDirectory { path: path.clone() }),
            Some(Entry::Document { .. }) => return Err(DeskError::ReadOnly { path: path.clone() }),
            Some(Entry::File { bytes }) => Some(bytes),
            None => None,
        };
        let held = was.unwrap_or(0);
        let file_bytes = grown(held);
        let bytes_max = self.limits.file_bytes_max;
        if file_bytes > bytes_max {
            return Err(DeskError::FileTooLarge { path: path.clone(), bytes: file_bytes, bytes_max });
        }
        let (bytes, bytes_max) = ((self.bytes - held).saturating_add(file_bytes), self.limits.bytes_max);
        if bytes > bytes_max {
            return Err(DeskError::Full { bytes, bytes_max });
        }
        if was.is_some() {
            return Ok((held, Vec::new()));
        }
        let new = self.directories_to_make(path.parent())?;
        self.require_room_for(new.len() as u64 + 1)?;
        Ok((held, new))
    }

    fn require_room_for(&self, n_more: u64) -> Result<(), DeskError> {
        let n_held = (self.files.len() + self.directories.len()) as u64;
        let files_max = self.limits.files_max;
        let has_room = n_held.saturating_add(n_more) <= files_max;
        has_room.then_some(()).ok_or(DeskError::TooManyFiles { files_max })
    }

    /// The directories from here up that do not exist yet.
    fn directories_to_make(&self, from: Option<DeskPath>) -> Result<Vec<DeskPath>, DeskError> {
        let mut new = Vec::new();
        let mut next = from;
        while let Some(path) = next {
            match self.entry(&path) {
                Some(Entry::Directory) => break,
                Some(_) => return Err(DeskError::NotDirectory { path }),
                None => {}
            }
            next = path.parent();
            new.push(path);
        }
        Ok(new)
    }
}
