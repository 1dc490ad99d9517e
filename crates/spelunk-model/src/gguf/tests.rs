//! Headers of GGUF files, valid and hostile.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat()
}

fn entry(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(name)[..], &kind.to_le_bytes(), value].concat()
}

fn file(version: u32, entries: &[Vec<u8>], tensors: &[Vec<u8>]) -> Vec<u8> {
    let counts = [tensors.len() as u64, entries.len() as u64].map(u64::to_le_bytes).concat();
    [b"GGUF", &version.to_le_bytes()[..], &counts, &entries.concat(), &tensors.concat()].concat()
}

fn tensor(name: &str, dimensions: &[u64], kind: u32, offset: u64) -> Vec<u8> {
    let n_dimensions = u32::try_from(dimensions.len()).unwrap().to_le_bytes();
    let dimensions: Vec<u8> = dimensions.iter().flat_map(|n| n.to_le_bytes()).collect();
    [&text(name)[..], &n_dimensions, &dimensions, &kind.to_le_bytes(), &offset.to_le_bytes()].concat()
}

fn read(bytes: &[u8]) -> Result<GgufHeader, GgufError> {
    GgufHeader::read(bytes, bytes.len() as u64)
}

/// The metadata of a file, and the size of the complete file.
fn whole_file() -> (Vec<u8>, u64) {
    let list = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &text("a"), &text("b")].concat();
    let numbers = [&6_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &[0; 8]].concat();
    let head = file(
        3,
        &[
            entry("general.alignment", 4, &64_u32.to_le_bytes()),
            entry("general.architecture", 8, &text("qwen2")),
            entry("general.name", 8, &text("Small")),
            entry("tokenizer.ggml.tokens", 9, &list),
            entry("tokenizer.ggml.scores", 9, &numbers),
            entry("qwen2.rope.freq_base", 6, &[0; 4]),
            entry("qwen2.context_length", 4, &8192_u32.to_le_bytes()),
            entry("tokenizer.chat_template", 8, &text("<|im_start|>")),
        ],
        // The second is the last: two rows of 256 elements in blocks of 144 bytes, after 64 bytes of the first.
        &[tensor("norm", &[16], 0, 0), tensor("rows", &[256, 2], 12, 64)],
    );
    let bytes = (head.len() as u64).next_multiple_of(64) + 64 + 2 * 144;
    (head, bytes)
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
    .assert_debug_eq(&GgufHeader::read(whole_file().0.as_slice(), u64::MAX).unwrap());
}

#[test]
fn a_file_whose_last_tensor_is_not_all_there_is_cut_short() {
    let (head, bytes) = whole_file();
    assert!(GgufHeader::read(head.as_slice(), bytes).is_ok());
    let error = GgufHeader::read(head.as_slice(), bytes - 1).unwrap_err();
    assert_eq!(error.to_string(), format!("it is truncated: it has {} bytes of at least {bytes}", bytes - 1));
}

#[test]
fn what_is_no_model_is_refused_with_a_reason() {
    let huge = [&8_u32.to_le_bytes()[..], &u64::MAX.to_le_bytes()].concat();
    let said = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    let with = |alignment: u32, tensors: &[Vec<u8>]| {
        let architecture = entry("general.architecture", 8, &text("x"));
        let alignment = entry("general.alignment", 4, &alignment.to_le_bytes());
        said(&file(3, &[architecture, alignment], tensors))
    };
    assert_eq!(said(b""), "it does not begin with `GGUF`");
    assert_eq!(said(b"<html>not a model</html>"), "it does not begin with `GGUF`");
    assert_eq!(said(&file(9, &[], &[])), "its format version 9 is not supported; versions 2 and 3 are");
    assert_eq!(said(&file(3, &[], &[])), "its metadata has no architecture");
    assert_eq!(
        said(&file(3, &[entry("x", 99, &[])], &[])),
        "its metadata is damaged: an entry has an unknown type"
    );
    assert_eq!(said(&file(3, &[entry("x", 9, &huge)], &[])), "its metadata is damaged: a list is too long");
    assert_eq!(
        said(&file(3, &[entry("x", 8, &u64::MAX.to_le_bytes())], &[])),
        "its metadata is damaged: it is truncated"
    );
    assert_eq!(with(48, &[]), "its metadata is damaged: its alignment is not a power of two");
    let too_long = "its metadata is damaged: a tensor is too large";
    assert_eq!(with(32, &[tensor("x", &[u64::MAX, 2], 0, 0)]), too_long);
    assert_eq!(with(32, &[tensor("x", &[u64::MAX / 2], 0, 0)]), too_long);
    assert_eq!(with(32, &[tensor("x", &[1], 0, u64::MAX)]), too_long);
    assert_eq!(with(32, &[tensor("x", &[1], 0, u64::MAX - 4)]), too_long);
    let many = "its metadata is damaged: a tensor has more than 8 dimensions";
    assert_eq!(with(32, &[tensor("x", &[1; 9], 0, 0)]), many);
}

#[test]
fn a_file_that_ends_anywhere_within_its_metadata_is_damaged() {
    let (whole, _) = whole_file();
    for n_bytes in 4..whole.len() {
        let error = read(&whole[..n_bytes]).unwrap_err();
        assert!(matches!(error, GgufError::Damaged { .. }), "{n_bytes}: {error}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(changes in proptest::collection::vec((0_usize..600, any::<u8>()), 0..20)) {
        let (mut bytes, _) = whole_file();
        let n_bytes = bytes.len();
        for (at, byte) in changes {
            bytes[at % n_bytes] = byte;
        }
        drop(read(&bytes));
    }
}
