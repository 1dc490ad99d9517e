//! Valid and invalid times, and that no input causes a panic.

use proptest::prelude::*;

use super::*;

fn seconds(text: &str) -> Option<u64> {
    parse(text).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_secs())
}

#[test]
fn times_are_read_and_written() {
    assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(seconds("2015-08-30T12:36:00Z"), Some(1_440_938_160));
    assert_eq!(seconds("2024-02-29T23:59:59.123Z"), Some(1_709_251_199));
    assert_eq!(seconds("2015-08-30 12:36:00z"), Some(1_440_938_160));
    assert_eq!(stamp(UNIX_EPOCH + Duration::from_mins(24_015_636)), "20150830T123600Z");
    assert_eq!(stamp(UNIX_EPOCH), "19700101T000000Z");
}

#[test]
fn a_time_of_another_place_is_the_same_moment() {
    let noon = Some(1_440_938_160);
    for text in [
        "2015-08-30T12:36:00+00:00",
        "2015-08-30T14:36:00+02:00",
        "2015-08-30T14:36:00.5+0200",
        "2015-08-30T08:36:00-04:00",
        "2015-08-30T18:06:00+05:30",
        "2015-08-31T01:36:00+13:00",
        "2015-08-29T23:36:00-13:00",
    ] {
        assert_eq!(seconds(text), noon, "{text}");
    }
    assert!(parse("1970-01-01T00:00:00+01:00").is_some_and(|time| time < UNIX_EPOCH));
}

#[test]
fn a_date_of_http_is_read() {
    let seconds = |text| parse_http(text).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_secs());
    assert_eq!(seconds("Sun, 30 Aug 2015 12:36:00 GMT"), Some(1_440_938_160));
    assert_eq!(seconds(" Thu, 01 Jan 1970 00:00:00 GMT "), Some(0));
    for text in [
        "",
        "30 Aug 2015 12:36:00 GMT",
        "Sun, 30 Aug 2015 12:36:00 UTC",
        "Sun, 30 aug 2015 12:36:00 GMT",
        "Sunday, 30-Aug-15 12:36:00 GMT",
        "Sun Aug 30 12:36:00 2015",
        "Sun, 30 Aug 2015 12:36 GMT",
        "Sun, 30 Aug 2015 12:36:00 now GMT",
        "Sun, +30 Aug 2015 12:36:00 GMT",
        "Sun, 32 Aug 2015 12:36:00 GMT",
    ] {
        assert_eq!(parse_http(text), None, "{text}");
    }
}

#[test]
fn what_is_no_time_is_none() {
    for text in [
        "",
        "now",
        "2015-08-30",
        "2015-13-01T00:00:00Z",
        "2015-01-01T24:00:00Z",
        "9-1-1T0:0:0Z",
        "2015-08-30T12:36Z",
        "2015-08-30T12:36:00",
        "2015-08-30T12:36:00+02",
        "2015-08-30T12:36:00+24:00",
        "2015-08-30T12:36:00+02:60",
        "2015-08-30T12:36:00+-2:00",
        "2015-08-30T12:36:00Z+02:00",
        "2015-08-30T+1:36:00Z",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(at in 0..253_402_300_799u64) {
        let stamp = stamp(UNIX_EPOCH + Duration::from_secs(at));
        let parts: Vec<&str> = [0..4, 4..6, 6..8, 9..11, 11..13, 13..15].map(|range| stamp.get(range).unwrap()).to_vec();
        let text = format!("{}-{}-{}T{}:{}:{}Z", parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
        prop_assert_eq!(seconds(&text), Some(at));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[0-9TZ:.+ \\-ä]{0,30}", date in "[A-Z][a-z]{2}, [0-9ä]{0,3} [A-Z][a-z]{2} [0-9]{0,25} [0-9:ä]{0,12} GMT") {
        parse(&text);
        parse_http(&date);
    }
}
