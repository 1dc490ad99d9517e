use super::*;

fn full() -> Catalogue {
    let record = |id, custom: Option<&str>| DocumentRecord {
        id,
        version: "v".to_owned(),
        n_passages: 3,
        content_type: ContentType::SourceCode,
        language: Some("rust".to_owned()),
        custom: custom.map(str::to_owned),
    };
    let stamp = Stamp { bytes: 5, changed_ns: 7 };
    Catalogue {
        vectors: Some(Vectors { embedder: "m x/int8".to_owned(), dimensions: 256, n_rows: 9 }),
        cut: "c".to_owned(),
        next_id: 12,
        partial: vec![4, 5],
        files: BTreeMap::from([("words/a b.idx".to_owned(), FileRecord { stamp, digest: "d".to_owned() })]),
        documents: BTreeMap::from([
            ("src/a.rs".to_owned(), record(1, None)),
            ("odd \"name\"\n end é".to_owned(), record(2, Some("my \"kind\""))),
        ]),
    }
}

#[test]
fn what_was_written_is_read() {
    assert_eq!(Catalogue::decode(full().encode().as_bytes()), Ok(full()));
    assert_eq!(Catalogue::decode(Catalogue::default().encode().as_bytes()), Ok(Catalogue::default()));
}

#[test]
fn every_changed_byte_and_every_cut_is_seen() {
    let bytes = full().encode().into_bytes();
    for idx in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[idx] ^= 0x04;
        assert!(Catalogue::decode(&changed).is_err(), "byte {idx}");
        // A missing final newline alone does not change the content.
        assert!(Catalogue::decode(&bytes[..idx]).is_err() || idx + 1 == bytes.len(), "cut at {idx}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        assert!(Catalogue::decode(&bytes).is_err());
    }
}
