//! File trees for tests, and shortcuts from one to a corpus.
#![expect(clippy::disallowed_methods, reason = "tests make the files that sources read")]

use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use crate::{Corpus, Pins, ScanOptions, SourceError, SourceInput, View};

/// A temporary directory with these files.
pub(crate) fn tree(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        put(directory.path(), name, text.as_bytes());
    }
    directory
}

pub(crate) fn put(directory: &Path, name: impl AsRef<Path>, bytes: &[u8]) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(crate) fn append(directory: &Path, name: &str, bytes: &[u8]) {
    let mut file = fs::File::options().append(true).open(directory.join(name)).unwrap();
    file.write_all(bytes).unwrap();
}

pub(crate) fn remove(directory: &Path, name: &str) {
    fs::remove_file(directory.join(name)).unwrap();
}

pub(crate) fn move_into(from: &Path, to: &Path) {
    fs::rename(from, to).unwrap();
}

pub(crate) fn scan(paths: &[&Path]) -> Result<Corpus, SourceError> {
    let sources: Vec<_> = paths.iter().map(|path| SourceInput::Path(path.to_path_buf())).collect();
    Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {})
}

pub(crate) fn scan_on(threads: usize, path: &Path) -> Corpus {
    let sources = [SourceInput::Path(path.to_owned())];
    let threads = NonZeroUsize::new(threads).unwrap();
    Corpus::scan_with(threads, &sources, &ScanOptions::default(), (&Pins::new(), None), &mut |_| {}).unwrap()
}

/// A view of texts that are not on disk.
pub(crate) fn view(texts: &[(&str, &str)]) -> View {
    let source = |&(name, text): &(&str, &str)| SourceInput::Text { name: name.into(), bytes: text.into() };
    let sources: Vec<_> = texts.iter().map(source).collect();
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

/// The names of a corpus, one per line.
pub(crate) fn names(corpus: &Corpus) -> String {
    corpus.documents().iter().flat_map(|document| [document.name.as_str(), "\n"]).collect()
}

/// `reason: examples` for everything the first source left out, one per line.
pub(crate) fn skipped(corpus: &Corpus) -> String {
    let report = &corpus.reports()[0];
    let line = |(reason, count): (&String, &u64)| {
        format!("{count} {reason}: {}\n", report.skipped_examples[reason].join(" "))
    };
    report.skipped.iter().map(line).collect()
}

/// The error as a user sees it: message, cause, hint.
pub(crate) fn explain(error: &SourceError) -> String {
    use spelunk_types::Explain as _;
    use std::error::Error as _;
    let cause = error.source().map(|cause| format!("\n  caused by: {cause}")).unwrap_or_default();
    format!("{}: {error}{cause}\nhint: {}", error.code(), error.hint().unwrap_or_default())
}

pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}
