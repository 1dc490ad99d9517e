use std::sync::Arc;

use super::*;
use crate::testing::{append, put, remove, scan, scan_on, tree};

#[test]
fn a_file_longer_than_the_buffer_has_the_hash_of_its_bytes() {
    let text = "0123456789abcde\n".repeat(BUFFER_BYTES / 8);
    let root = tree(&[("a.txt", &text)]);
    let corpus = scan(&[root.path()]).unwrap();
    let expected = BlobId::from_hash(*blake3::hash(text.as_bytes()).as_bytes());
    assert_eq!((corpus.documents()[0].bytes, &corpus.documents()[0].digest), (text.len() as u64, &expected));
}

#[test]
fn the_corpus_is_the_same_on_any_number_of_threads() {
    let root = tree(&[("a", "1"), ("b", ""), ("c/d", "2"), ("c/e", "3"), ("f", "\u{1}\u{2}\u{3}\u{4}")]);
    assert_eq!(scan_on(1, root.path()), scan_on(2, root.path()));
    assert_eq!(scan_on(1, root.path()), scan_on(7, root.path()));
}

#[test]
fn a_name_cannot_pass_for_the_digest_of_another() {
    let digest = BlobId::from_hash([0; 32]);
    let two = digest_of([("a", &digest), ("b", &digest)].into_iter());
    let one = digest_of([(format!("a{digest}b").as_str(), &digest)].into_iter());
    assert_ne!(two, one);
    assert_ne!(digest_of(std::iter::empty()), two);
}

#[test]
fn a_document_that_changed_since_the_scan_is_not_read() {
    for change in ["same size", "much longer than before", "short", ""] {
        let root = tree(&[("a.txt", "some text")]);
        let view = crate::View::of(Arc::new(scan(&[root.path()]).unwrap()));
        let document = view.find("a.txt").unwrap();
        assert_eq!(view.read_owned(document).unwrap(), "some text");
        put(root.path(), "a.txt", change.as_bytes());
        assert_eq!(
            view.read_owned(document).unwrap_err().to_string(),
            "`a.txt` changed since it was scanned"
        );
    }
}

#[test]
fn what_was_appended_since_the_scan_is_not_read() {
    let root = tree(&[("a.log", "one\ntwo\n")]);
    let view = crate::View::of(Arc::new(scan(&[root.path()]).unwrap()));
    let document = view.find("a.log").unwrap();
    append(root.path(), "a.log", b"three\n");
    assert_eq!(view.read_owned(document).unwrap(), "one\ntwo\n");
}

#[test]
fn of_a_large_file_what_was_appended_is_not_read_and_a_cut_or_rewritten_one_has_changed() {
    let root = tree(&[]);
    let line = b"0123456789abcde\n";
    let text = line.repeat(usize::try_from(sample::WHOLE_BYTES_MAX).unwrap() / line.len() + 1);
    put(root.path(), "a.log", &text);
    let view = crate::View::of(Arc::new(scan(&[root.path()]).unwrap()));
    let document = view.find("a.log").unwrap();
    append(root.path(), "a.log", b"more\n");
    assert_eq!(view.read_owned(document).unwrap().len(), text.len());
    assert_eq!(view.drifts()[0].1, crate::Drift::Grew { bytes: text.len() as u64 });
    put(
        root.path(),
        "a.log",
        &[line.to_ascii_uppercase().repeat(text.len() / line.len()), b"more\n".to_vec()].concat(),
    );
    assert_eq!(view.read_owned(document).unwrap_err().to_string(), "`a.log` changed since it was scanned");
    assert_eq!(view.drifts()[0].1, crate::Drift::Rewritten);
    put(root.path(), "a.log", &text[1..]);
    assert_eq!(view.read_owned(document).unwrap_err().to_string(), "`a.log` changed since it was scanned");
}

#[test]
fn a_document_that_vanished_or_became_a_directory_has_changed() {
    let root = tree(&[("a.txt", "some text")]);
    let view = crate::View::of(Arc::new(scan(&[root.path()]).unwrap()));
    let document = view.find("a.txt").unwrap();
    remove(root.path(), "a.txt");
    assert_eq!(view.read_owned(document).unwrap_err().to_string(), "`a.txt` changed since it was scanned");
    put(root.path(), "a.txt/b", b"x");
    assert_eq!(view.read_owned(document).unwrap_err().to_string(), "`a.txt` changed since it was scanned");
}

