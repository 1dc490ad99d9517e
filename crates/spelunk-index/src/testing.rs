//! Views of in-memory texts and of files, for tests.
#![expect(clippy::disallowed_methods, reason = "tests make and break the files that an index reads")]

use std::path::Path;
use std::sync::Arc;

use spelunk_context::{Corpus, ScanOptions, SourceInput, View};

use crate::{RankOptions, Ranking, rank};

/// The texts, each under its name.
pub(crate) fn view<N: AsRef<str>, T: AsRef<str>>(texts: &[(N, T)]) -> View {
    let source = |(name, text): &(N, T)| SourceInput::Text {
        name: name.as_ref().to_owned(),
        bytes: text.as_ref().as_bytes().to_vec(),
    };
    let sources: Vec<_> = texts.iter().map(source).collect();
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

/// The files of a directory.
pub(crate) fn view_of(directory: &Path) -> View {
    let sources = [SourceInput::Path(directory.to_owned())];
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

/// Bytes that this thread has read so far, not counting mapped files.
#[cfg(target_os = "linux")]
pub(crate) fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
    read.parse().unwrap()
}

pub(crate) fn ranked(view: &View, question: &str) -> Ranking {
    rank(view, question, &RankOptions::new(10, 100_000), &mut |_| {}).unwrap()
}

pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// The files in and below a directory, by relative path, sorted.
pub(crate) fn names_below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(names_below(&entry.path()).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    for name in names_below(from) {
        let path = to.join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(from.join(&name), path).unwrap();
    }
}

pub(crate) fn truncate(path: &Path, bytes: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// Changes one byte, if there is one.
pub(crate) fn flip(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    if let Some(byte) = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at)) {
        *byte ^= 0x15;
        std::fs::write(path, bytes).unwrap();
    }
}
