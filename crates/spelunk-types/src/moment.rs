//! Timestamps in the form that people and other programs use. Events count milliseconds; files that others read contain
//! the date.

use crate::id::civil_date;

/// `2026-08-22T10:14:03.250Z` for milliseconds since 1970.
pub fn iso_time(at_ms: u64) -> String {
    let [year, month, day] = civil_date(at_ms / 86_400_000);
    let (second, ms) = (at_ms / 1000 % 86_400, at_ms % 1000);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_a_date() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_time(1_787_393_643_250), "2026-08-22T10:14:03.250Z");
    }
}
