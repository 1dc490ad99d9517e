//! Reading a desk: its entries and their text. Files and mounted documents are read alike.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memchr_iter;
use spelunk_context::{DocEntry, GrepQuery, ReadError, ViewGrepReport};

use super::Desk;
use crate::mounts::Mounts;
use crate::{DeskError, DeskPath, Entry, Lines, Zone};

impl Desk {
    /// The entry at a path, if there is one.
    pub fn entry(&self, path: &DeskPath) -> Option<Entry> {
        if let Some(body) = self.files.get(path) {
            return Some(Entry::File { bytes: body.len() });
        }
        if Zone::is_fixed(path) || self.directories.contains(path) {
            return Some(Entry::Directory);
        }
        self.mounts.as_ref()?.entry(path)
    }

    /// Like [`Self::entry`], but a missing path is an error that suggests a similar one.
    pub fn require(&self, path: &DeskPath) -> Result<Entry, DeskError> {
        self.entry(path)
            .ok_or_else(|| DeskError::NotFound { path: path.clone(), nearest: self.nearest(path) })
    }

    /// The entries of a directory, sorted by name.
    pub fn list(&self, directory: &DeskPath) -> Result<Vec<(String, Entry)>, DeskError> {
        if self.require(directory)? != Entry::Directory {
            return Err(DeskError::NotDirectory { path: directory.clone() });
        }
        let fixed = Zone::ALL.iter().filter(|zone| zone.is_directory).map(|zone| DeskPath::of(zone.path));
        let directories = fixed.chain(self.directories.iter().cloned()).map(|path| (path, Entry::Directory));
        let file =
            |(path, bytes): (&DeskPath, &[u8])| (path.clone(), Entry::File { bytes: bytes.len() as u64 });
        let own = self.files_within(directory).map(file).chain(directories);
        let own = own.filter(|(path, _)| path.parent().as_ref() == Some(directory));
        let mut found: BTreeMap<String, Entry> =
            own.map(|(path, entry)| (path.name().to_owned(), entry)).collect();
        if let Some(mounts) = &self.mounts {
            found.extend(mounts.list(directory));
        }
        Ok(found.into_iter().collect())
    }

