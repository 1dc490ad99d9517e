use proptest::prelude::*;

use super::*;

fn check(bytes: &[u8], expected: Result<&str, NotText>) {
    let got = sniff(bytes).map(|()| decode(bytes.to_vec()));
    assert_eq!(got.as_deref().map_err(|why| *why), expected);
}

#[test]
fn utf8_is_kept_to_the_byte() {
    check("a\r\nb\rc\n\n".as_bytes(), Ok("a\r\nb\rc\n\n"));
    check("naïve 日本語 🦀".as_bytes(), Ok("naïve 日本語 🦀"));
    check(b"a\x1b[31mred\x1b[0m\x08\x0c\t", Ok("a\u{1b}[31mred\u{1b}[0m\u{8}\u{c}\t"));
}

#[test]
fn a_byte_order_mark_is_not_text_but_a_later_one_is() {
    check(b"\xef\xbb\xbfa\r\n", Ok("a\r\n"));
    check(b"\xef\xbb\xbf", Ok(""));
    check(b"a\xef\xbb\xbfb", Ok("a\u{feff}b"));
}

#[test]
fn utf16_is_read_behind_its_mark_in_both_orders() {
    check(b"\xff\xfeh\0i\0\r\0\n\0", Ok("hi\r\n"));
    check(b"\xfe\xff\0h\0i", Ok("hi"));
    // A surrogate pair, then half of one, then half a unit.
    check(b"\xff\xfe\x3d\xd8\x00\xdea\0\x3d\xd8b", Ok("\u{1f600}a\u{fffd}\u{fffd}"));
}

#[test]
fn stray_invalid_bytes_are_replaced_and_foreign_encodings_are_refused() {
    check(b"caf\xe9 au lait", Ok("caf\u{fffd} au lait"));
    // "Привет, мир" in windows-1251.
    check(b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", Err(NotText::Encoding));
}

#[test]
fn binaries_are_told_by_nul_by_magic_and_by_control_characters() {
    check(b"text\0text", Err(NotText::Binary));
    check(b"%PDF-1.7\nall of it printable", Err(NotText::Binary));
    check(b"PK\x03\x04 no nul in here", Err(NotText::Binary));
    check(b"\x01\x02\x03\x04\x05\x06\x07", Err(NotText::Binary));
    check(b"a\x01b\x02c", Ok("a\u{1}b\u{2}c"));
    // UTF-32, and an MP3 frame that begins like UTF-16.
    check(b"\xff\xfe\0\0h\0\0\0", Err(NotText::Binary));
    check(&[b"\xff\xfe".as_slice(), &b"\x00\xdc".repeat(99)].concat(), Err(NotText::Binary));
}

#[test]
fn a_nul_behind_the_first_8_kib_is_kept() {
    let bytes = [b"a".repeat(HEAD_BYTES).as_slice(), b"\0b"].concat();
    assert_eq!(sniff(&bytes[..HEAD_BYTES]), Ok(()));
    assert_eq!(decode(bytes.clone()).as_bytes(), bytes);
}

#[test]
fn a_character_cut_by_the_end_of_the_sample_does_not_make_it_binary() {
    let text = "é".repeat(HEAD_BYTES);
    assert_eq!(sniff(&text.as_bytes()[..HEAD_BYTES - 1]), Ok(()));
    let wide: Vec<u8> = [b"\xff\xfe".as_slice(), &b"\x3d\xd8\x00\xde".repeat(8)].concat();
    assert_eq!(sniff(&wide[..wide.len() - 2]), Ok(()));
}

proptest! {
    #[test]
    fn any_bytes_decode_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), mark in 0..4_usize) {
        let marks: [&[u8]; 4] = [b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"];
        let bytes = [marks[mark], &bytes].concat();
        let _verdict = sniff(&bytes);
        decode(bytes);
    }

    #[test]
    fn text_survives_every_encoding(text in "[^\u{feff}\0]{0,60}") {
        let units: Vec<u16> = text.encode_utf16().collect();
        let little = [b"\xff\xfe".to_vec(), units.iter().flat_map(|unit| unit.to_le_bytes()).collect()].concat();
        let big = [b"\xfe\xff".to_vec(), units.iter().flat_map(|unit| unit.to_be_bytes()).collect()].concat();
        prop_assert_eq!(decode(text.clone().into_bytes()), text.clone());
        prop_assert_eq!(decode(little), text.clone());
        prop_assert_eq!(decode(big), text);
    }
}

#[test]
fn the_odd_control_characters_are_the_same_in_bytes_and_in_utf16() {
    for byte in 0..0x80_u8 {
        // Three are too many in a short text, except where they are ordinary.
        let is_text = sniff(&[byte; 3]).is_ok();
        assert_eq!(is_text, byte != 0 && !is_odd_control(char::from(byte)), "{byte:#x}");
    }
}
