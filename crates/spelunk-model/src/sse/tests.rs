//! What counts as an event; how the bytes are split does not matter.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const LIMIT: usize = 64;

/// Everything a parser returns for these chunks, one line each.
fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut parser = SseParser::new(LIMIT);
    let mut seen = Vec::new();
    for chunk in chunks {
        parser.push(chunk);
        while let Some(event) = parser.next_event() {
            let is_fault = event.is_err();
            seen.push(format!("{event:?}"));
            if is_fault {
                return seen;
            }
        }
    }
    seen.extend(parser.finish().map(|data| format!("unfinished {data:?}")));
    seen
}

fn check(bytes: &[u8], expected: &Expect) {
    expected.assert_eq(&events([bytes]).join("\n"));
}

#[test]
fn lines_end_with_lf_crlf_or_cr() {
    check(
        b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\n",
        &expect![[r#"
            Ok("a")
            Ok("b")
            Ok("c")
            Ok("d")"#]],
    );
}

#[test]
fn lines_of_data_are_joined_by_a_line_end() {
    check(b"data: a\ndata:\ndata:  b\n\n", &expect![[r#"Ok("a\n\n b")"#]]);
}

#[test]
fn comments_names_and_events_without_data_are_skipped() {
    check(b": hello\n\nevent: ping\n\nid: 7\nretry: 10\nevent: x\ndata: a\n\n", &expect![[r#"Ok("a")"#]]);
}

#[test]
fn a_byte_order_mark_at_the_start_is_skipped() {
    check(b"\xef\xbb\xbfdata: a\n\n", &expect![[r#"Ok("a")"#]]);
}

#[test]
fn data_without_its_blank_line_is_kept_and_half_a_line_is_dropped() {
    check(br#"data: {"a":1}"#, &expect![[r#"unfinished "{\"a\":1}""#]]);
    check(b"data: {\ndata: }", &expect![[r#"unfinished "{\n}""#]]);
    check(
        b"data: a\n\ndata: [DONE]",
        &expect![[r#"
        Ok("a")
        unfinished "[DONE]""#]],
    );
    check(br#"data: {"a":1"#, &expect![[""]]);
    check(b"data: a\n", &expect![[r#"unfinished "a""#]]);
    check(b"data: a\ndata: b", &expect![[r#"unfinished "a""#]]);
    check(b"data: a", &expect![[""]]);
}

#[test]
fn events_before_bytes_that_are_not_utf8_are_kept() {
    check(
        b"data: a\n\ndata: \xff\n\n",
        &expect![[r#"
            Ok("a")
            Err(NotUtf8)"#]],
    );
}

#[test]
fn an_event_above_the_limit_is_refused_while_it_arrives() {
    check(&[b'x'; LIMIT + 1], &expect!["Err(TooLong)"]);
    check(&b"data: aaaaaaaaaaaaaaaa\n".repeat(5), &expect!["Err(TooLong)"]);
}

#[test]
fn a_stream_of_many_events_may_be_longer_than_the_limit() {
    assert_eq!(events([b"data: a\n\n".repeat(100).as_slice()]), vec![r#"Ok("a")"#; 100]);
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "data: ä€𝄞", "data:x", "data", ": comment", "event: e", "", "", "\u{feff}data: b", "data: {\"a\":1}",
            ]),
            0..20,
        ),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r"]), 20),
        broken_at in prop::option::of(0usize..200),
        cuts in prop::collection::vec(1usize..12, 1..80),
    ) {
        let mut bytes: Vec<u8> = lines.iter().zip(&ends).flat_map(|(line, end)| [*line, *end]).collect::<String>().into();
        if let Some(byte) = broken_at.and_then(|at| bytes.get_mut(at)) {
            *byte = 0xff;
        }
        let mut chunks = Vec::new();
        let mut rest = bytes.as_slice();
        for cut in cuts.iter().cycle() {
            let (chunk, after) = rest.split_at((*cut).min(rest.len()));
            chunks.push(chunk);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(events(chunks), events([bytes.as_slice()]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        events(bytes.chunks(7));
    }
}
