use std::io::{Cursor, Write as _};

use ::tar::{Builder, EntryType, Header};
use ::zip::ZipWriter;
use ::zip::write::SimpleFileOptions;
use expect_test::expect;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::testing::{explain, names, put, scan, skipped, tree};
use crate::{Corpus, ScanOptions, SourceInput, View};

pub(crate) fn zipped(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The same zip, but its directory claims that its first entry takes gigabytes.
pub(crate) fn claiming_to_be_large(mut zip: Vec<u8>) -> Vec<u8> {
    let directory = memchr::memmem::find(&zip, b"PK\x01\x02").unwrap();
    zip[directory + 20..directory + 24].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    zip
}

pub(crate) fn tarred(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, text) in entries {
        append(&mut builder, EntryType::Regular, name, text);
    }
    builder.into_inner().unwrap()
}

/// Writes the name unchecked: the library's own writer would refuse bad ones.
fn append(builder: &mut Builder<Vec<u8>>, kind: EntryType, name: &str, text: &str) {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, text.as_bytes()).unwrap();
}

pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn scan_archive(name: &str, bytes: &[u8]) -> Result<Corpus, SourceError> {
    let root = tree(&[]);
    put(root.path(), name, bytes);
    scan(&[&root.path().join(name)])
}

/// Names, then what was skipped.
#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &expect_test::Expect) {
    let corpus = scan_archive(name, bytes).unwrap();
    expected.assert_eq(&format!("{}{}", names(&corpus), skipped(&corpus)));
}

#[track_caller]
fn check_error(name: &str, bytes: &[u8], expected: &expect_test::Expect) {
    expected.assert_eq(&explain(&scan_archive(name, bytes).unwrap_err()));
}

const ENTRIES: [(&str, &str); 3] =
    [("a.txt", "first\n"), ("deep/b.md", "second\n"), ("deep/er/c.rs", "third\n")];

#[test]
fn every_format_gives_the_same_documents() {
    let expected = |name: &str| format!("{name}/a.txt\n{name}/deep/b.md\n{name}/deep/er/c.rs\n");
    for (name, bytes) in [
        ("x.zip", zipped(&ENTRIES)),
        ("x.tar", tarred(&ENTRIES)),
        ("x.tar.gz", gzipped(&tarred(&ENTRIES))),
        ("x.TGZ", gzipped(&tarred(&ENTRIES))),
    ] {
        let corpus = scan_archive(name, &bytes).unwrap();
        assert_eq!(names(&corpus), expected(name));
        assert_eq!(corpus.reports()[0].skipped.len(), 0);
    }
}

#[test]
fn a_gz_is_one_document_called_as_the_archive_without_its_end() {
    let corpus = scan_archive("server.log.gz", &gzipped(b"line\r\n")).unwrap();
    assert_eq!(names(&corpus), "server.log.gz/server.log\n");
    let two_members = [gzipped(b"one\n"), gzipped(b"two\n")].concat();
    let view = View::of(scan_archive("a.gz", &two_members).unwrap().into());
    assert_eq!(view.read_owned(view.find("a.gz/a").unwrap()).unwrap(), "one\ntwo\n");
}

#[test]
fn the_text_lives_as_long_as_the_corpus() {
    let view = View::of(scan_archive("x.zip", &zipped(&ENTRIES)).unwrap().into());
    let document = view.find("x.zip/deep/b.md").unwrap();
    assert_eq!(view.read_owned(document).unwrap(), "second\n");
    let crate::Origin::File(path) = document.origin.clone() else { panic!("it is a file") };
    drop(view);
    assert!(!path.exists());
}

#[test]
fn the_same_archive_has_the_same_digest_every_time() {
    let digest = |bytes: &[u8]| scan_archive("x.zip", bytes).unwrap().digest().clone();
    assert_eq!(digest(&zipped(&ENTRIES)), digest(&zipped(&ENTRIES)));
    let reversed = [ENTRIES[2], ENTRIES[0], ENTRIES[1]];
    assert_eq!(digest(&zipped(&ENTRIES)), digest(&zipped(&reversed)));
    assert_ne!(digest(&zipped(&ENTRIES)), digest(&zipped(&ENTRIES[1..])));
}

