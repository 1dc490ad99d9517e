use super::*;
use crate::testing::{put, scratch};

/// Texts with the ids and the first numbers of the reference implementation (model2vec 0.10.0).
const REFERENCE: &str = include_str!("../../../data/reference.tsv");

fn unescape(text: &str) -> String {
    text.replace("\\t", "\t").replace("\\\\", "\\")
}

#[test]
fn tokens_and_vectors_are_those_of_the_reference() {
    let model = StaticEmbedder::embedded().unwrap();
    assert_eq!((model.id(), model.dimensions()), ("potion-base-8M/int8", 256));
    let (mut scratch, mut ids) = (String::new(), Vec::new());
    let mut n_texts = 0;
    for line in REFERENCE.split('\n').filter(|line| !line.is_empty()) {
        let mut columns = line.split('\t');
        let [text, expected_ids, expected] = std::array::from_fn(|_| columns.next().unwrap());
        let text = unescape(text);
        model.0.vocabulary.cut(&text, TOKENS_MAX, &mut scratch, &mut ids);
        let shown = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        assert_eq!(shown, expected_ids, "{text:?}");
        let vector = &model.embed(&[&text]).unwrap()[0];
        for (x, expected) in vector.iter().zip(expected.split(',')) {
            let expected: f32 = expected.parse().unwrap();
            assert!((x - expected).abs() < 0.004, "{text:?}: {x} is not {expected}");
        }
        n_texts += 1;
    }
    assert_eq!(n_texts, 52);
}

fn cosine(a: &str, b: &str) -> f32 {
    let vectors = StaticEmbedder::embedded().unwrap().embed(&[a, b]).unwrap();
    vectors[0].iter().zip(&vectors[1]).map(|(x, y)| x * y).sum()
}

#[test]
fn what_means_the_same_is_near() {
    assert!(cosine("repair my car", "fixing an automobile") > 0.4);
    assert!(cosine("repair my car", "banana bread recipe") < 0.2);
    assert!((cosine("", "anything") - 0.0).abs() < f32::EPSILON);
}

#[test]
fn a_file_that_is_missing_short_or_changed_is_told_apart() {
    let directory = scratch();
    let path = directory.path().join("model.bin");
    let told = |bytes: Option<&[u8]>| {
        if let Some(bytes) = bytes {
            put(&path, bytes);
        }
        StaticEmbedder::from_file(&path).map(|_| ()).unwrap_err()
    };
    assert!(matches!(told(None), EmbedError::Missing { .. }));
    assert!(matches!(told(Some(b"short")), EmbedError::Form { .. }));
    assert!(matches!(told(Some(&[b'x'; 100])), EmbedError::Form { .. }));
    let mut flipped = EMBEDDED.to_vec();
    flipped[5_000_000] ^= 1;
    assert!(matches!(told(Some(&flipped)), EmbedError::Checksum { .. }));
    put(&path, EMBEDDED);
    let model = StaticEmbedder::from_file(&path).unwrap();
    assert_eq!(model.embed(&["a b"]).unwrap(), StaticEmbedder::embedded().unwrap().embed(&["a b"]).unwrap());
}

/// A model of three tokens and two dimensions.
fn write_model(directory: &Path, tokenizer: &str, header: &str, data: &[u8]) {
    put(&directory.join("tokenizer.json"), tokenizer.as_bytes());
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    put(&directory.join("model.safetensors"), &file);
}

const TOKENIZER: &str =
    r#"{"normalizer":{"lowercase":true},"model":{"type":"WordPiece","vocab":{"[UNK]":0,"red":1,"blue":2}}}"#;

#[test]
fn a_model2vec_directory_is_read_in_both_precisions() {
    let directory = scratch();
    let full = r#"{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}"#;
    let data: Vec<u8> = [0.0_f32, 0.0, 3.0, 0.0, 0.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    write_model(directory.path(), TOKENIZER, full, &data);
    let model = StaticEmbedder::from_dir(directory.path()).unwrap();
    assert_eq!(model.embed(&["Red", "blue", "green"]).unwrap(), [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]);
    let half = r#"{"embeddings":{"dtype":"F16","shape":[3,2],"data_offsets":[0,12]}}"#;
    let data: Vec<u8> = [0_u16, 0, 0xc200, 0, 0, 0x0001].iter().flat_map(|x| x.to_le_bytes()).collect();
    write_model(directory.path(), TOKENIZER, half, &data);
    let model = StaticEmbedder::from_dir(directory.path()).unwrap();
    assert_eq!(model.embed(&["red", "blue"]).unwrap(), [[-1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn what_is_no_model_is_refused_by_its_reason() {
    let directory = scratch();
    let why = |tokenizer: &str, header: &str, data: &[u8]| {
        write_model(directory.path(), tokenizer, header, data);
        match StaticEmbedder::from_dir(directory.path()) {
            Err(EmbedError::Form { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    };
    let fine = r#"{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}"#;
    assert_eq!(why("{", fine, &[]), "it is not JSON");
    assert_eq!(why(r#"{"model":{"type":"BPE"}}"#, fine, &[]), "its tokenizer is not WordPiece");
    assert_eq!(why(TOKENIZER, fine, &[0; 23]), "it is truncated");
    let many = r#"{"embeddings":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}}"#;
    assert_eq!(why(TOKENIZER, many, &[0; 32]), "its number of rows differs from its number of tokens");
    let huge = r#"{"embeddings":{"dtype":"F32","shape":[18446744073709551615,2],"data_offsets":[0,24]}}"#;
    assert_eq!(why(TOKENIZER, huge, &[0; 24]), "its tensor is too large");
    let odd = r#"{"embeddings":{"dtype":"BF16","shape":[3,2],"data_offsets":[0,24]}}"#;
    assert_eq!(why(TOKENIZER, odd, &[0; 24]), "its data type is neither F32 nor F16");
}
