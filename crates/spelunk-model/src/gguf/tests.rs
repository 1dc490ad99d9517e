//! Heads of GGUF files, sound and hostile.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat()
}

fn entry(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(name)[..], &kind.to_le_bytes(), value].concat()
}

fn file(version: u32, entries: &[Vec<u8>]) -> Vec<u8> {
    let counts = [3_u64, entries.len() as u64].map(u64::to_le_bytes).concat();
    [b"GGUF", &version.to_le_bytes()[..], &counts, &entries.concat()].concat()
}

fn whole_file() -> Vec<u8> {
    let list = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &text("a"), &text("b")].concat();
    let numbers = [&6_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &[0; 8]].concat();
    file(
        3,
        &[
            entry("general.architecture", 8, &text("qwen2")),
            entry("general.name", 8, &text("Small")),
            entry("tokenizer.ggml.tokens", 9, &list),
            entry("tokenizer.ggml.scores", 9, &numbers),
            entry("qwen2.rope.freq_base", 6, &[0; 4]),
            entry("qwen2.context_length", 4, &8192_u32.to_le_bytes()),
            entry("tokenizer.chat_template", 8, &text("<|im_start|>")),
        ],
    )
}

#[test]
fn the_metadata_that_matter_are_read_and_the_others_skipped() {
    expect![[r#"
        GgufHeader {
            architecture: "qwen2",
            name: Some(
                "Small",
            ),
            size_label: None,
            context_tokens: Some(
                8192,
            ),
            chat_template: Some(
                "<|im_start|>",
            ),
        }
    "#]]
    .assert_debug_eq(&GgufHeader::read(whole_file().as_slice()).unwrap());
}

#[test]
fn what_is_no_model_is_refused_with_a_reason() {
    let huge = [&8_u32.to_le_bytes()[..], &u64::MAX.to_le_bytes()].concat();
    let said = |bytes: &[u8]| GgufHeader::read(bytes).unwrap_err().to_string();
    assert_eq!(said(b""), "it does not begin with `GGUF`");
    assert_eq!(said(b"<html>not a model</html>"), "it does not begin with `GGUF`");
    assert_eq!(said(&file(9, &[])), "its format has version 9, and 2 and 3 are read");
    assert_eq!(said(&file(3, &[])), "its metadata name no architecture");
    assert_eq!(
        said(&file(3, &[entry("x", 99, &[])])),
        "its metadata are damaged: an entry is of an unknown kind"
    );
    assert_eq!(
        said(&file(3, &[entry("x", 9, &huge)])),
        "its metadata are damaged: a list is longer than any vocabulary"
    );
    assert_eq!(
        said(&file(3, &[entry("x", 8, &u64::MAX.to_le_bytes())])),
        "its metadata are damaged: the file ends within them"
    );
}

#[test]
fn a_file_that_ends_anywhere_within_its_metadata_is_damaged() {
    let whole = whole_file();
    for n_bytes in 4..whole.len() {
        let error = GgufHeader::read(&whole[..n_bytes]).unwrap_err();
        assert!(matches!(error, GgufError::Damaged { .. }), "{n_bytes}: {error}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(changes in proptest::collection::vec((0_usize..400, any::<u8>()), 0..20)) {
        let mut bytes = whole_file();
        let n_bytes = bytes.len();
        for (at, byte) in changes {
            bytes[at % n_bytes] = byte;
        }
        drop(GgufHeader::read(bytes.as_slice()));
    }
}