#[test]
fn entries_are_judged_like_files() {
    let entries = [
        ("a.md", "x"),
        (".env", "x"),
        (".ssh/config", "x"),
        ("node_modules/m/i.js", "x"),
        (".hidden", "x"),
        ("Cargo.lock", "x"),
        ("empty.txt", ""),
        ("b.bin", "\0\0\0"),
        ("paper.pdf", "%PDF-1.4"),
    ];
    check(
        "x.zip",
        &zipped(&entries),
        &expect![[r"
            x.zip/a.md
            1 binary: x.zip/b.bin
            1 empty: x.zip/empty.txt
            3 excluded: x.zip/node_modules/m/i.js x.zip/Cargo.lock x.zip/paper.pdf
            1 hidden: x.zip/.hidden
            2 secret: x.zip/.env x.zip/.ssh/config
        "]],
    );
}

#[test]
fn an_archive_in_a_directory_is_opened_only_when_it_is_asked_for() {
    let root = tree(&[("a.md", "x")]);
    put(root.path(), "sub/x.zip", &zipped(&ENTRIES));
    put(root.path(), "sub/broken.zip", b"not a zip");
    assert_eq!(names(&scan(&[root.path()]).unwrap()), "a.md\n");
    let options = ScanOptions { include: vec!["*.zip".into(), "*.md".into()], ..ScanOptions::default() };
    let corpus = Corpus::scan(&[SourceInput::Path(root.path().to_owned())], &options, &mut |_| {}).unwrap();
    assert_eq!(names(&corpus), "a.md\nsub/x.zip/a.txt\nsub/x.zip/deep/b.md\nsub/x.zip/deep/er/c.rs\n");
    assert_eq!(skipped(&corpus), "1 damaged: sub/broken.zip\n");
}

#[test]
fn names_that_point_out_are_left_out_of_a_zip() {
    let entries =
        [("ok.txt", "x"), ("../up.txt", "x"), ("/etc/passwd", "x"), ("C:\\a.txt", "x"), ("a/../../b", "x")];
    check(
        "x.zip",
        &zipped(&entries),
        &expect![[r"
            x.zip/ok.txt
            4 unsafe-name: x.zip/../up.txt x.zip//etc/passwd x.zip/C:\a.txt x.zip/a/../../b
        "]],
    );
}

#[test]
fn names_that_point_out_and_links_and_devices_are_left_out_of_a_tar() {
    let mut builder = Builder::new(Vec::new());
    append(&mut builder, EntryType::Directory, "d/", "");
    append(&mut builder, EntryType::Regular, "d/ok.txt", "x");
    append(&mut builder, EntryType::Regular, "../up.txt", "x");
    append(&mut builder, EntryType::Regular, "/etc/passwd", "x");
    append(&mut builder, EntryType::Symlink, "sym", "");
    append(&mut builder, EntryType::Link, "hard", "");
    append(&mut builder, EntryType::Char, "dev", "");
    append(&mut builder, EntryType::Fifo, "pipe", "");
    check(
        "x.tar",
        &builder.into_inner().unwrap(),
        &expect![[r"
            x.tar/d/ok.txt
            2 special: x.tar/dev x.tar/pipe
            2 symlink: x.tar/sym x.tar/hard
            2 unsafe-name: x.tar/../up.txt x.tar//etc/passwd
        "]],
    );
}

#[test]
fn a_link_in_a_zip_is_left_out() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link.txt", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    writer.add_directory("d/", SimpleFileOptions::default()).unwrap();
    writer.start_file("d/a.txt", SimpleFileOptions::default()).unwrap();
    writer.write_all(b"x").unwrap();
    check(
        "x.zip",
        &writer.finish().unwrap().into_inner(),
        &expect![[r"
            x.zip/d/a.txt
            1 symlink: x.zip/link.txt
        "]],
    );
}

#[test]
fn an_archive_in_an_archive_is_not_opened() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in
        [("in.zip", zipped(&ENTRIES)), ("in.tar.gz", gzipped(b"x")), ("a.txt", b"x".to_vec())]
    {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&bytes).unwrap();
    }
    check(
        "x.zip",
        &writer.finish().unwrap().into_inner(),
        &expect![[r"
            x.zip/a.txt
            2 nested-archive: x.zip/in.zip x.zip/in.tar.gz
        "]],
    );
    check_error(
        "twice.gz.gz",
        &gzipped(&gzipped(b"x")),
        &expect![[r"
            source-empty: no readable documents in `twice.gz.gz`: skipped 1 nested-archive
            hint: pass a path that contains text files"]],
    );
}

#[test]
fn long_names_in_a_tar_are_read_whole() {
    let long = format!("{}/a.txt", "d".repeat(150));
    let mut builder = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(1);
    header.set_cksum();
    builder.append_data(&mut header, &long, &b"x"[..]).unwrap();
    builder.append_pax_extensions([("mtime", &b"1"[..]), ("path", &b"pax/name.txt"[..])]).unwrap();
    append(&mut builder, EntryType::Regular, "short", "y");
    append(&mut builder, EntryType::Regular, "plain", "z");
    let corpus = scan_archive("x.tar", &builder.into_inner().unwrap()).unwrap();
    assert_eq!(names(&corpus), format!("x.tar/{long}\nx.tar/pax/name.txt\nx.tar/plain\n"));
}

#[test]
fn names_that_are_not_utf8_are_still_names() {
    let mut builder = Builder::new(Vec::new());
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..5].copy_from_slice(b"a\xff.md");
    header.set_size(1);
    header.set_cksum();
    builder.append(&header, &b"x"[..]).unwrap();
    assert_eq!(
        names(&scan_archive("x.tar", &builder.into_inner().unwrap()).unwrap()),
        "x.tar/a\u{fffd}.md\n"
    );
    // The same in a zip, where names not marked as UTF-8 are in code page 437: 0x82 is é.
    let mut zip = zipped(&[("a_.md", "x")]);
    while let Some(at) = memchr::memmem::find(&zip, b"a_.md") {
        zip[at + 1] = 0x82;
    }
    assert_eq!(names(&scan_archive("x.zip", &zip).unwrap()), "x.zip/aé.md\n");
}

#[test]
fn an_encrypted_entry_is_reported() {
    let mut zip = zipped(&[("open.txt", "x"), ("shut.txt", "y")]);
    // The flag is in the local header and in the directory.
    for (signature, flag_at) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let second = memchr::memmem::find_iter(&zip, signature).nth(1).unwrap();
        zip[second + flag_at] |= 1;
    }
    check(
        "x.zip",
        &zip,
        &expect![[r"
            x.zip/open.txt
            1 encrypted: x.zip/shut.txt
        "]],
    );
}

mod damage;
mod limits;