#[test]
fn progress_ends_where_the_totals_said() {
    let root = tree(&[("a", "12345"), ("b", "\0\0\0"), ("c", "")]);
    let mut last = ScanProgress::default();
    let sources = [crate::SourceInput::Path(root.path().to_owned())];
    crate::Corpus::scan(&sources, &crate::ScanOptions::default(), &mut |progress| last = progress).unwrap();
    assert_eq!(last, ScanProgress { files_done: 3, files_total: 3, bytes_done: 8, bytes_total: 8 });
}

#[test]
fn a_reader_that_gives_little_at_a_time_fills_the_buffer() {
    struct Drops(u8);
    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_multiple_of(2) {
                self.0 += 1;
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0 += 1;
            buffer[0] = self.0;
            Ok(1)
        }
    }
    let (mut drops, mut short) = (Drops(0), &b"ab"[..]);
    let mut buffer = [0; 4];
    assert_eq!(fill(&mut buffer, |_, rest| drops.read(rest)).unwrap(), 4);
    assert_eq!(buffer, [2, 4, 6, 8]);
    assert_eq!(fill(&mut buffer, |_, rest| short.read(rest)).unwrap(), 2);
}

/// Found by `fuzz`: a document without text had no task.
#[test]
fn a_file_of_nothing_but_a_byte_order_mark_is_empty() {
    let root = tree(&[("a.txt", "x")]);
    let marks: [(&str, &[u8]); 4] =
        [("b.txt", b"\xef\xbb\xbf"), ("c.txt", b"\xff\xfe"), ("d.txt", b"\xfe\xff"), ("e.txt", b"")];
    for (name, mark) in marks {
        put(root.path(), name, mark);
    }
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!(crate::testing::names(&corpus), "a.txt\n");
    assert_eq!(crate::testing::skipped(&corpus), "4 empty: b.txt c.txt d.txt e.txt\n");
}

/// The text must not depend on what the scan recorded: it is always redacted.
fn read_as_scanned(bytes: &[u8]) -> String {
    let source = crate::SourceInput::Text { name: "a".into(), bytes: bytes.to_vec() };
    let corpus = crate::Corpus::scan(&[source], &crate::ScanOptions::default(), &mut |_| {}).unwrap();
    read_text(&corpus.documents()[0], Compared::Bytes).unwrap()
}

#[test]
fn a_secret_that_only_decoding_completes_is_kept_back() {
    // Seven bytes are too few for a password; the character that replaces the last one makes them nine.
    let broken = b"password = \"x7#Kq2\xff\"\n";
    assert_eq!(read_as_scanned(broken), "password = \"[secret:assigned-secret]\"\n");
}

proptest::proptest! {
    #[test]
    fn what_is_read_is_the_redacted_text(pieces in proptest::collection::vec(0_usize..12, 1..12)) {
        let filler = b"some words that fill a line\n".repeat(700);
        let known: [&[u8]; 12] = [
            b"ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A",
            b"password = ",
            b"\"s3cr3t-P4ssw0rd\"",
            b"AKIAZQ3DRSTUVWXY2345",
            b"-----BEGIN RSA PRIVATE KEY-----\naB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A\n",
            b"-----END RSA PRIVATE KEY-----\n",
            b"\n",
            b" ",
            b"\xff",
            b"\xef\xbb\xbf",
            "é".as_bytes(),
            &filler,
        ];
        let bytes = pieces.iter().map(|&idx| known[idx]).collect::<Vec<_>>().concat();
        proptest::prop_assume!(decode::sniff(&bytes[..bytes.len().min(HEAD_BYTES)]).is_ok());
        proptest::prop_assume!(!decode::is_empty(&bytes));
        let text = decode::decode(bytes.clone());
        proptest::prop_assert_eq!(read_as_scanned(&bytes), secrets::redact(&text).0);
    }
}
