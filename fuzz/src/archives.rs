//! Archives: names never escape the directory, nothing expands excessively, and the same archive gives the same
//! documents.

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use spelunk_context::{Corpus, ScanOptions, SourceInput};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::choice::{body_of, number_of};

/// An entry that unpacks to less is not a bomb.
const UNPACKED_BYTES_MIN: u64 = 1 << 20;
/// The maximum unpacked bytes per packed byte.
const RATIO_MAX: u64 = 200;
/// How much is unpacked at a time.
const PIECE_BYTES: u64 = 64 << 10;

static DIR: LazyLock<TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("there is a place for temporary files"));

/// Unpacks the bytes as they are under every name, and archives of files that they describe: a line is an entry's name,
/// `|`, and its text.
pub(crate) fn archive(data: &[u8]) {
    let body = body_of(data);
    match number_of(data) % 8 {
        0 => check("a.zip", body),
        1 => check("a.tar", body),
        2 => check("a.tar.gz", body),
        3 => check("a.gz", body),
        4 => check("b.zip", &zipped(body)),
        5 => check("b.tar", &tarred(body)),
        6 => check("b.tgz", &gzipped(&tarred(body))),
        _ => check("b.txt.gz", &gzipped(body)),
    }
}

fn entries(body: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    body.split(|byte| *byte == b'\n').map(|line| {
        let at = line.iter().position(|byte| *byte == b'|').unwrap_or(line.len());
        (String::from_utf8_lossy(&line[..at]).into_owned(), line.get(at + 1..).unwrap_or_default())
    })
}

fn zipped(body: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries(body) {
        if zip.start_file(name, SimpleFileOptions::default()).is_ok() {
            zip.write_all(text).expect("memory can be written to");
        }
    }
    zip.finish().expect("memory can be written to").into_inner()
}

fn tarred(body: &[u8]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, text) in entries(body) {
        let mut header = tar::Header::new_ustar();
        // Bypasses the library's own check, which refuses what we want to see refused.
        let name: Vec<u8> = name.into_bytes().into_iter().take(100).collect();
        header.as_mut_bytes()[..name.len()].copy_from_slice(&name);
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, text).expect("memory can be written to");
    }
    tar.into_inner().expect("memory can be written to")
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).expect("memory can be written to");
    gzip.finish().expect("memory can be written to")
}

#[expect(clippy::disallowed_methods, reason = "an archive is a file, and this one is nobody's")]
fn check(name: &str, bytes: &[u8]) {
    // Tests of one process share the directory.
    let dir = DIR.path().join(format!("{:?}", std::thread::current().id()));
    std::fs::create_dir_all(&dir).expect("it can be written to");
    let path = dir.join(name);
    std::fs::write(&path, bytes).expect("it can be written to");
    let Some(corpus) = scan(&path) else {
        assert!(scan(&path).is_none(), "refused alike again");
        return;
    };
    let limit = (UNPACKED_BYTES_MIN + PIECE_BYTES).max((bytes.len() as u64 + 1) * RATIO_MAX);
    let mut names = BTreeSet::new();
    for document in corpus.documents() {
        let inner = document.name.strip_prefix(name);
        assert!(
            inner.is_some() || Path::new(name).extension() == Some("gz".as_ref()),
            "`{}` is not in `{name}`",
            document.name
        );
        let is_inside = !document.name.split(['/', '\\']).any(|part| part == ".." || part == ".");
        let is_plain = !document.name.starts_with('/') && !document.name.chars().any(char::is_control);
        assert!(is_inside && is_plain, "`{}` leads elsewhere", document.name.escape_debug());
        assert!(names.insert(&document.name), "`{}` is there twice", document.name);
        assert!(document.bytes <= limit, "`{}` has {} bytes", document.name, document.bytes);
    }
    let again = scan(&path).expect("read alike again");
    assert_eq!(corpus.digest(), again.digest(), "the same archive gives the same documents");
}

fn scan(path: &Path) -> Option<Corpus> {
    Corpus::scan(&[SourceInput::Path(path.to_owned())], &ScanOptions::default(), &mut |_| {}).ok()
}
