//! Frames, intact and damaged, split anywhere.

use proptest::prelude::*;

use super::*;

/// A frame as AWS writes it.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    for (name, value) in headers {
        encoded.push(u8::try_from(name.len()).unwrap());
        encoded.extend(name.as_bytes());
        encoded.push(7);
        encoded.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        encoded.extend(value.as_bytes());
    }
    let mut frame = Vec::new();
    frame.extend(u32::try_from(16 + encoded.len() + payload.len()).unwrap().to_be_bytes());
    frame.extend(u32::try_from(encoded.len()).unwrap().to_be_bytes());
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame.extend(encoded);
    frame.extend(payload);
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload.as_bytes())
}

fn read(chunks: &[&[u8]]) -> Vec<Result<String, StreamFault>> {
    let mut parser = EventStreamParser::new(1000);
    let mut seen = Vec::new();
    for chunk in chunks {
        parser.push(chunk);
        while let Some(event) = parser.next_event() {
            let is_fault = event.is_err();
            seen.push(event);
            if is_fault {
                return seen;
            }
        }
    }
    seen
}

fn fault(bytes: &[u8]) -> Option<StreamFault> {
    read(&[bytes]).pop().and_then(Result::err)
}

#[test]
fn a_frame_is_its_event_with_its_payload() {
    let bytes = [event("messageStart", r#"{"role":"assistant"}"#), event("messageStop", "")].concat();
    let expected =
        [r#"{"messageStart":{"role":"assistant"}}"#, r#"{"messageStop":{}}"#].map(|text| Ok(text.to_owned()));
    assert_eq!(read(&[&bytes]), expected);
}

#[test]
fn an_exception_and_an_error_are_events_of_their_names() {
    let exception = frame(
        &[(":exception-type", "throttlingException"), (":message-type", "exception")],
        br#"{"message":"slow down"}"#,
    );
    assert_eq!(read(&[&exception]), [Ok(r#"{"throttlingException":{"message":"slow down"}}"#.to_owned())]);
    let error = frame(&[(":error-code", "InternalFailure"), (":error-message", "a \"b\"")], b"");
    assert_eq!(read(&[&error]), [Ok(r#"{"InternalFailure":{"message":"a \"b\""}}"#.to_owned())]);
}

#[test]
fn a_frame_of_the_public_format_description_is_read() {
    // No headers, no payload: 16 bytes, whose two checksums are published with the format.
    let empty = [0, 0, 0, 16, 0, 0, 0, 0, 0x05, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
    assert_eq!(fault(&empty), Some(StreamFault::Damaged("it has no event type")));
}

#[test]
fn damage_is_found_by_the_checksums() {
    let good = event("messageStop", r#"{"stopReason":"end_turn"}"#);
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        let seen = read(&[&bytes]);
        assert!(!matches!(seen.first(), Some(Ok(_))), "a flipped bit in byte {at} went unseen: {seen:?}");
    }
}

#[test]
fn hostile_lengths_and_names_are_refused() {
    let with_lengths = |frame_len: u32, headers_len: u32| {
        let mut bytes = [frame_len.to_be_bytes(), headers_len.to_be_bytes()].concat();
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend([0; 64]);
        fault(&bytes)
    };
    assert_eq!(with_lengths(u32::MAX, 0), Some(StreamFault::TooLong));
    assert_eq!(with_lengths(1001, 0), Some(StreamFault::TooLong));
    assert_eq!(with_lengths(0, 0), Some(StreamFault::Damaged("its lengths are inconsistent")));
    assert_eq!(with_lengths(20, u32::MAX), Some(StreamFault::Damaged("its lengths are inconsistent")));
    assert_eq!(with_lengths(20, 5), Some(StreamFault::Damaged("its lengths are inconsistent")));
    let injected = event("a\":1,\"b", "{}");
    assert_eq!(fault(&injected), Some(StreamFault::Damaged("its event type is not valid")));
    assert_eq!(fault(&frame(&[(":event-type", "a")], b"\xff")), Some(StreamFault::NotUtf8));
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(at in prop::collection::vec(0..300usize, 0..6)) {
        let bytes = [event("a", "{}"), event("b", r#"{"c":"äö"}"#), event("d", "")].concat();
        let mut cuts: Vec<usize> = at.into_iter().map(|at| at.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(&chunks), read(&[&bytes]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), headers in prop::collection::vec(any::<u8>(), 0..60)) {
        read(&[&bytes]);
        // Valid lengths and checksums around arbitrary headers.
        let mut frame = Vec::new();
        frame.extend(u32::try_from(16 + headers.len()).unwrap().to_be_bytes());
        frame.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
        frame.extend(crc32fast::hash(&frame).to_be_bytes());
        frame.extend(&headers);
        frame.extend(crc32fast::hash(&frame).to_be_bytes());
        read(&[&frame]);
    }
}
