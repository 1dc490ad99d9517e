//! The two ways in which AWS writes a time. Only the ends of the calendar that it can mean are taken.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_S: u64 = 86_400;

/// `20150830T123600Z`. A time before 1970 is 1970: a request signed with it is refused, and that says enough.
pub(crate) fn stamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (year, month, day) = civil(seconds / DAY_S);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// `2026-11-15T12:00:00Z`, with or without a fraction of a second.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    let text = text.trim().strip_suffix('Z').or_else(|| text.trim().strip_suffix("+00:00"))?;
    let (date, time) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let time = time.split('.').next()?;
    let mut time = time.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let is_possible = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_possible || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Days since 1970 of a date, by counting in years that begin in March.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    (365 * year + year / 4 - year / 100 + year / 400 + of_year).saturating_sub(719_468)
}

/// The date of a day since 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
    (era * 400 + year_of_era + year, month, day)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(stamp(UNIX_EPOCH + Duration::from_mins(24_015_636)), "20150830T123600Z");
        assert_eq!(stamp(UNIX_EPOCH), "19700101T000000Z");
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
        fn no_text_makes_it_panic(text in "[0-9TZ:.-]{0,30}") {
            parse(&text);
        }
    }
}