    /// The bytes of a file, or of a document that is not too large to read whole.
    pub fn read(&self, path: &DeskPath) -> Result<Cow<'_, [u8]>, DeskError> {
        if let Some(body) = self.files.get(path) {
            return Ok(Cow::Borrowed(&body.bytes));
        }
        let (mounts, document) = self.document(path)?;
        let (bytes, bytes_max) = (document.bytes, self.limits.document_bytes_max);
        if bytes > bytes_max {
            return Err(DeskError::TooLarge { path: path.clone(), bytes, bytes_max });
        }
        Ok(Cow::Owned(mounts.read_all(document, bytes_max)?.into_bytes()))
    }

    /// Like [`Self::read`], as text. Bytes that are not UTF-8 are refused: an edit would damage them.
    pub fn text(&self, path: &DeskPath) -> Result<Cow<'_, str>, DeskError> {
        let not_text = |bytes: usize| DeskError::NotText { path: path.clone(), bytes: bytes as u64 };
        match self.read(path)? {
            Cow::Borrowed(bytes) => {
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| not_text(bytes.len()))
            }
            Cow::Owned(bytes) => {
                let n_bytes = bytes.len();
                String::from_utf8(bytes).map(Cow::Owned).map_err(|_| not_text(n_bytes))
            }
        }
    }

    /// At most `n_max` lines, starting at line `first`, counted from 1.
    pub fn lines(&self, path: &DeskPath, first: u64, n_max: u64) -> Result<Lines, DeskError> {
        let Some(body) = self.files.get(path) else {
            let (mounts, document) = self.document(path)?;
            return Ok(mounts.read_lines(document, first, n_max)?);
        };
        Ok(lines_of(&body.bytes, first, n_max))
    }

    /// The text between two offsets, narrowed to whole characters and to the end of the text.
    pub fn slice(&self, path: &DeskPath, range: Range<u64>) -> Result<String, DeskError> {
        let Some(body) = self.files.get(path) else {
            let (mounts, document) = self.document(path)?;
            return Ok(mounts.read_bytes(document, range)?);
        };
        let at = |offset: u64| usize::try_from(offset.min(body.len())).unwrap_or(usize::MAX);
        let bytes = body.bytes.get(at(range.start)..at(range.end)).unwrap_or_default();
        Ok(String::from_utf8_lossy(whole_chars(bytes)).into_owned())
    }

    pub(crate) fn files_within(&self, path: &DeskPath) -> impl Iterator<Item = (&DeskPath, &[u8])> {
        path.range_in(&self.files).map(|(path, body)| (path, body.bytes.as_slice()))
    }

    /// The mounted documents at or below a path, with their names in the mounted view.
    pub(crate) fn documents_within(&self, path: &DeskPath) -> impl Iterator<Item = (&DeskPath, &str)> {
        self.mounts.iter().flat_map(move |mounts| mounts.within(path))
    }

    pub(crate) fn grep_documents<'n>(
        &self,
        query: &GrepQuery,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<ViewGrepReport, ReadError> {
        match &self.mounts {
            Some(mounts) => mounts.grep(query, names),
            None => Ok(ViewGrepReport::default()),
        }
    }

    fn document(&self, path: &DeskPath) -> Result<(&Mounts, &DocEntry), DeskError> {
        if let Some(mounts) = self.mounts.as_deref()
            && let Some(document) = mounts.document(path)
        {
            return Ok((mounts, document));
        }
        let path = path.clone();
        Err(match self.require(&path)? {
            Entry::Directory => DeskError::IsDirectory { path },
            Entry::File { .. } | Entry::Document { .. } => DeskError::NotFound { path, nearest: None },
        })
    }

    /// The path that was probably meant: the same name elsewhere, or in different case.
    fn nearest(&self, path: &DeskPath) -> Option<DeskPath> {
        const LOOKED_AT_MAX: usize = 10_000;
        let wanted = path.name().to_lowercase();
        let stem = wanted.split('.').next().unwrap_or_default();
        let documents = self.mounts.iter().flat_map(|mounts| mounts.paths());
        let all = self.files.keys().chain(documents).take(LOOKED_AT_MAX);
        let score = |candidate: &DeskPath| {
            let name = candidate.name().to_lowercase();
            match name {
                name if name == wanted => 2,
                name if !stem.is_empty() && name.split('.').next() == Some(stem) => 1,
                _ => 0,
            }
        };
        let best = all.map(|candidate| (score(candidate), candidate)).filter(|(score, _)| *score > 0);
        best.min_by_key(|(score, candidate)| (std::cmp::Reverse(*score), *candidate))
            .map(|(_, path)| path.clone())
    }
}

fn whole_chars(bytes: &[u8]) -> &[u8] {
    /// The most continuation bytes of a UTF-8 character.
    const BEHIND_MAX: usize = 3;
    let is_behind = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let n_before = bytes.iter().take(BEHIND_MAX).take_while(is_behind).count();
    let bytes = bytes.get(n_before..).unwrap_or_default();
    let n_last = bytes.iter().rev().take(BEHIND_MAX).take_while(is_behind).count() + 1;
    let at = bytes.len().saturating_sub(n_last);
    let wanted = match bytes.get(at) {
        Some(0b1100_0000..=0b1101_1111) => 2,
        Some(0b1110_0000..=0b1110_1111) => 3,
        Some(0b1111_0000..=0b1111_0111) => 4,
        Some(_) | None => n_last,
    };
    if wanted > n_last { bytes.get(..at).unwrap_or_default() } else { bytes }
}

fn lines_of(bytes: &[u8], first: u64, n_max: u64) -> Lines {
    let n_ends = memchr_iter(b'\n', bytes).count() as u64;
    let has_open_end = bytes.last().is_some_and(|&byte| byte != b'\n');
    let n_lines = n_ends + u64::from(has_open_end);
    let skip = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let take = usize::try_from(n_max).unwrap_or(usize::MAX);
    let lines = bytes.split(|&byte| byte == b'\n').take(usize::try_from(n_lines).unwrap_or(usize::MAX));
    let text = |line: &[u8]| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
    Lines { lines: lines.skip(skip).take(take).map(text).collect(), n_lines }
}
