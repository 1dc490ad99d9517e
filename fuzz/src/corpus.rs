//! Stored inputs: `corpus/TARGET/` contains mostly well-formed inputs for a target, and under `found-*` those that once
//! broke it.
#![expect(clippy::disallowed_methods, reason = "the files lie beside this source")]

use std::path::{Path, PathBuf};

/// One file of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content: the whole input if it was found, otherwise what comes after the eight bytes that choose.
    pub bytes: Vec<u8>,
}

impl CorpusFile {
    /// Whether it once broke the target.
    pub fn was_found(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("found-"))
    }

    /// What comes after the eight bytes that choose.
    pub fn body(&self) -> &[u8] {
        if self.was_found() { crate::choice::body_of(&self.bytes) } else { &self.bytes }
    }
}

/// The files of a target, sorted by name.
pub fn corpus(target: &str) -> Vec<CorpusFile> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: PathBuf| Some(CorpusFile { bytes: std::fs::read(&path).ok()?, path });
    paths.into_iter().filter_map(read).collect()
}
